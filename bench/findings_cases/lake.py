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
from limnograph.domain.facts.meta_tables import SnapshotFact
from limnograph.domain.finding_limits import FindingLimits
from limnograph.domain.ids import TableName
from limnograph.domain.metadata.due import DueTable
from limnograph.domain.time import Micros
from limnograph.services.extraction.extract import ENTRIES_AT_ONCE, facts_of
from limnograph.services.findings.evaluation import begun
from limnograph.services.findings.table_facts import facts_of as table_facts_of
from limnograph.services.lake.history import history_of
from limnograph.services.pipeline.changes import ObservedTable, state_changes
from limnograph.services.pipeline.ledger import Ledger
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
        observed = ObservedTable("u-1", NAME, metadata)
        self._changes += state_changes(observed, self._ledger, Micros(self.table.now_ms * 1_000))

    def opens(self, code: str, hours: float = 0.5) -> bool:
        """Whether the finding is open some time after the last commit. The folder is removed."""
        try:
            self.observe()
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
