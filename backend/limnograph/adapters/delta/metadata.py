"""The log as `TableMetadata`: one snapshot per version with a commit file, and the table at the latest version."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import msgspec

from limnograph.adapters.delta.actions import Head
from limnograph.adapters.delta.checkpoints import CheckpointHead
from limnograph.adapters.delta.files import LogFiles
from limnograph.adapters.delta.log import MAX_VERSIONS, Log
from limnograph.adapters.delta.schema import ColumnNames, DeltaTable, table_of
from limnograph.domain.errors import MetadataError
from limnograph.domain.metadata.table import MAIN, LogEntry, Snapshot, SnapshotRef, TableMetadata, TableProblem
from limnograph.ports.storage import Storage

MAX_READER_VERSION = 3
READER_FEATURES = frozenset(
    {
        "catalogManaged", "catalogOwned-preview", "columnMapping", "deletionVectors", "timestampNanos", "timestampNtz",
        "typeWidening", "typeWidening-preview", "v2Checkpoint", "vacuumProtocolCheck", "variantShredding",
        "variantShredding-preview", "variantType", "variantType-preview",
    }
)  # fmt: skip
"""Features with known effect on the counts of a log: none, or one that the reader handles."""
_STAGED = {"catalogManaged", "catalogOwned-preview"}
_TRIES = 3


class HeadHistory(NamedTuple):
    """Heads by version, and the table at each version (None: unknown)."""

    heads: dict[int, Head]
    tables: dict[int, DeltaTable | None]
    protocol: dict[str, Any]

    def renamed(self, version: int) -> bool:
        """Whether a version renamed the partition columns or changed the partitioning."""
        before, now = self.tables.get(version - 1), self.tables.get(version)
        return before is not None and now is not None and before.naming != now.naming

    def naming(self, version: int) -> ColumnNames:
        """Names of the partition columns at a version."""
        table = self.tables.get(version)
        return table.naming if table else ColumnNames()


def read_history(log: Log, files: LogFiles, storage: Storage) -> HeadHistory:
    """The retained versions. Raises SourceError; a damaged file becomes a damaged head, or is not used as a base."""
    versions = log.told
    heads = files.heads(log, versions, storage)
    base = _base(log, versions, heads, files, storage)
    table = table_of(base.metadata) if base and base.metadata else None
    protocol: dict[str, Any] = (base.protocol if base else None) or {}
    tables: dict[int, DeltaTable | None] = {}
    for version in versions:
        head = heads[version]
        table = table_of(head.metadata) if head.metadata else table
        protocol = head.protocol or protocol
        tables[version] = table
    tables.setdefault(log.version, table)
    return HeadHistory(heads, tables, protocol)


def _base(
    log: Log, versions: list[int], heads: dict[int, Head], files: LogFiles, storage: Storage
) -> CheckpointHead | None:
    """The state before the oldest version to be read, from the nearest readable checkpoint."""
    if versions and heads[versions[0]].metadata and heads[versions[0]].protocol:
        return None
    oldest = versions[0] if versions else log.version
    before = [checkpoint for checkpoint in log.checkpoints if checkpoint.version <= oldest]
    for checkpoint in (before or list(reversed(log.checkpoints)))[:_TRIES]:
        try:
            return files.checkpoint(log, checkpoint, storage)
        except MetadataError:
            continue  # an older checkpoint, or the commits themselves, may contain the same
    return None


def table_metadata(pointer: str, log: Log, history: HeadHistory) -> TableMetadata:
    """The whole table as types of `domain/metadata/table.py`. `format_version` is the reader version of the protocol.

    Raises MetadataError (`format_version_unsupported`) for a protocol that this reader does not understand.
    """
    table = history.tables.get(log.version)
    version = _reader_version(history.protocol)
    if version is not None and version > MAX_READER_VERSION:
        raise MetadataError("format_version_unsupported", f"{pointer} requires reader version {version}")
    snapshots = {at: _snapshot(at, history) for at in sorted({*history.heads, log.version})}
    head = snapshots[log.version]
    known = [entry for entry in history.tables.values() if entry is not None]
    return TableMetadata(
        format="delta",
        format_version=version or 1,
        uuid=table.uuid if table else None,
        location=log.root,
        metadata_location=pointer,
        size_bytes=_pointer_size(pointer, log),
        last_updated_ms=head.timestamp_ms,
        current_schema_id=table.schema_id if table else None,
        schemas={entry.schema_id: entry.schema for entry in known if entry.schema_id is not None and entry.schema},
        default_spec_id=table.spec_id if table else None,
        specs={entry.spec_id: entry.spec for entry in known},
        default_sort_order_id=None,
        sort_orders={},
        properties=_properties(table, history.protocol),
        snapshots=snapshots,
        refs={MAIN: SnapshotRef(log.version, "branch")},
        snapshot_log=tuple(
            LogEntry(snapshot.timestamp_ms, snapshot.snapshot_id)
            for snapshot in snapshots.values()
            if snapshot.timestamp_ms is not None
        ),
        metadata_log=(),
        problems=tuple(dict.fromkeys(_problems(log, history, table))),
    )


def _snapshot(version: int, history: HeadHistory) -> Snapshot:
    """One version. Of a version that only a checkpoint covers, nothing but its existence is known."""
    head, table = history.heads.get(version), history.tables.get(version)
    return Snapshot(
        snapshot_id=version,
        parent_id=version - 1 if version else None,
        sequence_number=version,
        timestamp_ms=head.timestamp_ms if head else None,
        schema_id=table.schema_id if table else None,
        summary=head.summary if head else None,
    )


def _problems(log: Log, history: HeadHistory, table: DeltaTable | None) -> Iterator[TableProblem]:
    """Problems of the table; a damaged commit is reported when its version is read."""
    for before, after in pairwise(log.told):
        if after != before + 1:
            yield TableProblem("commits_missing", f"between versions {before} and {after}", after)
    if len(log.commits) > MAX_VERSIONS:
        yield TableProblem(
            "history_truncated", f"of {len(log.commits)} versions only the latest {MAX_VERSIONS} are read"
        )
    if table is None or table.uuid is None:
        yield TableProblem("metadata_missing", "no remaining metaData action names the table")
    elif table.damaged:
        yield TableProblem("schema_unreadable", "the schema of the latest metaData action is damaged")
    yield from _protocol_problems(history.protocol)


def _protocol_problems(protocol: dict[str, Any]) -> Iterator[TableProblem]:
    if _reader_version(protocol) is None:
        yield TableProblem("protocol_missing", "no protocol action remains")
    for feature in _features(protocol, "readerFeatures"):
        if feature not in READER_FEATURES:
            yield TableProblem("unknown_reader_feature", f"{feature}: counts may mean something else")
        elif feature in _STAGED:
            yield TableProblem("catalog_managed", "the latest commits may be known only to the table's catalog")


def _reader_version(protocol: dict[str, Any]) -> int | None:
    found = protocol.get("minReaderVersion")
    return found if isinstance(found, int) and not isinstance(found, bool) and 0 < found < 2**31 else None


def _properties(table: DeltaTable | None, protocol: dict[str, Any]) -> dict[str, str]:
    """The configuration, and the protocol as in SHOW TBLPROPERTIES."""
    found = dict(table.configuration) if table else {}
    for key in ("minReaderVersion", "minWriterVersion"):
        if isinstance(protocol.get(key), int):
            found[f"delta.{key}"] = str(protocol[key])
    for key in ("readerFeatures", "writerFeatures"):
        found.update((f"delta.feature.{name}", "supported") for name in _features(protocol, key))
    return dict(sorted(found.items()))


def _features(protocol: dict[str, Any], key: str) -> list[str]:
    found = protocol.get(key)
    return [name for name in found if isinstance(name, str)] if isinstance(found, list) else []


def _pointer_size(pointer: str, log: Log) -> int:
    """Bytes of the pointer's file; 0 if it is one of several parts of a checkpoint."""
    name = pointer.rsplit("/", 1)[-1]
    listed = [*log.commits.values(), *(file for checkpoint in log.checkpoints for file in checkpoint.files)]
    return next((file.size for file in listed if file.name == name), 0)


def checksum_of(content: bytes) -> tuple[int | None, int | None]:
    """`(files, bytes)` according to a version checksum file; None for a missing number."""
    try:
        found = msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None, None
    claims = found if isinstance(found, dict) else {}
    files, size = claims.get("numFiles"), claims.get("tableSizeBytes")
    return files if isinstance(files, int) else None, size if isinstance(size, int) else None
