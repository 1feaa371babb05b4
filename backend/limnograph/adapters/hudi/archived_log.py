"""Archived instants of layout 1: Hudi's log format with Avro blocks of HoodieArchivedMetaEntry.

Technical specification, `Log Format`: magic, block length, version, type, header, content, footer, block length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from struct import Struct, error
from typing import Any

from limnograph.adapters.avro.container import MAGIC as AVRO
from limnograph.adapters.avro.records import read_records
from limnograph.adapters.hudi.commits import Commit, LeftLogs, commit_of, left_logs
from limnograph.adapters.hudi.timeline import SNAPSHOT_ACTIONS, HudiInstant
from limnograph.domain.errors import MetadataError

MAGIC = b"#HUDI#"
_AVRO_DATA_BLOCK = 3
_SCHEMA = 2
_SYNC = bytes(16)
_INT, _LONG, _PAIR = Struct(">i"), Struct(">q"), Struct(">ii")
_INSTANT = re.compile(r"\d{17}|\d{14}", re.ASCII)
_BODIES = ("hoodieReplaceCommitMetadata", "hoodieCommitMetadata")


def parse_archived_log(content: bytes) -> list[tuple[HudiInstant, Commit | LeftLogs]]:
    """Completed commits and rollbacks of one archive file. Raises MetadataError."""
    try:
        records = [record for schema, block in _blocks(content) for record in read_records(_container(schema, block))]
    except (error, ValueError, OverflowError) as damage:
        raise MetadataError("archive_unreadable", f"an archive file is damaged: {damage}") from damage
    return [found for record in records if (found := _entry(record)) is not None]


def _blocks(content: bytes) -> Iterator[tuple[bytes, bytes]]:
    """`(schema, body)` of every Avro data block. Raises struct.error if a block is truncated."""
    position = 0
    while position < len(content):
        if content[position : position + 6] != MAGIC:
            raise MetadataError("archive_unreadable", "a block does not begin with its magic bytes")
        (length,) = _LONG.unpack_from(content, position + 6)
        start, position = position + 14, position + 14 + length
        if length < 16 or position > len(content):
            raise MetadataError("archive_unreadable", "a block is longer than its file")
        _, kind = _PAIR.unpack_from(content, start)
        header, body = _header(content, start + 8)
        (size,) = _LONG.unpack_from(content, body)
        if size < 0 or body + 8 + size > position:
            raise MetadataError("archive_unreadable", "a block's content is longer than the block")
        if kind == _AVRO_DATA_BLOCK:
            yield header.get(_SCHEMA, b""), content[body + 8 : body + 8 + size]


def _header(content: bytes, position: int) -> tuple[dict[int, bytes], int]:
    """Entries of a block's header, and the position after them."""
    (count,) = _INT.unpack_from(content, position)
    position += 4
    found: dict[int, bytes] = {}
    for _ in range(min(count, 1000)):
        key, length = _PAIR.unpack_from(content, position)
        if length < 0:
            raise MetadataError("archive_unreadable", "a header entry has a negative length")
        found[key] = content[position + 8 : position + 8 + length]
        position += 8 + length
    return found, position


def _container(schema: bytes, block: bytes) -> bytes:
    """A block's records as an Avro file: version, count, then length and bytes of each record."""
    _, count = _PAIR.unpack_from(block, 0)
    parts: list[bytes] = []
    position = 8
    while position < len(block) and len(parts) < count:
        (length,) = _INT.unpack_from(block, position)
        if length < 0:
            raise MetadataError("archive_unreadable", "a record has a negative length")
        parts.append(block[position + 4 : position + 4 + length])
        position += 4 + length
    body = b"".join(parts)
    header = _varint(1) + _text(b"avro.schema") + _text(schema) + _varint(0)
    return AVRO + header + _SYNC + (_varint(len(parts)) + _varint(len(body)) + body + _SYNC if parts else b"")


def _text(value: bytes) -> bytes:
    return _varint(len(value)) + value


def _varint(number: int) -> bytes:
    value = number << 1
    found = bytearray()
    while value >= 0x80:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


def _entry(record: dict[str, Any]) -> tuple[HudiInstant, Commit | LeftLogs] | None:
    """A completed commit or a rollback; None for any other record."""
    requested, action = record.get("commitTime"), record.get("actionType")
    if not isinstance(requested, str) or not _INSTANT.fullmatch(requested):
        return None
    undone = record.get("hoodieRollbackMetadata")
    if action == "rollback" and isinstance(undone, dict):
        return HudiInstant(requested, None, "rollback", "", 0), left_logs(undone)
    if record.get("actionState") not in ("COMPLETED", None) or action not in SNAPSHOT_ACTIONS:
        return None
    body = next((found for key in _BODIES if isinstance(found := record.get(key), dict)), None)
    if body is None:
        raise MetadataError("archive_unreadable", f"archived instant {requested} has no body")
    return HudiInstant(requested, None, str(action), "", 0), commit_of(body)
