"""Port Tables over a pool of child processes: a crash or timeout of a child becomes a fact of that table alone."""

from __future__ import annotations

import logging
from collections.abc import Callable

from limnograph.adapters.sandbox.messages import (
    Extract,
    Group,
    Home,
    ManifestRequest,
    NewestPointer,
    Outline,
    Question,
    ReadStorage,
    Scan,
    StorageAccess,
    UnreadFacts,
    decode_cache_rows,
    decode_facts,
    decode_outline,
    decode_pointer,
    decode_scanned,
    decode_storage,
    decode_work,
)
from limnograph.adapters.sandbox.pool import Pool, shared_pool
from limnograph.adapters.sandbox.starting import ignore_progress
from limnograph.adapters.storage.scan import ScannedFolder
from limnograph.domain.answers.storage import StorageReading
from limnograph.domain.errors import MetadataError
from limnograph.domain.facts.meta_tables import SnapshotFact
from limnograph.domain.metadata.due import DueTable
from limnograph.domain.metadata.manifests import CacheRow, ManifestWork
from limnograph.domain.metadata.table import TableMetadata
from limnograph.domain.time import Millis
from limnograph.ports.tables import READER_ENDED

_log = logging.getLogger("limnograph.sandbox")
NEWEST_SECONDS = 10.0
"""For the pointer of a table without a catalog: all tables wait for this listing."""
SCAN_SECONDS, SCAN_PARTS = 3.0, 400
"""Duration of one part of a scan, and maximum number of parts."""
SECOND_LOOK_SECONDS = 4.0
"""For reading the metadata alone, after the full read failed."""


class SandboxTables:
    """One access to storage. Cheap to create: children start with the first request and are shared in the process.
    `starting` is called with the phases of a slow start.
    """

    def __init__(
        self, access: StorageAccess, pool: Pool | None = None, starting: Callable[[str], None] = ignore_progress
    ) -> None:
        self._access, self._starting = access, starting
        self._pool = pool or shared_pool(access.command)

    def outline(
        self, catalog: str, table_format: str, location: str, *, of: TableMetadata | None = None
    ) -> TableMetadata:
        home = Home(of.metadata_location, of.location, of.properties) if of else None
        (body,) = self._ask(Outline(catalog, table_format, location, home))
        return decode_outline(body)

    def extract(self, due: DueTable) -> list[SnapshotFact]:
        try:
            parts = self._ask(Extract(due))
        except MetadataError as error:
            if error.code not in READER_ENDED:
                raise
            _log.warning("%s: %s", due.name, error)
            parts = self._second_look(due, error)
        return [fact for part in parts for fact in decode_facts(part)]

    def wanted(self, due: DueTable) -> ManifestWork:
        """Manifests that `extract` would read now. Raises MetadataError, SourceError."""
        (body,) = self._ask(ManifestRequest(due))
        return decode_work(body)

    def group(self, due: DueTable, work: ManifestWork) -> list[CacheRow]:
        """Cache values of some of those manifests. Raises MetadataError, SourceError."""
        return [row for body in self._ask(Group(due, work)) for row in decode_cache_rows(body)]

    def storage(self, due: DueTable, snapshot_id: int | None, now: Millis) -> StorageReading:
        """Bytes of a table and files of a snapshot. Raises MetadataError, SourceError."""
        (body,) = self._ask(ReadStorage(due, snapshot_id, now))
        return decode_storage(body)

    def newest(self, table_format: str, location: str) -> str:
        """The latest metadata pointer of a table folder without a catalog.

        Raises InvalidInput, MetadataError, SourceError.
        """
        (body,) = self._ask(NewestPointer(table_format, location), min(self._access.deadline_seconds, NEWEST_SECONDS))
        return decode_pointer(body)

    def scan(self, location: str, formats: tuple[str, ...], alive: Callable[[], None] = lambda: None) -> ScannedFolder:
        """All tables below a folder; `alive` is called after every part. Raises SourceError and MetadataError."""
        found = ScannedFolder([], [()])
        for _ in range(SCAN_PARTS):
            (body,) = self._ask(Scan(location, formats, found.waiting, SCAN_SECONDS), self._access.deadline_seconds)
            part = decode_scanned(body)
            found = ScannedFolder([*found.tables, *part.tables], part.waiting, [*found.troubles, *part.troubles])
            alive()
            if not found.waiting:
                return found
        found.troubles.append(f"{len(found.waiting)} folders were not scanned within {SCAN_PARTS * SCAN_SECONDS:.0f} s")
        return found

    def _second_look(self, due: DueTable, error: MetadataError) -> list[bytes]:
        """Rows from the metadata alone. Raises `error` if the child does not survive that either."""
        try:
            return self._ask(UnreadFacts(due, error.code), min(self._access.deadline_seconds, SECOND_LOOK_SECONDS))
        except MetadataError as again:
            raise (error if again.code in READER_ENDED else again) from again

    def _ask(self, question: Question, seconds: float | None = None) -> list[bytes]:
        within = seconds or self._access.deadline_seconds
        return [bytes(part) for part in self._pool.ask(self._access, question, within, self._starting)]
