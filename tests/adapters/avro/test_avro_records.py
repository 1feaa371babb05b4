"""The general reader of Avro: whatever fastavro writes comes back, and our own writer's codecs and layouts do."""

from __future__ import annotations

import io
from typing import Any

import fastavro
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from avro_writer import CODECS, container, encoder
from limnograph.adapters.avro.records import read_records
from limnograph.domain.errors import MetadataError

LEAF = {"type": "record", "name": "leaf", "namespace": "a.b", "fields": [{"name": "n", "type": ["null", "long"]}]}
SCHEMA: dict[str, Any] = {
    "type": "record",
    "name": "commit",
    "fields": [
        {"name": "text", "type": "string"},
        {"name": "maybe", "type": ["null", "string", "boolean", "double"]},
        {"name": "stats", "type": {"type": "map", "values": {"type": "array", "items": LEAF}}},
        {"name": "again", "type": ["null", "a.b.leaf"]},
        {"name": "kind", "type": {"type": "enum", "name": "kind", "symbols": ["COMMIT", "CLEAN", "ROLLBACK"]}},
        {"name": "small", "type": "int"},
        {"name": "ratio", "type": "float"},
        {"name": "raw", "type": "bytes"},
        {"name": "id", "type": {"type": "fixed", "name": "four", "size": 4}},
        {"name": "nothing", "type": "null"},
    ],
}
longs = st.integers(-(2**63), 2**63 - 1)
leaves = st.fixed_dictionaries({"n": st.none() | longs})
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
commits = st.fixed_dictionaries(
    {
        "text": texts,
        "maybe": st.none() | texts | st.booleans() | st.floats(allow_nan=False),
        "stats": st.dictionaries(texts, st.lists(leaves, max_size=5), max_size=5),
        "again": st.none() | leaves,
        "kind": st.sampled_from(["COMMIT", "CLEAN", "ROLLBACK"]),
        "small": st.integers(-(2**31), 2**31 - 1),
        "ratio": st.floats(width=32, allow_nan=False),
        "raw": st.binary(max_size=20),
        "id": st.binary(min_size=4, max_size=4),
        "nothing": st.none(),
    }
)


@settings(max_examples=150, deadline=None)
@given(st.lists(commits, max_size=8), st.sampled_from(["null", "deflate"]), st.integers(1, 400))
def test_files_written_by_fastavro_are_read_back(rows: list[dict[str, Any]], codec: Any, interval: int) -> None:
    stream = io.BytesIO()
    fastavro.writer(stream, SCHEMA, rows, codec=codec, sync_interval=interval)
    assert read_records(stream.getvalue()) == rows


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("block_bytes", [0, 200, 64_000])
@pytest.mark.parametrize("negative_counts", [False, True])
def test_every_codec_and_layout_is_read_back(codec: str, block_bytes: int, negative_counts: bool) -> None:
    row = {
        "text": "ü",
        "maybe": "x",
        "stats": {"one": [{"n": 1}, {"n": None}] * 5, "none": []},
        "again": {"n": -7},
        "kind": "CLEAN",
        "small": -1,
        "ratio": 0.5,
        "raw": b"\x00\xff",
        "id": b"abcd",
        "nothing": None,
    }
    encode = encoder(_written_out(SCHEMA), negative_counts=negative_counts)
    assert read_records(container(SCHEMA, [encode(row)] * 30, codec, block_bytes=block_bytes)) == [row] * 30


def _written_out(schema: dict[str, Any]) -> dict[str, Any]:
    """The writer of the tests knows no names."""
    fields = [{**f, "type": ["null", LEAF]} if f["name"] == "again" else f for f in schema["fields"]]
    return {**schema, "fields": fields}


def test_a_file_with_only_a_header_has_no_records() -> None:
    assert read_records(container(SCHEMA, [])) == []


@pytest.mark.parametrize("content", [b"", b"Obj", b"Obj\x01", b"Obj\x01\x00" + b"s" * 16, b"Obj\x01\x02\x02a"])
def test_an_invalid_header_is_damage(content: bytes) -> None:
    with pytest.raises(MetadataError) as damage:
        read_records(content)
    assert damage.value.code == "avro_damaged"


def test_a_recursive_type_is_damage_and_no_endless_loop() -> None:
    tree = {"type": "record", "name": "tree", "fields": [{"name": "more", "type": {"type": "array", "items": "tree"}}]}
    with pytest.raises(MetadataError):
        read_records(container(tree, [b"\x00"]))
