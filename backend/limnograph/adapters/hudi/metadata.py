"""A Hudi table as the common `TableMetadata`: instants as snapshots, savepoints as tags."""

from __future__ import annotations

from limnograph.adapters.hudi.operations import summary
from limnograph.adapters.hudi.partitions import partition_spec
from limnograph.adapters.hudi.schema import iceberg_schema, schema_id
from limnograph.adapters.hudi.table import HudiTable
from limnograph.adapters.hudi.timeline import HudiInstant
from limnograph.domain.ids import normalise_location
from limnograph.domain.metadata.table import MAIN, LogEntry, Snapshot, SnapshotRef, TableMetadata, TableProblem

_UNTOLD = frozenset(("hoodie.table.checksum", "hoodie.table.create.schema"))
"""Redundant properties: a checksum of the others, and a schema that every commit has too."""
_MAIN_MOVERS = frozenset(("rollback", "restore"))


def table_metadata(table: HudiTable) -> TableMetadata:
    """`snapshot_id` is the requested instant as a number. There is no sequence number: layout 2 is ordered by
    completion, layout 1 by instant, and both are the snapshot's timestamp.
    """
    timeline = table.timeline
    schemas = {i.requested: c.schema for i in timeline.snapshots if (c := table.commits.get(i.requested)) and c.schema}
    distinct = dict.fromkeys(schemas.values())
    parsed = {schema_id(text): found for text in distinct if (found := iceberg_schema(text)) is not None}
    current = next((schema_id(text) for text in reversed(list(schemas.values()))), None)
    newest = timeline.newest
    return TableMetadata(
        format="hudi",
        format_version=table.layout.version or 0,
        uuid=None,
        location=normalise_location(table.root),
        metadata_location=table.pointer,
        size_bytes=table.size_bytes,
        last_updated_ms=newest.timestamp_ms if newest else None,
        current_schema_id=current,
        schemas=parsed,
        default_spec_id=0,
        specs={0: partition_spec(table.properties)},
        default_sort_order_id=None,
        sort_orders={},
        properties={key: value for key, value in table.properties.items() if key not in _UNTOLD},
        snapshots=_snapshots(table, schemas),
        refs=_refs(table),
        snapshot_log=_log(table),
        metadata_log=(),
        problems=_problems(table),
        empty=_empty(table),
    )


def _empty(table: HudiTable) -> bool:
    """Whether no write of the table ever completed: no commits, no archived commits, no logs of rollbacks."""
    timeline = table.timeline
    undone = all(instant.action == "rollback" for instant in timeline.others) and not any(table.rollbacks.values())
    return not timeline.snapshots and undone and table.archive is None


def _snapshots(table: HudiTable, schemas: dict[str, str]) -> dict[int, Snapshot]:
    timezone = table.properties.get("hoodie.table.timeline.timezone", "LOCAL").upper()
    found: dict[int, Snapshot] = {}
    parent = _expired_parent(table)
    for instant in table.timeline.snapshots:
        commit = table.commits.get(instant.requested)
        text = schemas.get(instant.requested)
        number = int(instant.requested)
        found[number] = Snapshot(
            snapshot_id=number,
            timestamp_ms=instant.timestamp_ms,
            parent_id=parent,
            schema_id=None if text is None else schema_id(text),
            summary=None if commit is None else summary(instant, commit, timezone),
            manifest_list=f"{table.timeline.folder}/{instant.name}",
        )
        parent = number
    return found


def _expired_parent(table: HudiTable) -> int | None:
    """Snapshot before the oldest retained one, if the archive or the oldest commit names it."""
    if table.archive is None or not table.timeline.snapshots:
        return None
    if table.archive.newest is not None:
        return int(table.archive.newest.requested)
    oldest = table.timeline.snapshots[0].requested
    commit = table.commits.get(oldest)
    before = [s.prev for s in commit.written if s.prev and _is_instant(s.prev) and s.prev < oldest] if commit else []
    return int(max(before)) if before else None


def _is_instant(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) in {14, 17}


def _refs(table: HudiTable) -> dict[str, SnapshotRef]:
    snapshots = table.timeline.snapshots
    if not snapshots:
        return {}
    known = {instant.requested for instant in snapshots}
    tags = (i.requested for i in table.timeline.others if i.action == "savepoint" and i.requested in known)
    return {MAIN: SnapshotRef(int(snapshots[-1].requested), "branch")} | {
        f"savepoint-{instant}": SnapshotRef(int(instant), "tag") for instant in tags
    }


def _log(table: HudiTable) -> tuple[LogEntry, ...]:
    """Every snapshot, and after a rollback or restore, the one that main returned to. Undone snapshots are absent."""
    found: list[LogEntry] = []
    head: HudiInstant | None = None
    movers = (i for i in table.timeline.others if i.action in _MAIN_MOVERS)
    for instant in sorted((*table.timeline.snapshots, *movers), key=lambda i: i.order):
        head = head if instant.action in _MAIN_MOVERS else instant
        if head is not None and instant.timestamp_ms is not None:
            found.append(LogEntry(instant.timestamp_ms, int(head.requested)))
    return tuple(found)


def _problems(table: HudiTable) -> tuple[TableProblem, ...]:
    if table.layout.version is None:
        return (TableProblem("metadata_incomplete", "hoodie.properties does not name the table's version"),)
    return ()
