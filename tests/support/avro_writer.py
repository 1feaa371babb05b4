"""Our own Avro writer for tests and benchmarks: any schema, every codec, both block layouts, manifests of any version.

Nothing is shared with the reader, so that a mistake in one is no mistake in the other.
"""

from __future__ import annotations

import json
import random
import struct
import zlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pyarrow as pa
import zstandard

Encode = Callable[[Any], bytes]
SYNC = b"limnograph--sync"
CODECS = ("null", "deflate", "zstandard", "snappy")
JAVA_BLOCK_BYTES = 64_000


def varint(value: int) -> bytes:
    """A zigzag number."""
    value, out = ((value << 1) ^ (value >> 63)) & 0xFFFF_FFFF_FFFF_FFFF, bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def block(value: bytes) -> bytes:
    """Bytes with their length."""
    return varint(len(value)) + value


def compress(codec: str, body: bytes) -> bytes:
    """One block as the codec wants it."""
    match codec:
        case "deflate":
            packer = zlib.compressobj(6, zlib.DEFLATED, -15)
            return packer.compress(body) + packer.flush()
        case "zstandard":
            return zstandard.compress(body)
        case "snappy":
            return pa.Codec("snappy").compress(body, asbytes=True) + struct.pack(">I", zlib.crc32(body))
    return body


def container(
    schema: Any,
    records: Iterable[bytes],
    codec: str = "deflate",
    *,
    header: dict[str, str] | None = None,
    block_bytes: int = JAVA_BLOCK_BYTES,
    pack: Callable[[str, bytes], bytes] = compress,
) -> bytes:
    """A file of encoded records. `block_bytes` 0: a block for each record, as PyIceberg writes manifests."""
    entries = {"avro.schema": json.dumps(schema), "avro.codec": codec, **(header or {})}
    listed = b"".join(block(key.encode()) + block(value.encode()) for key, value in entries.items())
    out = [b"Obj\x01" + varint(len(entries)) + listed + b"\x00" + SYNC]
    held: list[bytes] = []
    size = 0

    def flush() -> None:
        packed = pack(codec, b"".join(held))
        out.extend((varint(len(held)), varint(len(packed)), packed, SYNC))

    for record in records:
        held.append(record)
        size += len(record)
        if size > block_bytes:
            flush()
            held, size = [], 0
    if held:
        flush()
    return b"".join(out)


def encoder(kind: Any, *, negative_counts: bool = False) -> Encode:
    """Encodes values of a type. `negative_counts`: blocks of arrays and maps say their size, as some writers do."""
    name = kind["type"] if isinstance(kind, dict) else kind
    again = lambda inner: encoder(inner, negative_counts=negative_counts)  # noqa: E731
    if isinstance(kind, list):
        return _union(kind, [again(branch) for branch in kind])
    if isinstance(name, dict | list):
        return again(name)
    if name == "record":
        fields = [(field["name"], again(field["type"])) for field in kind["fields"]]
        return lambda value: b"".join([encode(value[key]) for key, encode in fields])
    if name == "array":
        item = again(kind["items"])
        return lambda value: _blocks([item(one) for one in value], negative_counts)
    if name == "map":
        inner = again(kind["values"])
        return lambda value: _blocks([block(k.encode()) + inner(v) for k, v in value.items()], negative_counts)
    if name == "enum":
        return lambda value: varint(kind["symbols"].index(value))
    return _PRIMITIVES[name]


def _union(branches: list[Any], encoders: list[Encode]) -> Encode:
    null = branches.index("null") if "null" in branches else None
    rest = next(index for index in range(len(branches)) if index != null)
    return lambda value: varint(null) if value is None and null is not None else varint(rest) + encoders[rest](value)


def _blocks(items: list[bytes], negative: bool) -> bytes:
    """Two blocks where there are enough items."""
    out = b""
    middle = len(items) // 2 if len(items) > 3 else 0
    for part in (items[:middle], items[middle:]):
        body = b"".join(part)
        if part:
            out += (varint(-len(part)) + varint(len(body)) if negative else varint(len(part))) + body
    return out + b"\x00"


_PRIMITIVES: dict[str, Encode] = {
    "null": lambda _value: b"",
    "boolean": lambda value: b"\x01" if value else b"\x00",
    "int": varint,
    "long": varint,
    "float": lambda value: struct.pack("<f", value),
    "double": lambda value: struct.pack("<d", value),
    "bytes": block,
    "string": lambda value: block(value.encode()),
    "fixed": lambda value: value,
}


# Iceberg -------------------------------------------------------------------------------------------------------------


def optional(kind: Any, *, null_last: bool = False) -> list[Any]:
    """A union with null."""
    return [kind, "null"] if null_last else ["null", kind]


def keyed(name: str, key_id: int, value: str) -> dict[str, Any]:
    """A map of Iceberg statistics: an array of keys and values."""
    fields = [
        {"name": "key", "type": "int", "field-id": key_id},
        {"name": "value", "type": value, "field-id": key_id + 1},
    ]
    record = {"type": "record", "name": f"k{key_id}_v{key_id + 1}", "fields": fields}
    return {"type": "array", "items": record, "logicalType": "map", "field-name": name}


