"""One version of a table's metadata: snapshots, refs, schemas, logs. Iceberg's terms for every format.

Values are as the table wrote them (`timestamp_ms` in milliseconds). `domain/facts` has the facts derived from them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import msgspec

from limnograph.domain.ids import location_uuid
from limnograph.domain.metadata.targets import Targets, targets_of
from limnograph.domain.time import Micros, Millis, to_micros

PLACES = ("write.data.path", "write.metadata.path", "write.object-storage.path", "write.folder-storage.path")
"""Properties of an Iceberg table that lead its writers to other folders than those below its location."""
MAIN = "main"


class TableProblem(msgspec.Struct, frozen=True, omit_defaults=True):
    """A problem of a table that is still readable; `code` is stable, `detail` is for users."""

    code: str
    detail: str
    snapshot_id: int | None = None


class Snapshot(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """State of a table at one commit. `manifests`: paths in the metadata itself (format v1 without a list)."""

    snapshot_id: int
    timestamp_ms: Millis | None = None
    parent_id: int | None = None
    sequence_number: int | None = None
    schema_id: int | None = None
    summary: Mapping[str, str] | None = None
    manifest_list: str | None = None
    manifests: tuple[str, ...] | None = None

    @property
    def operation(self) -> str | None:
        """`append`, `replace`, `overwrite`, `delete`, or a value of the writer's own."""
        return (self.summary or {}).get("operation")

    def summary_of(self, keys: Collection[str]) -> dict[str, str]:
        """Those entries of the summary that it has."""
        summary = self.summary or {}
        return {key: summary[key] for key in keys if key in summary}

    @property
    def committed_at(self) -> Micros | None:
        """Epoch microseconds."""
        return to_micros(self.timestamp_ms)


class SnapshotRef(msgspec.Struct, frozen=True):
    """A branch or a tag. `type` is `branch` or `tag`. `retention`: its retention settings by Iceberg's keys
    (`min-snapshots-to-keep`, `max-snapshot-age-ms`, `max-ref-age-ms`).
    """

    snapshot_id: int
    type: str
    retention: dict[str, int] = {}


class LogEntry(msgspec.Struct, frozen=True, gc=False):
    """An entry of `snapshot-log` (value: snapshot id) or `metadata-log` (value: location)."""

    timestamp_ms: Millis
    value: Any


class TableStatistics(msgspec.Struct, frozen=True):
    """A statistics file of a snapshot. `distinct`: estimated distinct values by field id."""

    snapshot_id: int
    distinct: dict[int, int]


class TableMetadata(msgspec.Struct, frozen=True, kw_only=True):
    """One metadata file. Dictionaries are keyed by id; `snapshots` keeps the file's order. `empty`: nothing was ever
    committed to the table, so its numbers are known to be 0.
    """

    format: str = "iceberg"
    format_version: int
    uuid: str | None
    location: str
    metadata_location: str
    size_bytes: int
    last_updated_ms: Millis | None
    current_schema_id: int | None
    schemas: dict[int, dict[str, Any]]
    default_spec_id: int | None
    specs: dict[int, dict[str, Any]]
    default_sort_order_id: int | None
    sort_orders: dict[int, dict[str, Any]]
    properties: dict[str, str]
    snapshots: dict[int, Snapshot]
    refs: dict[str, SnapshotRef]
    snapshot_log: tuple[LogEntry, ...]
    metadata_log: tuple[LogEntry, ...]
    statistics: tuple[TableStatistics, ...] = ()
    problems: tuple[TableProblem, ...] = ()
    empty: bool = False

    @property
    def table_uuid(self) -> str:
        """The table's uuid, or the substitute derived from its location."""
        return self.uuid or location_uuid(self.location)

    @property
    def head_id(self) -> int | None:
        """Id of the snapshot that main points at; None if there is none."""
        return self.refs[MAIN].snapshot_id if MAIN in self.refs else None

    @property
    def ordered(self) -> list[Snapshot]:
        """Snapshots in commit order: sequence number, then time; the file's order breaks ties (v1)."""
        return sorted(self.snapshots.values(), key=lambda s: (s.sequence_number or 0, s.timestamp_ms or 0))

    def outlined(self, summary: Collection[str] = ()) -> TableMetadata:
        """The same without statistics and without the files of snapshots. `summary`: keys that their summaries keep."""
        bare = {
            snapshot_id: Snapshot(
                snapshot_id=snapshot_id,
                timestamp_ms=each.timestamp_ms,
                parent_id=each.parent_id,
                sequence_number=each.sequence_number,
                schema_id=each.schema_id,
                summary=each.summary_of(summary) if summary else None,
            )
            for snapshot_id, each in self.snapshots.items()
        }
        return msgspec.structs.replace(self, snapshots=bare, statistics=())

    def distinct_at(self, snapshot: Snapshot) -> dict[int, int]:
        """Distinct values by field id, of the newest statistics file of this or an earlier snapshot."""
        found: dict[int, int] = {}
        newest = -1
        for each in self.statistics:
            of = self.snapshots.get(each.snapshot_id)
            at = None if of is None else of.timestamp_ms
            if at is not None and newest < at <= (snapshot.timestamp_ms or 0):
                newest, found = at, each.distinct
        return found

    @property
    def targets(self) -> Targets | None:
        """The sizes that its data files should have; None if the configured target is not a valid size."""
        return targets_of(self.format, self.properties)

    @property
    def target_file_bytes(self) -> int | None:
        """The target size of data files: the table's own, or its format's default. None if it is not a valid size."""
        found = self.targets
        return None if found is None else found.target

    def ancestors(self, snapshot_id: int | None) -> Iterator[int]:
        """The snapshot and its retained ancestors, newest first. Terminates on a circular chain."""
        seen: set[int] = set()
        while snapshot_id is not None and snapshot_id in self.snapshots and snapshot_id not in seen:
            seen.add(snapshot_id)
            yield snapshot_id
            snapshot_id = self.snapshots[snapshot_id].parent_id
