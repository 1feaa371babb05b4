"""Header and blocks of an Avro file: the writer's schema, codec and block offsets. Plain Python, bounded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from limnograph.adapters.avro.codecs import decompressor, too_large
from limnograph.adapters.avro.names import by_definition
from limnograph.domain.errors import MetadataError

MAGIC = b"Obj\x01"
SYNC_BYTES = 16
MAX_BLOCK_BYTES = 64 * 2**20
"""Maximum decompressed size of one block. Writers cut blocks at tens of kilobytes; only a huge record needs more."""
MAX_FILE_BYTES = 4 * 2**30
MAX_EXPANSION = 100
"""Decompressed bytes allowed per byte of the file, in addition to the size of one block."""


class Container(NamedTuple):
    """Header of an Avro file: all its entries, including the writer's schema, and the offset of the first block."""

    header: dict[str, bytes]
    content: bytes
    offset: int

    @property
    def schema_text(self) -> bytes:
        """The writer's schema as JSON; empty when the header has none."""
        return self.header.get("avro.schema", b"")

    @property
    def codec(self) -> bytes:
        """Codec of the blocks; `null` (uncompressed) if the header names none."""
        return self.header.get("avro.codec") or b"null"

    @property
    def sync(self) -> bytes:
        """The marker that ends every block."""
        return self.content[self.offset - SYNC_BYTES : self.offset]

    @property
    def max_bytes(self) -> int:
        """Maximum decompressed size of this file: refuses decompression bombs, accepts well compressed files."""
        return min(MAX_FILE_BYTES, MAX_BLOCK_BYTES + MAX_EXPANSION * len(self.content))

    def blocks(self) -> Iterator[tuple[int, memoryview | bytes]]:
        """`(records, decompressed bytes)` of every block. Raises MetadataError."""
        decompress = decompressor(self.codec)
        view, sync, position, left = memoryview(self.content), self.sync, self.offset, self.max_bytes
        while position < len(view):
            count, position = varint(self.content, position)
            size, position = varint(self.content, position)
            end = position + size
            if count < 0 or size < 0 or self.content[end : end + SYNC_BYTES] != sync:
                raise MetadataError("avro_damaged", "a block ends early or without its sync marker")
            body = decompress(view[position:end], min(left, MAX_BLOCK_BYTES))
            left -= len(body)
            yield count, body
            position = end + SYNC_BYTES


def open_container(content: bytes) -> Container:
    """Parse the header. Raises MetadataError."""
    if not content.startswith(MAGIC):
        raise MetadataError("avro_damaged", "not an Avro file")
    header: dict[str, bytes] = {}
    position = len(MAGIC)
    while True:
        count, position = varint(content, position)
        if count < 0:
            _, position = varint(content, position)
        if not count:
            break
        if abs(count) > len(content):
            raise MetadataError("avro_damaged", f"the header of an Avro file has {abs(count)} entries")
        for _ in range(abs(count)):
            key, position = _bytes(content, position)
            header[key.decode("utf-8", "replace")], position = _bytes(content, position)
    if position + SYNC_BYTES > len(content):
        raise MetadataError("avro_damaged", "the header of an Avro file ends early")
    return Container(header, content, position + SYNC_BYTES)


def parse_schema(text: bytes) -> dict[str, Any]:
    """The writer's schema, a record, with every named type expanded where it is repeated. Raises MetadataError."""
    try:
        schema = by_definition(msgspec.json.decode(text))
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError) as error:
        raise MetadataError("avro_damaged", f"the schema of an Avro file is damaged: {error!r}") from error
    if not isinstance(schema, dict) or not isinstance(schema.get("fields"), list):
        raise MetadataError("avro_damaged", "the schema of an Avro file is not a record")
    return schema


def varint(content: bytes, position: int) -> tuple[int, int]:
    """A zigzag number and the position after it. Raises MetadataError."""
    value = shift = 0
    while True:
        if position >= len(content) or shift > 63:
            raise MetadataError("avro_damaged", "a number is truncated or too long")
        byte = content[position]
        position += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            value &= 0xFFFF_FFFF_FFFF_FFFF
            return (value >> 1) ^ -(value & 1), position


def _bytes(content: bytes, position: int) -> tuple[bytes, int]:
    size, position = varint(content, position)
    if not 0 <= size <= len(content) - position:
        raise MetadataError("avro_damaged", "the header of an Avro file ends early")
    return content[position : position + size], position + size


__all__ = ["MAX_BLOCK_BYTES", "SYNC_BYTES", "Container", "open_container", "parse_schema", "too_large", "varint"]
