"""Damaged Avro: an answer or a MetadataError, never anything else; and an answer is the one that fastavro gives too."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from typing import Any

import pytest

import manifest_oracle
from avro_writer import SYNC, block, container, encoder, manifest_schema, random_entry, varint
from limnograph.adapters.avro.records import read_records
from limnograph.adapters.iceberg.manifests.lists import parse_manifest_list
from limnograph.adapters.iceberg.manifests.manifest import decode_manifest
from limnograph.domain.errors import MetadataError
from limnograph.domain.metadata.manifests import ManifestFile
from metadata_avro import container as list_container
from metadata_avro import list_schema

CASES = int(os.environ.get("LIMNOGRAPH_STEPS", "800"))
"""Mutations of each kind of file; three kinds and one codec more make the two thousand."""
DAY = {"type": "int", "logicalType": "date"}


def manifest(codec: str) -> bytes:
    rng = random.Random(11)
    schema = manifest_schema(3, [("day", DAY), ("region", "string")], null_last=True)
    rows = [random_entry(rng, {"day": rng.choice((1, 2, None)), "region": rng.choice(("eu", ""))}, 4) for _ in range(6)]
    table = json.dumps({"fields": [{"id": 1, "name": "c", "type": "binary"}]})
    return container(schema, map(encoder(schema), rows), codec, header={"schema": table}, block_bytes=700)


def manifest_list(codec: str) -> bytes:
    lines = [
        {
            **dict.fromkeys(("manifest_length", "partition_spec_id", "content", "sequence_number"), number),
            "manifest_path": f"s3://b/t/metadata/{number}.avro",
            "min_sequence_number": 1,
            "added_snapshot_id": 2**62 + number,
            **{name: number * 100 for names in manifest_oracle.COUNTS.values() for name in names[:1]},
        }
        for number in range(2)
    ] * 3
    return list_container(list_schema(2), lines, codec)


def mutated(content: bytes, rng: random.Random) -> bytes:
    """One to three changes, most of them behind the header."""
    out = bytearray(content)
    header = content.index(SYNC) if SYNC in content else len(content) // 2
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        at = rng.randrange(header if rng.random() < 0.75 else 0, max(len(out), header + 1)) % len(out)
        match rng.randrange(6):
            case 0:
                out[at] ^= 1 << rng.randrange(8)
            case 1:
                out[at] = rng.choice((0, 1, 2, 0x7F, 0x80, 0xFF))
            case 2:
                del out[at : at + rng.choice((1, 2, 9, 200))]
            case 3:
                out[at:at] = rng.randbytes(rng.choice((1, 4, 16)))
            case 4:
                out[at : at + 10] = varint(rng.choice((-1, 2**40, -(2**63), 2**63 - 1, 1 << 31)))
            case _:
                out[at : at + 8] = out[: rng.randrange(9)]
    return bytes(out)


def accepted(read: Callable[[bytes], Any], content: bytes) -> Any:
    """The answer; None for damage with a code. Anything else fails the test that asks."""
    try:
        return read(content)
    except MetadataError as error:
        assert error.code  # noqa: PT017 - both ends are allowed
        return None


def second_opinion(read: Callable[[bytes], Any], content: bytes) -> Any:
    """What fastavro says, None when it does not read the file: how it fails is its own affair."""
    try:
        return read(content)
    except Exception:  # noqa: BLE001
        return None


def sync(content: bytes) -> bytes:
    """The marker behind the header and every block."""
    return content[-16:]


@pytest.mark.parametrize("codec", ["null", "deflate"])
def test_a_damaged_manifest_is_refused_or_read_as_fastavro_reads_it(codec: str) -> None:
    good, rng, same = manifest(codec), random.Random(f"manifest {codec}"), 0
    for case in range(CASES):
        content = mutated(good, rng) if case else good
        found = accepted(lambda c: decode_manifest(c, ManifestFile(path="m"), bounds_of=1), content)
        theirs = second_opinion(lambda c: manifest_oracle.entries(c, 1), content)
        if found is None or theirs is None:
            continue
        assert found.records.tolist() == [one.records for one in theirs]
        assert found.size.tolist() == [one.size for one in theirs]
        assert found.status.tolist() == [one.status for one in theirs]
        assert found.content.tolist() == [one.content for one in theirs]
        same += 1
    assert same >= (CASES // 10 if codec == "null" else 1)


def test_a_damaged_manifest_list_is_refused_or_read_as_fastavro_reads_it() -> None:
    good, rng, same = manifest_list("null"), random.Random("list"), 0
    for case in range(CASES):
        content = mutated(good, rng) if case else good
        found = accepted(parse_manifest_list, content)
        theirs = second_opinion(manifest_oracle.lines, content)
        # A field whose name is damaged still has its id, which fastavro does not look at.
        if found is not None and theirs is not None and content.startswith(good[: good.index(b"\x00" + sync(good))]):
            assert found == theirs
            same += 1
    assert same > CASES // 20


@pytest.mark.parametrize("codec", ["zstandard", "snappy"])
def test_a_damaged_block_of_any_codec_is_refused_or_read(codec: str) -> None:
    good, rng = manifest(codec), random.Random(codec)
    for _ in range(CASES // 2):
        content = mutated(good, rng)
        accepted(lambda c: decode_manifest(c, ManifestFile(path="m"), bounds_of=None), content)
        accepted(read_records, content)


def crafted(body: bytes, records: int = 1, schema: Any = None) -> bytes:
    """A file of one uncompressed block by hand."""
    schema = manifest_schema(2) if schema is None else schema
    header = varint(1) + block(b"avro.schema") + block(json.dumps(schema).encode()) + b"\x00"
    return b"Obj\x01" + header + SYNC + varint(records) + varint(len(body)) + body + SYNC


NOTHING = {"type": "record", "name": "nothing", "fields": []}
ENDLESS = {"type": "array", "items": {"type": "array", "items": NOTHING}}
HOSTILE = {
    "items of no bytes": ({"name": "x", "type": {"type": "array", "items": "null"}}, varint(2**62) + b"\x00"),
    "empty records": ({"name": "x", "type": {"type": "array", "items": NOTHING}}, varint(2**40) + b"\x00"),
    "the least number": ({"name": "x", "type": {"type": "array", "items": "long"}}, varint(-(2**63)) + varint(1)),
    "many of few bytes": ({"name": "x", "type": {"type": "array", "items": "long"}}, varint(2**50) + b"\x00" * 50),
    "loops of loops": ({"name": "x", "type": ENDLESS}, (varint(2**30) * 2 + b"\x00") * 10),
    "a map without end": ({"name": "x", "type": {"type": "map", "values": NOTHING}}, varint(2**33) + b"\x00" * 90),
    "text of huge length": ({"name": "x", "type": "string"}, varint(2**62) + b"abc"),
    "negative length": ({"name": "x", "type": "bytes"}, varint(-5) + b"abc"),
    "huge fixed": ({"name": "x", "type": {"type": "fixed", "name": "f", "size": 2**30}}, b"abc"),
    "no such branch": ({"name": "x", "type": ["null", "long"]}, varint(2)),
    "no such branch of three": ({"name": "x", "type": ["null", "long", "string"]}, varint(-1)),
    "an endless number": ({"name": "x", "type": "long", "field-id": 0}, b"\xff" * 40),
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("read", ["manifest", "list", "records"])
def test_counts_and_lengths_that_lie_are_damage(name: str, read: str) -> None:
    field, body = HOSTILE[name]
    inner = {"name": "data_file", "type": NOTHING, "field-id": 2}
    schema = {"type": "record", "name": "r", "fields": [field, inner]}
    reader: Callable[[bytes], Any] = {
        "manifest": lambda c: decode_manifest(c, ManifestFile(path="m"), bounds_of=None),
        "list": parse_manifest_list,
        "records": read_records,
    }[read]
    with pytest.raises(MetadataError):
        reader(crafted(body, schema=schema))


def test_records_of_zero_bytes_cannot_inflate_the_count() -> None:
    file = crafted(b"", records=2**50, schema=NOTHING)
    for read in (parse_manifest_list, read_records):
        with pytest.raises(MetadataError):
            read(file)


@pytest.mark.parametrize("where", ["within the last block", "a byte more", "another file behind it"])
def test_bytes_after_the_end_are_damage(where: str) -> None:
    good = manifest("null")
    record = encoder(manifest_schema(2))(random_entry(random.Random(1), {}, 1))
    bad = {
        "within the last block": crafted(record + b"\x00"),
        "a byte more": good + b"\x00",
        "another file behind it": good + good,
    }[where]
    with pytest.raises(MetadataError) as damage:
        decode_manifest(bad, ManifestFile(path="m"), bounds_of=None)
    assert damage.value.code == "avro_damaged"


@pytest.mark.parametrize("codec", ["deflate", "zstandard", "snappy"])
def test_a_bomb_is_refused_before_it_is_decompressed(codec: str) -> None:
    huge = container(manifest_schema(2), [bytes(80 * 2**20)], codec)
    many = container(manifest_schema(2), [bytes(30 * 2**20)] * 5, codec, block_bytes=0)
    for bomb in (huge, many):
        for read in (read_records, lambda c: decode_manifest(c, ManifestFile(path="m"), bounds_of=None)):
            with pytest.raises(MetadataError):
                read(bomb)
    with pytest.raises(MetadataError) as refused:
        decode_manifest(huge, ManifestFile(path="m"), bounds_of=None)
    assert refused.value.code == "avro_too_large"


def test_a_wrong_checksum_is_damage() -> None:
    good = manifest("snappy")
    end = good.rindex(SYNC)
    with pytest.raises(MetadataError) as damage:
        decode_manifest(good[: end - 1] + b"?" + good[end:], ManifestFile(path="m"), bounds_of=None)
    assert "checksum" in str(damage.value)
