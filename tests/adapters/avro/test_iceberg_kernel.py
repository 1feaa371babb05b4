"""The kernel against fastavro and PyIceberg: every layout, codec, version and field order gives the same entries."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.manifest import ManifestFile as TheirManifest
from pyiceberg.manifest import read_manifest_list

import manifest_oracle
from avro_writer import CODECS, JAVA_BLOCK_BYTES, container, encoder, manifest_schema, random_entry
from limnograph.adapters.iceberg.manifests.entries import Entries
from limnograph.adapters.iceberg.manifests.lists import parse_manifest_list
from limnograph.adapters.iceberg.manifests.manifest import decode_manifest
from limnograph.domain.errors import MetadataError
from limnograph.domain.metadata.manifests import ManifestFile

CORPORA = Path(os.environ.get("LIMNOGRAPH_CORPORA") or Path(__file__).parents[3] / "../shared/corpora")
REAL = sorted((CORPORA / "iceberg").rglob("*.avro"))
TYPES = ("long", "int", "double", "string", "decimal(9, 2)", "boolean", "float", "binary", "uuid", "timestamptz", "odd")
TABLE = json.dumps({"fields": [{"id": i + 1, "name": f"c{i}", "type": kind} for i, kind in enumerate(TYPES)]})
DAY = {"type": "int", "logicalType": "date"}
PARTITIONS: list[list[tuple[str, Any, list[Any]]]] = [
    [],
    [("region", "string", ["eu", "us", None, ""])],
    [("day", DAY, [0, 20_000, None]), ("bucket", "int", [0, 1, 2])],
    [("f", {"type": "fixed", "name": "f4", "size": 4}, [b"abcd", b"\0\0\0\0", None])],
    [("d", "double", [1.5, -0.0, 0.0, None]), ("ok", "boolean", [True, False, None])],
]


def same(found: Entries, expected: list[manifest_oracle.Entry]) -> None:
    assert found.status.tolist() == [one.status for one in expected]
    assert found.content.tolist() == [one.content for one in expected]
    assert found.is_dv.tolist() == [one.is_dv for one in expected]
    assert found.snapshot.tolist() == [one.snapshot for one in expected]
    assert found.records.tolist() == [one.records for one in expected]
    assert found.size.tolist() == [one.size for one in expected]
    texts: dict[str, str] = {}
    for number, one in zip(found.partition.tolist(), expected, strict=True):
        assert texts.setdefault(found.partitions[number], repr(one.partition)) == repr(one.partition)
    assert len(set(texts.values())) == len(texts)
    if found.bounds is not None:
        assert found.bounds.lower.listed() == [one.lower for one in expected]
        assert found.bounds.upper.listed() == [one.upper for one in expected]


def decoded(content: bytes, bounds_of: int | None = None) -> Entries:
    return decode_manifest(content, ManifestFile(path="m"), bounds_of=bounds_of)


@pytest.mark.skipif(not REAL, reason="no corpora beside the checkout (LIMNOGRAPH_CORPORA)")
def test_every_manifest_and_list_of_real_tables_reads_as_fastavro_and_pyiceberg_read_it() -> None:
    lists = manifests = 0
    for path in REAL:
        content = path.read_bytes()
        if "manifest_path" in manifest_oracle.records(content)[0]:
            lists += 1
            assert parse_manifest_list(content) == manifest_oracle.lines(content)
            theirs = list(read_manifest_list(PyArrowFileIO().new_input(str(path))))
            assert [(t.manifest_path, t.added_files_count, t.added_rows_count) for t in theirs] == [
                (line.path, line.added_files, line.added_rows) for line in parse_manifest_list(content)
            ]
            continue
        manifests += 1
        for field_id in (None, 1, 2, 3):
            same(decoded(content, field_id), manifest_oracle.entries(content, field_id))
        read = TheirManifest.from_args(manifest_path=str(path), partition_spec_id=0, content=0, sequence_number=1)
        theirs = read.fetch_manifest_entry(PyArrowFileIO(), discard_deleted=False)
        found = decoded(content)
        assert [(e.status.value, e.data_file.record_count) for e in theirs] == list(
            zip(found.status.tolist(), found.records.tolist(), strict=True)
        )
    assert lists
    assert manifests


def written(seed: int, entries: int, columns: int, codec: str, **how: Any) -> bytes:
    """A manifest of random entries; `how`: version, null_last, shuffle, block_bytes, negative_counts, partition."""
    rng = random.Random(seed)
    partition = how.get("partition", [])
    schema = manifest_schema(
        how.get("version", 2),
        [(name, kind) for name, kind, _ in partition],
        null_last=how.get("null_last", False),
        shuffle=how.get("shuffle"),
    )
    encode = encoder(schema, negative_counts=how.get("negative_counts", False))
    rows = (
        random_entry(rng, {name: rng.choice(values) for name, _, values in partition}, columns) for _ in range(entries)
    )
    header = {"schema": TABLE, "partition-spec": "[]"}
    block_bytes = how.get("block_bytes", JAVA_BLOCK_BYTES)
    return container(schema, (encode(row) for row in rows), codec, header=header, block_bytes=block_bytes)


@pytest.mark.parametrize("block_bytes", [JAVA_BLOCK_BYTES, 0], ids=["many a block", "one a block"])
@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("columns", [5, 20, 100])
def test_codecs_and_block_layouts_read_the_same(codec: str, columns: int, block_bytes: int) -> None:
    how: dict[str, Any] = {"partition": PARTITIONS[2], "version": 3}
    plain = written(3, 120, columns, "null", **how)
    expected = manifest_oracle.entries(plain, 1)
    assert len(expected) == 120
    same(decoded(written(3, 120, columns, codec, block_bytes=block_bytes, **how), 1), expected)


@pytest.mark.parametrize("version", [1, 2, 3])
@pytest.mark.parametrize("partition", PARTITIONS, ids=range(len(PARTITIONS)))
def test_every_version_partition_and_column_type_reads_the_same(version: int, partition: Any) -> None:
    content = written(version, 60, len(TYPES), "deflate", version=version, partition=partition)
    for field_id in (None, *range(1, len(TYPES) + 2)):
        same(decoded(content, field_id), manifest_oracle.entries(content, field_id))


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    entries=st.integers(0, 40),
    columns=st.integers(0, 12),
    codec=st.sampled_from(["null", "deflate"]),
    version=st.integers(1, 3),
    null_last=st.booleans(),
    shuffle=st.none() | st.integers(0, 1000),
    negative_counts=st.booleans(),
    partition=st.sampled_from(PARTITIONS),
    block_bytes=st.sampled_from([0, 500, JAVA_BLOCK_BYTES]),
    bounds_of=st.none() | st.integers(1, 13),
)
def test_every_allowed_choice_of_a_writer_reads_the_same(
    seed: int, entries: int, columns: int, codec: str, bounds_of: int | None, **how: Any
) -> None:
    content = written(seed, entries, columns, codec, **how)
    same(decoded(content, bounds_of), manifest_oracle.entries(content, bounds_of))


def test_fields_without_ids_are_found_by_name() -> None:
    schema = manifest_schema(2, [("region", "string")])
    rng = random.Random(1)
    rows = [encoder(schema)(random_entry(rng, {"region": "eu"}, 3)) for _ in range(5)]
    bare = json.loads(json.dumps(schema), object_hook=lambda one: {k: v for k, v in one.items() if k != "field-id"})
    named, by_id = (container(s, rows, header={"schema": TABLE}) for s in (bare, schema))
    same(decoded(named, 1), manifest_oracle.entries(by_id, 1))
    assert decoded(named).partitions == ["region=eu"]


def test_a_value_may_precede_its_key_and_a_key_may_repeat() -> None:
    rng = random.Random(4)
    rows = [random_entry(rng, {}, 5) for _ in range(20)]
    rows[0]["data_file"]["lower_bounds"] = [{"key": 1, "value": b"first"}, {"key": 1, "value": b"second"}]
    straight = manifest_schema(2)
    turned = json.loads(json.dumps(straight), object_hook=_turned)
    assert turned != straight
    header = {"schema": TABLE.replace('"long"', '"binary"')}
    for schema in (straight, turned):
        content = container(schema, map(encoder(schema), rows), header=header)
        same(decoded(content, 1), manifest_oracle.entries(content, 1))
        assert (found := decoded(content, 1).bounds)
        assert found.lower.listed()[0] == b"first"


def _turned(one: dict[str, Any]) -> dict[str, Any]:
    """A record of a key and a value, with the value first."""
    if [field.get("name") for field in one.get("fields", [])] == ["key", "value"]:
        return {**one, "fields": one["fields"][::-1]}
    return one


def test_a_partition_is_listed_once_for_any_number_of_chunks() -> None:
    content = written(5, 4_000, 20, "deflate", partition=PARTITIONS[2])
    found = decoded(content)
    assert sorted(found.partitions) == sorted(set(found.partitions))
    assert len(found.partitions) == 9
    same(found, manifest_oracle.entries(content))


@pytest.mark.parametrize("field", ["record_count", "file_size_in_bytes", "status", "content"])
@pytest.mark.parametrize("value", [-1, 2**51, -(2**63)])
def test_impossible_numbers_are_damage_of_the_manifest(field: str, value: int) -> None:
    schema = manifest_schema(2)
    row = random_entry(random.Random(2), {}, 1)
    (row if field == "status" else row["data_file"])[field] = value
    with pytest.raises(MetadataError) as damage:
        decoded(container(schema, [encoder(schema)(row)]))
    assert damage.value.code == "manifest_implausible"


def test_entries_of_a_delete_manifest_are_deletes_and_inherit_its_snapshot() -> None:
    schema = manifest_schema(2)
    row = random_entry(random.Random(2), {}, 1)
    row["snapshot_id"] = None
    row["data_file"]["content"] = 0
    content = container(schema, [encoder(schema)(row)])
    found = decode_manifest(content, ManifestFile(path="m", deletes=True, added_snapshot_id=77), bounds_of=None)
    assert (found.content.tolist(), found.snapshot.tolist()) == ([1], [77])
    assert decoded(content).snapshot.tolist() == [-1]