def manifest_schema(
    version: int = 2,
    partition: Sequence[tuple[str, Any]] = (),
    *,
    null_last: bool = False,
    shuffle: int | None = None,
) -> dict[str, Any]:
    """Schema of a manifest of a format version. `shuffle`: a seed for another order of the fields."""
    maybe = lambda kind: optional(kind, null_last=null_last)  # noqa: E731
    parts = [{"name": n, "type": maybe(kind), "field-id": 1000 + i} for i, (n, kind) in enumerate(partition)]
    file = [
        ("content", "int", 134) if version > 1 else None,
        ("file_path", "string", 100),
        ("file_format", "string", 101),
        ("partition", {"type": "record", "name": "r102", "fields": parts}, 102),
        ("record_count", "long", 103),
        ("file_size_in_bytes", "long", 104),
        ("block_size_in_bytes", "long", 105) if version == 1 else None,
        ("column_sizes", maybe(keyed("column_sizes", 117, "long")), 108),
        ("value_counts", maybe(keyed("value_counts", 119, "long")), 109),
        ("null_value_counts", maybe(keyed("null_value_counts", 121, "long")), 110),
        ("nan_value_counts", maybe(keyed("nan_value_counts", 138, "long")), 137),
        ("lower_bounds", maybe(keyed("lower_bounds", 126, "bytes")), 125),
        ("upper_bounds", maybe(keyed("upper_bounds", 129, "bytes")), 128),
        ("key_metadata", maybe("bytes"), 131),
        ("split_offsets", maybe({"type": "array", "items": "long", "element-id": 133}), 132),
        ("equality_ids", maybe({"type": "array", "items": "int", "element-id": 136}), 135) if version > 1 else None,
        ("sort_order_id", maybe("int"), 140),
        ("first_row_id", maybe("long"), 142) if version > 2 else None,
        ("referenced_data_file", maybe("string"), 143) if version > 1 else None,
        ("content_offset", maybe("long"), 144) if version > 2 else None,
        ("content_size_in_bytes", maybe("long"), 145) if version > 2 else None,
    ]
    entry = [
        ("status", "int", 0),
        ("snapshot_id", maybe("long"), 1) if version > 1 else ("snapshot_id", "long", 1),
        ("sequence_number", maybe("long"), 3) if version > 1 else None,
        ("file_sequence_number", maybe("long"), 4) if version > 1 else None,
        ("data_file", {"type": "record", "name": "r2", "fields": _fields(file, shuffle)}, 2),
    ]
    return {"type": "record", "name": "manifest_entry", "fields": _fields(entry, shuffle)}


def _fields(described: list[tuple[str, Any, int] | None], shuffle: int | None) -> list[dict[str, Any]]:
    found = [{"name": one[0], "type": one[1], "field-id": one[2]} for one in described if one is not None]
    if shuffle is not None:
        random.Random(shuffle).shuffle(found)
    return found


def random_entry(rng: random.Random, partition: dict[str, Any], columns: int) -> dict[str, Any]:
    """An entry with all fields of all versions; statistics of `columns` columns, sometimes none at all."""
    maybe = lambda value: None if rng.random() < 0.2 else value  # noqa: E731

    def numbers():
        return maybe([{"key": i, "value": rng.getrandbits(rng.choice((6, 20, 40)))} for i in range(1, columns + 1)])

    def bounds():
        return maybe([{"key": i, "value": rng.randbytes(rng.choice((8, 8, 4, 16, 0)))} for i in range(1, columns + 1)])

    content = rng.choice((0, 0, 0, 1, 2))
    file = {
        "content": content,
        "file_path": f"s3://b/t/data/{rng.getrandbits(128):032x}.parquet",
        "file_format": rng.choice(("PARQUET", "puffin", "PUFFIN", "orc", "avro")),
        "partition": partition,
        "record_count": rng.getrandbits(rng.choice((5, 20, 40))),
        "file_size_in_bytes": rng.getrandbits(rng.choice((10, 30, 45))),
        "block_size_in_bytes": 64 * 2**20,
        "column_sizes": numbers(),
        "value_counts": numbers(),
        "null_value_counts": numbers(),
        "nan_value_counts": maybe([]),
        "lower_bounds": bounds(),
        "upper_bounds": bounds(),
        "key_metadata": maybe(rng.randbytes(5)),
        "split_offsets": maybe([4, rng.getrandbits(30)]),
        "equality_ids": maybe([1, 2]),
        "sort_order_id": maybe(rng.randrange(3)),
        "first_row_id": maybe(rng.getrandbits(40)),
        "referenced_data_file": maybe("s3://b/t/data/x.parquet"),
        "content_offset": maybe(4),
        "content_size_in_bytes": maybe(rng.getrandbits(12)),
    }
    return {
        "status": rng.randrange(3),
        "snapshot_id": rng.getrandbits(63),
        "sequence_number": maybe(rng.getrandbits(20)),
        "file_sequence_number": maybe(rng.getrandbits(20)),
        "data_file": file,
    }
