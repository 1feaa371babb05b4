"""The content of a checkpoint in any form: classic, multi-part, or v2 with sidecars, as Parquet or JSON.

Tombstones are not part of the state: they are read only for plans.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

import msgspec

from limnograph.adapters.delta.actions import Action, DeltaFile, file_of, lines
from limnograph.adapters.delta.log import Checkpoint, Log
from limnograph.adapters.delta.parquet import parquet_files, parquet_heads, parquet_tombstones
from limnograph.adapters.delta.tombstones import Tombstone, read_tombstones
from limnograph.domain.errors import MetadataError
from limnograph.ports.storage import Storage

MAX_CHECKPOINT_BYTES = 512 * 2**20
MAX_SIDECARS = 10_000


class CheckpointHead(msgspec.Struct):
    """The table at the checkpoint: its latest `metaData` and `protocol`, and the sidecars that list more files."""

    metadata: dict[str, Any] | None = None
    protocol: dict[str, Any] | None = None
    sidecars: list[str] = msgspec.field(default_factory=list)

    def take(self, name: str, fields: dict[str, Any]) -> None:
        """Record one action of these three kinds."""
        if name == "metaData":
            self.metadata = fields
        elif name == "protocol":
            self.protocol = fields
        elif isinstance(fields.get("path"), str):
            self.sidecars.append(fields["path"])


class _Line(msgspec.Struct):
    add: Action | None = None
    metaData: dict[str, Any] | None = None  # noqa: N815 - the protocol's own names
    protocol: dict[str, Any] | None = None
    sidecar: dict[str, Any] | None = None


_LINES = msgspec.json.Decoder(_Line)


def checkpoint_head(log: Log, checkpoint: Checkpoint, storage: Storage) -> CheckpointHead:
    """The table at a checkpoint. Raises MetadataError if the checkpoint is damaged, and SourceError."""
    head = CheckpointHead()
    for content, is_json in _contents(log, checkpoint, storage):
        _take(head, content, is_json=is_json)
    return head


def checkpoint_files(log: Log, checkpoint: Checkpoint, storage: Storage) -> Iterator[DeltaFile]:
    """All live files. Raises MetadataError if the checkpoint or one of its sidecars is damaged, and SourceError."""
    head = CheckpointHead()
    for content, is_json in _contents(log, checkpoint, storage):
        _take(head, content, is_json=is_json)
        yield from _json_files(content) if is_json else parquet_files(content)
    if len(head.sidecars) > MAX_SIDECARS:
        raise MetadataError("checkpoint_too_large", f"{len(head.sidecars)} sidecars")
    for path in head.sidecars:
        yield from parquet_files(storage.read(_sidecar(log, path), MAX_CHECKPOINT_BYTES))


def checkpoint_tombstones(log: Log, checkpoint: Checkpoint, storage: Storage) -> Iterator[Tombstone]:
    """Tombstones that the checkpoint or its sidecars still have. Raises MetadataError, SourceError."""
    head = CheckpointHead()
    for content, is_json in _contents(log, checkpoint, storage):
        _take(head, content, is_json=is_json)
        yield from read_tombstones(content) if is_json else parquet_tombstones(content)
    for path in head.sidecars[:MAX_SIDECARS]:
        yield from parquet_tombstones(storage.read(_sidecar(log, path), MAX_CHECKPOINT_BYTES))


def _contents(log: Log, checkpoint: Checkpoint, storage: Storage) -> Iterator[tuple[bytes, bool]]:
    for file in checkpoint.files:
        yield storage.read(log.location(file.name), MAX_CHECKPOINT_BYTES), file.name.endswith(".json")


def _take(head: CheckpointHead, content: bytes, *, is_json: bool) -> None:
    for name, fields in _json_heads(content) if is_json else parquet_heads(content):
        head.take(name, fields)


def _json_heads(content: bytes) -> Iterator[tuple[str, dict[str, Any]]]:
    for line in _json_lines(content):
        for name in ("metaData", "protocol", "sidecar"):
            if (fields := getattr(line, name)) is not None:
                yield name, fields


def _json_files(content: bytes) -> Iterator[DeltaFile]:
    for line in _json_lines(content):
        if line.add is not None:
            yield file_of(line.add, whole=True)


def _json_lines(content: bytes) -> Iterator[_Line]:
    try:
        yield from lines(content, _LINES)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise MetadataError("checkpoint_unreadable", str(error).splitlines()[0]) from error


def _sidecar(log: Log, path: str) -> str:
    """Location of a sidecar: a file name in `_sidecars`, or an absolute URI."""
    if "://" in path or path.startswith(("/", "file:")):
        return path
    return log.location(f"_sidecars/{unquote(path)}")
