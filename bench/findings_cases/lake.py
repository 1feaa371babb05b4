"""A table as metadata files, judged by what the product extracts from them: manifests, statistics, changes, rules."""

from __future__ import annotations

import random
import shutil
import tempfile
from pathlib import Path
from typing import Any

from limnograph.adapters.iceberg.reader import IcebergReader
from limnograph.adapters.iceberg.sums.cache import ManifestCache
from limnograph.adapters.storage.files import FileStorage
from limnograph.domain.errors import MetadataError
from limnograph.domain.facts.meta_tables import ChangeFact, SnapshotFact
from limnograph.domain.finding_limits import FindingLimits
from limnograph.domain.ids import TableName
from limnograph.domain.metadata.due import DueTable
from limnograph.domain.time import Micros
from limnograph.ports.meta_store import KnownRow
from limnograph.services.extraction.extract import ENTRIES_AT_ONCE, facts_of
from limnograph.services.findings.evaluation import begun
from limnograph.services.findings.table_facts import facts_of as table_facts_of
from limnograph.services.lake.history import history_of
from limnograph.services.pipeline.changes import ObservedTable, state_changes
from limnograph.services.pipeline.gaps import gaps_of
from limnograph.services.pipeline.ledger import Ledger
from limnograph.services.pipeline.sightings import first_seen, health
from metadata_records import BY_REGION, DATA, Field, File
from metadata_writer import MetadataTable

NAME = TableName("lake", "sales", "orders")
HOUR_MS = 3_600_000
MIB = 1 << 20


class GeneratedTable:
    """A table in a folder of its own, which the pipeline observes each time it is asked to."""

    def __init__(
        self, rng: random.Random, spec: tuple[Field, ...] = BY_REGION, *, version: int = 2, **properties: str
    ) -> None:
        self.rng = rng
        self._folder = Path(tempfile.mkdtemp(prefix="limnograph-case-"))
        self.table = MetadataTable(self._folder, spec=spec, version=version, seed=rng.randrange(1 << 30))
        self.table.now_ms += rng.randrange(7 * 24 * HOUR_MS)
        self.target = rng.choice((64, 128, 256, 512)) * MIB
        self.table.properties |= {"write.target-file-size-bytes": str(self.target), **properties}
        self._rows: dict[int, SnapshotFact] = {}
        self._changes: list[Any] = []
        self._ledger = Ledger()

    def later(self, hours: float) -> GeneratedTable:
        """Time passes, with a clock that is off by seconds."""
        self.table.now_ms += round(hours * HOUR_MS) + self.rng.randint(-2_000, 2_000)
        return self

    def file(self, *partition: Any, share: float = 1.0, rows: int = 1_000, content: int = DATA) -> File:
        """A new file of a share of the target size."""
        size = max(1, round(share * self.target))
        return self.table.file(*partition, records=rows, size=size, content=content)

    def observe(self) -> None:
        """Read what is new, as a pass of the pipeline does."""
        reader = IcebergReader(FileStorage(), ManifestCache())
        metadata = reader.metadata(self.table.metadata_location)
        new = [each.snapshot_id for each in metadata.ordered if each.snapshot_id not in self._rows]
        known = {
            snapshot_id: KnownRow(True, row.committed_at, row.sequence_number)
            for snapshot_id, row in self._rows.items()
        }
        for start in range(0, len(new), ENTRIES_AT_ONCE):
            part = new[start : start + ENTRIES_AT_ONCE]
            due = DueTable(
                catalog=NAME.catalog,
                namespace=NAME.namespace,
                table=NAME.table,
                table_uuid="u-1",
                metadata_location=self.table.metadata_location,
                snapshot_ids=part,
                with_partitions=list(self._rows),
            )
            for row in facts_of(metadata, due, reader, _Clock(self.table.now_ms)):
                self._rows[row.snapshot_id] = row
        observed, now = ObservedTable("u-1", NAME, metadata), Micros(self.table.now_ms * 1_000)
        self._record(first_seen(observed, self._ledger, now), *gaps_of([observed], {"u-1": known}, self._ledger, now))
        self._record(*health(NAME, "u-1", metadata.metadata_location, None, ledger=self._ledger, now=now))
        self._changes += state_changes(observed, self._ledger, now)

    def look(self) -> None:
        """Observe the table, or record that it cannot be read."""
        try:
            self.observe()
        except MetadataError as error:
            now = Micros(self.table.now_ms * 1_000)
            self._record(*health(NAME, "u-1", self.table.metadata_location, error, ledger=self._ledger, now=now))

    def _record(self, *changes: ChangeFact | None) -> None:
        for change in changes:
            if change is not None:
                self._ledger.add(change)
                self._changes.append(change)

    def opens(self, code: str, hours: float = 0.5) -> bool:
        """Whether the finding is open some time after the last commit. The folder is removed."""
        try:
            self.look()
            table = history_of("u-1", NAME, self._rows.values(), self._changes).table
            until = Micros(round((self.table.now_ms + hours * HOUR_MS) * 1_000))
            found = begun(table_facts_of(table), 0, until, FindingLimits()).episodes
            return any(each.code == code and each.stretch.closed is None for each in found)
        finally:
            shutil.rmtree(self._folder, ignore_errors=True)


class _Clock:
    """Port Clock at the table's time."""

    def __init__(self, now_ms: int) -> None:
        self._now = Micros(now_ms * 1_000)

    def now(self) -> Micros:
        return self._now
