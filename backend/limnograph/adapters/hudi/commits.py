"""The body of a completed instant: the files that a commit wrote and the file groups that it replaced.

JSON in layout 1, Avro in layout 2 (HoodieCommitMetadata, HoodieReplaceCommitMetadata), detected by the first bytes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from limnograph.adapters.avro.container import MAGIC
from limnograph.adapters.avro.records import read_records
from limnograph.adapters.hudi.names import parse_name
from limnograph.domain.errors import MetadataError

MAX_COMMIT_BYTES = 256 * 2**20
MAX_SIZE_BYTES = 2**50
_MAX_ROWS = 2**53


LeftLogs = list[tuple[str, str, int | None]]
"""`(partition, log file, bytes)` of the log files that a rollback wrote or left behind."""


class WriteStat(NamedTuple):
    """A write stat. Bytes and rows are None if the writer omitted them.

    instant  from the file's name; None if the name is not Hudi's
    cdc      a log that contains only changes
    prev     instant of the base file that it continues, if any
    updates  it changed existing rows
    """

    partition: str
    file_id: str
    name: str
    instant: str | None
    is_log: bool
    cdc: bool
    size: int | None
    records: int | None
    prev: str | None
    updates: bool


class Commit(msgspec.Struct, frozen=True, kw_only=True):
    """The commit's metadata.

    operation  Hudi's name of it; None if the writer recorded none
    replaced   `(partition, file id)` of the replaced groups
    extra      extraMetadata without the schema, which is Avro's JSON
    """

    operation: str | None = None
    compacted: bool = False
    written: tuple[WriteStat, ...] = ()
    replaced: tuple[tuple[str, str], ...] = ()
    extra: dict[str, str] = msgspec.field(default_factory=dict)
    schema: str | None = None

    @property
    def weight(self) -> int:
        """Memory cost, in write stats."""
        return len(self.written) + len(self.replaced)


class _Stat(msgspec.Struct, rename="camel"):
    file_id: str | None = None
    path: str | None = None
    prev_commit: str | None = None
    num_writes: int | None = None
    num_update_writes: int | None = None
    num_deletes: int | None = None
    file_size_in_bytes: int | None = None
    total_write_bytes: int | None = None
    log_offset: int | None = None


class _Body(msgspec.Struct, rename="camel"):
    partition_to_write_stats: dict[str, list[_Stat | None] | None] | None = None
    partition_to_replace_file_ids: dict[str, list[str | None] | None] | None = None
    extra_metadata: dict[str, Any] | None = None
    operation_type: str | None = None
    compacted: bool | None = None


_JSON = msgspec.json.Decoder(_Body)


def parse_commit(content: bytes) -> Commit:
    """Parse a commit. Raises MetadataError (`commit_unreadable`). An empty file is one without writes, as in Hudi."""
    if not content:
        return Commit()
    try:
        return commit_of(_record(content)) if content.startswith(MAGIC) else _commit(_JSON.decode(content))
    except (msgspec.DecodeError, MetadataError, UnicodeDecodeError, RecursionError) as error:
        raise MetadataError("commit_unreadable", f"the body of an instant is damaged: {error}") from error


def commit_of(record: dict[str, Any]) -> Commit:
    """A commit from its Avro record. Raises MetadataError."""
    try:
        return _commit(msgspec.convert(record, _Body))
    except (msgspec.ValidationError, RecursionError) as error:
        raise MetadataError("commit_unreadable", f"the body of an instant is damaged: {error}") from error


def parse_rollback(content: bytes) -> LeftLogs:
    """The body of a rollback or restore: below table version 8, log files stay in their slice. Raises MetadataError."""
    if not content:
        return []
    record = _record(content)
    restored = record.get("hoodieRestoreMetadata")
    if not isinstance(restored, dict):
        return left_logs(record)
    undone = [item for items in restored.values() if isinstance(items, list) for item in items]
    return [log for item in undone if isinstance(item, dict) for log in left_logs(item)]


def left_logs(record: dict[str, Any]) -> LeftLogs:
    """Left log files, from HoodieRollbackMetadata."""
    found: LeftLogs = []
    partitions = record.get("partitionMetadata")
    for partition, item in (partitions if isinstance(partitions, dict) else {}).items():
        for key in ("rollbackLogFiles", "logFilesFromFailedCommit"):
            logs = item.get(key) if isinstance(item, dict) else None
            found += [
                (partition, str(path).rpartition("/")[2], _within(size, MAX_SIZE_BYTES))
                for path, size in (logs if isinstance(logs, dict) else {}).items()
            ]
    return found


def _record(content: bytes) -> dict[str, Any]:
    records = read_records(content)
    if len(records) != 1 or not isinstance(records[0], dict):
        raise MetadataError("avro_damaged", f"{len(records)} records instead of one")
    return records[0]


def _commit(body: _Body) -> Commit:
    extra = body.extra_metadata or {}
    schema = extra.get("schema")
    groups = body.partition_to_replace_file_ids or {}
    return Commit(
        operation=body.operation_type or None,
        compacted=bool(body.compacted),
        written=tuple(
            found
            for partition, stats in (body.partition_to_write_stats or {}).items()
            for stat in stats or ()
            if (found := _written(partition, stat)) is not None
        ),
        replaced=tuple((partition, group) for partition, ids in groups.items() for group in ids or () if group),
        extra={key: value for key, value in extra.items() if key != "schema" and isinstance(value, str)},
        schema=schema if isinstance(schema, str) and schema else None,
    )


def _written(partition: str, stat: _Stat | None) -> WriteStat | None:
    """A write stat; None for one without a file, which a task with nothing to write leaves."""
    if stat is None or not stat.path:
        return None
    name = stat.path.rpartition("/")[2]
    parsed = parse_name(name)
    is_log = parsed.is_log if parsed else name.startswith(".")
    return WriteStat(
        partition=partition,
        file_id=stat.file_id or (parsed.file_id if parsed else name),
        name=name,
        instant=parsed.instant if parsed else None,
        is_log=is_log,
        cdc=parsed is not None and parsed.cdc,
        size=_size(stat, is_log=is_log),
        records=_within(stat.num_writes, _MAX_ROWS),
        prev=stat.prev_commit if stat.prev_commit not in {None, "", "null"} else None,
        updates=bool(stat.num_update_writes or stat.num_deletes),
    )


def _size(stat: _Stat, *, is_log: bool) -> int | None:
    """Bytes of the file after the commit. For a log on a store that supports appends, the stat has the appended bytes
    and their offset (HoodieAppendHandle).
    """
    size = _within(stat.file_size_in_bytes or stat.total_write_bytes or stat.file_size_in_bytes, MAX_SIZE_BYTES)
    before = _within(stat.log_offset, MAX_SIZE_BYTES) if is_log else None
    return size if size is None or before is None else size + before


def _within(number: Any, limit: int) -> int | None:
    return number if isinstance(number, int) and 0 <= number <= limit else None
