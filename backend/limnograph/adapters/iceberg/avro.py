"""Avro container files: blocks, codecs, and readers compiled from the writer's schema that skip what is not wanted.

The varint kernel is PyIceberg's compiled decoder. Knows Avro, nothing of manifests.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec
import pyarrow as pa
from pyiceberg.avro.decoder import BinaryDecoder, new_decoder

from limnograph.adapters.iceberg.avro_names import by_definition
from limnograph.domain.errors import MetadataError

MAGIC = b"Obj\x01"
SYNC_BYTES = 16
MAX_BLOCK_BYTES = 1 << 30

Read = Callable[[BinaryDecoder], Any]
Skip = Callable[[BinaryDecoder], object]


class Container(NamedTuple):
    """Header of an Avro file: writer's schema with all names resolved, all header entries, where the blocks begin."""

    schema: dict[str, Any]
    header: dict[str, bytes]
    content: bytes
    offset: int

    def blocks(self) -> Iterator[tuple[int, BinaryDecoder]]:
        """`(records, decoder)` of every block. Raises MetadataError when the file ends early or lies about itself."""
        codec = self.header.get("avro.codec", b"null").decode()
        sync = self.content[self.offset - SYNC_BYTES : self.offset]
        position = self.offset
        while position < len(self.content):
            count, position = _varint(self.content, position)
            size, position = _varint(self.content, position)
            end = position + size
            if count < 0 or size < 0 or self.content[end : end + SYNC_BYTES] != sync:
                raise MetadataError("avro_damaged", "a block ends early or without its sync marker")
            yield count, new_decoder(_decompress(codec, self.content[position:end]))
            position = end + SYNC_BYTES


def open_container(content: bytes) -> Container:
    """Parse the header. Raises MetadataError."""
    if not content.startswith(MAGIC):
        raise MetadataError("avro_damaged", "not an Avro file")
    try:
        decoder = new_decoder(content)
        decoder.skip(len(MAGIC))
        header: dict[str, bytes] = {}
        while count := decoder.read_int():
            if count < 0:
                decoder.read_int()
            for _ in range(abs(count)):
                key = decoder.read_utf8()
                header[key] = decoder.read_bytes()
        decoder.skip(SYNC_BYTES)
        schema = by_definition(msgspec.json.decode(header["avro.schema"]))
    except (EOFError, ValueError, KeyError, TypeError, IndexError, RecursionError) as error:
        raise MetadataError("avro_damaged", f"the header of an Avro file is damaged: {error!r}") from error
    if not isinstance(schema, dict) or not isinstance(schema.get("fields"), list):
        raise MetadataError("avro_damaged", "the schema of an Avro file is no record")
    return Container(schema, header, content, decoder.tell())


def compile_record(schema: dict[str, Any], wanted: Sequence[tuple[int, tuple[str, ...]]]) -> Read:
    """Reader of one record as a list with one slot per wanted field, None where the writer has no such field.

    A field is wanted by its Iceberg field id, or by one of its names where the writer gave no ids.
    """
    slots = {id(field): slot for slot, (key, names) in enumerate(wanted) for field in _find(schema, key, names)}
    steps: list[tuple[int, Read]] = []
    for field in schema["fields"]:
        slot = slots.get(id(field), -1)
        steps.append((slot, reader(field["type"]) if slot >= 0 else skipper(field["type"])))
    return _record(steps, len(wanted))


def _record(steps: list[tuple[int, Read]], width: int) -> Read:
    def read(decoder: BinaryDecoder) -> list[Any]:
        row: list[Any] = [None] * width
        for slot, step in steps:
            if slot >= 0:
                row[slot] = step(decoder)
            else:
                step(decoder)
        return row

    return read


def _find(schema: dict[str, Any], key: int, names: tuple[str, ...]) -> list[dict[str, Any]]:
    fields = schema["fields"]
    return next(
        (
            found
            for found in (
                [f for f in fields if f.get("field-id") == key],
                [f for f in fields if f.get("name") in names],
            )
            if found
        ),
        [],
    )[:1]


def field_type(schema: dict[str, Any], key: int, names: tuple[str, ...]) -> Any:
    """Type of a field as the writer declares it, the null branch of a union left out; None when absent."""
    for field in _find(schema, key, names):
        kind = field["type"]
        return next((k for k in kind if k != "null"), None) if isinstance(kind, list) else kind
    return None


def reader(kind: Any) -> Read:  # noqa: PLR0911 - one return a kind of type
    """Reader of a value of any Avro type; records become tuples, logical types stay raw."""
    name = kind["type"] if isinstance(kind, dict) else kind
    if isinstance(kind, list):
        branches = [reader(branch) for branch in kind]
        return lambda decoder: branches[decoder.read_int()](decoder)
    if isinstance(name, dict | list):
        return reader(name)
    if name == "fixed":
        size = kind["size"]
        return lambda decoder: decoder.read(size)
    if name == "record" and "wanted" in kind:
        return compile_record(kind, kind["wanted"])
    if name == "record":
        readers = [reader(field["type"]) for field in kind["fields"]]
        return lambda decoder: tuple([read(decoder) for read in readers])
    if name == "array":
        return _array_reader(reader(kind["items"]))
    if name == "map":
        values = reader(kind["values"])
        return _array_reader(lambda decoder: (decoder.read_utf8(), values(decoder)))
    return _PRIMITIVES[name][0]


def _array_reader(item: Read) -> Read:
    def read(decoder: BinaryDecoder) -> list[Any]:
        found: list[Any] = []
        while count := decoder.read_int():
            if count < 0:
                decoder.read_int()
            found.extend(item(decoder) for _ in range(abs(count)))
        return found

    return read


def skipper(kind: Any) -> Skip:  # noqa: PLR0911 - one return a kind of type
    """Skips a value; Iceberg's statistics (arrays of `{int key, int|long|bytes value}`) in one call a block."""
    name = kind["type"] if isinstance(kind, dict) else kind
    if isinstance(kind, list):
        branches = [skipper(branch) for branch in kind]
        return lambda decoder: branches[decoder.read_int()](decoder)
    if isinstance(name, dict | list):
        return skipper(name)
    if name == "fixed":
        size = kind["size"]
        return lambda decoder: decoder.skip(size)
    if name == "record":
        skips = [skipper(field["type"]) for field in kind["fields"]]
        return lambda decoder: [skip(decoder) for skip in skips]
    if name == "array":
        return _array_skipper(_block_skipper(kind["items"]))
    if name == "map":
        return _array_skipper(_each(_pair_skipper(skipper(kind["values"]))))
    return _PRIMITIVES[name][1]


def _array_skipper(block: Callable[[BinaryDecoder, int], object]) -> Skip:
    def skip(decoder: BinaryDecoder) -> None:
        while count := decoder.read_int():
            if count < 0:
                decoder.skip(decoder.read_int())
            elif count > MAX_BLOCK_BYTES:
                raise MetadataError("avro_damaged", f"an array of {count} items")
            else:
                block(decoder, count)

    return skip


def _block_skipper(items: Any) -> Callable[[BinaryDecoder, int], object]:
    kinds = [field["type"] for field in items["fields"]] if isinstance(items, dict) and "fields" in items else [items]
    if all(kind in {"int", "long"} for kind in kinds if isinstance(kind, str)) and all(
        isinstance(k, str) for k in kinds
    ):
        width = len(kinds)
        return lambda decoder, count: decoder.read_ints(count * width)
    if kinds == ["int", "bytes"]:
        return lambda decoder, count: decoder.read_int_bytes_dict(count, {})
    return _each(skipper(items))


def _pair_skipper(value: Skip) -> Skip:
    def skip(decoder: BinaryDecoder) -> None:
        decoder.skip_utf8()
        value(decoder)

    return skip


def _each(item: Skip) -> Callable[[BinaryDecoder, int], object]:
    def skip(decoder: BinaryDecoder, count: int) -> None:
        for _ in range(count):
            item(decoder)

    return skip


def _nothing(_decoder: BinaryDecoder) -> None:
    return None


_PRIMITIVES: dict[str, tuple[Read, Skip]] = {
    "null": (_nothing, _nothing),
    "boolean": (lambda d: d.read_boolean(), lambda d: d.skip_boolean()),
    "int": (lambda d: d.read_int(), lambda d: d.skip_int()),
    "long": (lambda d: d.read_int(), lambda d: d.skip_int()),
    "enum": (lambda d: d.read_int(), lambda d: d.skip_int()),
    "float": (lambda d: d.read_float(), lambda d: d.skip_float()),
    "double": (lambda d: d.read_double(), lambda d: d.skip_double()),
    "bytes": (lambda d: d.read_bytes(), lambda d: d.skip_bytes()),
    "string": (lambda d: d.read_utf8(), lambda d: d.skip_utf8()),
}


def _varint(content: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if position >= len(content) or shift > 63:
            raise MetadataError("avro_damaged", "a block header ends early")
        byte = content[position]
        position += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return (value >> 1) ^ -(value & 1), position


def _decompress(codec: str, block: bytes) -> bytes:
    try:
        if codec == "null":
            return block
        if codec == "deflate":
            return _inflate(block)
        if codec == "snappy":
            return _unsnappy(block[:-4])
        if codec == "zstandard":
            with pa.CompressedInputStream(pa.BufferReader(block), "zstd") as stream:
                return bytes(stream.read())
    except (zlib.error, OSError, ValueError, pa.ArrowException) as error:
        raise MetadataError("avro_damaged", f"a block does not decompress: {error}") from error
    raise MetadataError("avro_codec_unknown", f"codec {codec!r} is not read")


def _inflate(block: bytes) -> bytes:
    inflater = zlib.decompressobj(-15)
    content = inflater.decompress(block, MAX_BLOCK_BYTES)
    if not inflater.eof:
        raise zlib.error("the stream is cut or too long")
    return content


def _unsnappy(block: bytes) -> bytes:
    """Raw snappy starts with the decompressed length as an unsigned varint, which Arrow wants to be told."""
    size = shift = 0
    for byte in block[:5]:
        size |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            break
    if size > MAX_BLOCK_BYTES:
        raise ValueError(f"a block of {size} bytes")
    return bytes(pa.Codec("snappy").decompress(block, decompressed_size=size))
