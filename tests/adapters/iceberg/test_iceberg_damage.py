"""Unusual and damaged files of other writers: read by the specification, or damage with a code. Never a crash."""

from __future__ import annotations

import json
import struct
from typing import Any

import pytest

from avro_writer import varint
from lakes import Lake, facts, fresh_reader, path_of, rewrite_metadata, rows
from limnograph.adapters.avro.records import read_records
from limnograph.adapters.iceberg.manifests.lists import parse_manifest_list
from limnograph.adapters.iceberg.manifests.manifest import decode_manifest
from limnograph.adapters.iceberg.metadata.metadata import parse_metadata
from limnograph.adapters.meta.schema import arrow_table
from limnograph.domain.errors import MetadataError
from limnograph.domain.facts.meta_tables import SNAPSHOTS
from limnograph.domain.metadata.manifests import ManifestFile


def text(value: str) -> bytes:
    return varint(len(value.encode())) + value.encode()


def avro(schema: Any, *records: bytes, header: dict[str, str] | None = None) -> bytes:
    """An uncompressed Avro file by hand: one block."""
    entries = {"avro.schema": json.dumps(schema), **(header or {})}
    listed = b"".join(text(key) + text(value) for key, value in entries.items())
    body, sync = b"".join(records), b"0123456789abcdef"
    return (
        b"Obj\x01" + varint(len(entries)) + listed + b"\x00" + sync + varint(len(records)) + varint(len(body)) + body
    ) + sync


def record(name: str, *fields: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": list(fields), **more}


UUID = {"type": "fixed", "name": "uuid_fixed", "size": 16, "logicalType": "uuid"}
DECIMAL = {"type": "fixed", "name": "decimal_9_2", "size": 4, "logicalType": "decimal", "precision": 9, "scale": 2}


def manifest(*partition: Any) -> dict[str, Any]:
    """Schema of a manifest whose partition fields `p0`, `p1` … have the given types."""
    fields = [{"name": f"p{i}", "type": ["null", kind], "field-id": 1000 + i} for i, kind in enumerate(partition)]
    data_file = record(
        "r2",
        {"name": "partition", "type": record("r102", *fields), "field-id": 102},
        {"name": "record_count", "type": "long", "field-id": 103},
        {"name": "file_size_in_bytes", "type": "long", "field-id": 104},
    )
    return record(
        "manifest_entry",
        {"name": "status", "type": "int", "field-id": 0},
        {"name": "snapshot_id", "type": ["null", "long"], "field-id": 1},
        {"name": "data_file", "type": data_file, "field-id": 2},
    )


def entry(*partition: bytes, records: int = 5, size: int = 100) -> bytes:
    values = b"".join(varint(1) + value for value in partition)
    return varint(1) + varint(1) + varint(7) + values + varint(records) + varint(size)


def partitions(file: bytes) -> list[str]:
    return decode_manifest(file, ManifestFile(path="m"), bounds_of=None).partitions


def test_a_type_repeated_by_name_is_resolved() -> None:
    file = avro(manifest(UUID, "uuid_fixed"), entry(bytes(15) + b"\x01", bytes(15) + b"\x02"))
    assert partitions(file) == ["p0=00000000-0000-0000-0000-000000000001/p1=00000000-0000-0000-0000-000000000002"]
    file = avro(manifest(DECIMAL, "decimal_9_2"), entry(struct.pack(">i", 150), struct.pack(">i", -25)))
    assert partitions(file) == ["p0=1.50/p1=-0.25"]


def test_names_are_resolved_in_their_namespace() -> None:
    inner = {"type": "fixed", "name": "f", "namespace": "a.b", "size": 2}
    schema = record(
        "x.y.outer",
        {"name": "one", "type": inner, "field-id": 1},
        {"name": "two", "type": "a.b.f", "field-id": 2},
        {"name": "three", "type": record("in", {"name": "z", "type": {"type": "enum", "name": "e", "symbols": ["A"]}})},
        {"name": "four", "type": {"type": "array", "items": "e"}, "field-id": 4},
        {"name": "five", "type": {"type": "map", "values": ["null", "x.y.in"]}},
        {"name": "six", "type": {"type": "a.b.f"}, "field-id": 6},
    )
    content = b"ab" + b"cd" + varint(0) + varint(1) + varint(0) + b"\x00" + b"\x00" + b"ef"
    (found,) = read_records(avro(schema, content))
    assert list(found.values()) == [b"ab", b"cd", {"z": "A"}, ["A"], {}, b"ef"]


NESTED: Any = "long"
for _depth in range(450):
    NESTED = {"type": "array", "items": NESTED}
LAUGHS = [{"name": "f0", "type": record("r0", {"name": "x", "type": "int"})}] + [
    {"name": f"f{i}", "type": record(f"r{i}", *({"name": n, "type": f"r{i - 1}"} for n in "abcd"))}
    for i in range(1, 40)
]
SCHEMAS: list[Any] = [
    *("int", [1], None, 7, {}, [], "nobody", {"type": "record"}, {"type": "record", "fields": 3}),
    *({"type": "record", "name": "r", "fields": [field]} for field in (1, {}, {"name": "x"}, {"type": "int"})),
    record("r", {"name": "data_file", "type": "int", "field-id": 2}),
    record("r", {"name": "x", "type": "nobody"}),
    record("r", {"name": "x", "type": ["null", "r"]}),
    record("r", {"name": "x", "type": {"type": "fixed", "name": "f", "size": "big"}, "field-id": 500}),
    record("r", {"name": "x", "type": {"type": {"type": None}}}),
    record("r", {"name": "x", "type": NESTED}),
    record("r", *LAUGHS),
    {**manifest(), "wanted": 5},
    manifest({"type": "fixed", "name": "f", "size": -1}),
    manifest({"type": "bytes", "logicalType": "decimal", "scale": "x"}),
]


@pytest.mark.parametrize("schema", SCHEMAS, ids=range(len(SCHEMAS)))
def test_any_schema_is_read_or_is_damage(schema: Any) -> None:
    for content in (avro(schema), avro(schema, entry(b"abcd")), avro(schema, b"\x02" * 40)):
        for read in (parse_manifest_list, partitions):
            try:
                read(content)
            except MetadataError as error:
                assert error.code  # noqa: PT017 - both ends are allowed


def test_impossible_counts_are_damage_and_a_wrong_length_is_unknown() -> None:
    schema = record(
        "manifest_file",
        {"name": "manifest_path", "type": "string", "field-id": 500},
        {"name": "manifest_length", "type": "long", "field-id": 501},
        {"name": "partition_spec_id", "type": "long", "field-id": 502},
        {"name": "added_rows_count", "type": "long", "field-id": 512},
    )
    (line,) = parse_manifest_list(avro(schema, text("m") + varint(-5) + varint(1) + varint(9)))
    assert (line.length, line.spec_id, line.added_rows) == (None, 1, 9)
    for spec_id, added in ((2**40, 1), (-1, 1), (0, 2**62), (0, -1)):
        with pytest.raises(MetadataError) as damage:
            parse_manifest_list(avro(schema, text("m") + varint(5) + varint(spec_id) + varint(added)))
        assert damage.value.code == "manifest_list_implausible"
    with pytest.raises(MetadataError) as damage:
        partitions(avro(manifest(), entry(records=2**62)))
    assert damage.value.code == "manifest_implausible"


@pytest.mark.parametrize("size", ["9" * 31, "9" * 5_000, "-1", "0", str(2**50 + 1), "1e6", ""])
def test_an_invalid_target_size_is_unknown(lake: Lake, size: str) -> None:
    table = lake.table()
    table.append(rows("eu"))
    named = {"write.target-file-size-bytes": size}
    (fact,) = facts(rewrite_metadata(table, lambda document: document.update(properties=named)))
    assert (fact.target_file_bytes, fact.small_files, fact.total_data_files) == (None, None, 1)
    assert arrow_table(SNAPSHOTS, [fact]).num_rows == 1


def in_snapshots(key: str, value: int) -> Any:
    return lambda document: [snapshot.update({key: value}) for snapshot in document["snapshots"]]


@pytest.mark.parametrize(
    "change",
    [
        *(in_snapshots("timestamp-ms", at) for at in (2**62, -(2**62), 2**63 // 1000, 10**30)),
        *(in_snapshots("schema-id", number) for number in (2**40, -(2**40), 2**31)),
        in_snapshots("parent-snapshot-id", 2**63),
        *(lambda d, k=key: d.update({k: 2**40}) for key in ("default-spec-id", "default-sort-order-id")),
        lambda d: d.update({"current-schema-id": 2**40}),
        lambda d: d.update({"last-updated-ms": 2**62}),
        lambda d: d["snapshot-log"][0].update({"timestamp-ms": 2**62}),
        lambda d: d["metadata-log"][0].update({"timestamp-ms": 2**62}),
        lambda d: d["schemas"][0].update({"schema-id": 2**40}),
    ],
)
def test_a_number_beyond_its_column_is_unknown_and_a_problem(lake: Lake, change: Any) -> None:
    table = lake.table()
    table.append(rows("eu"))
    location = rewrite_metadata(table, change)
    assert "metadata_incomplete" in {problem.code for problem in fresh_reader().metadata(location).problems}
    found = facts(location)
    assert [fact.total_data_files for fact in found] == [1]
    assert arrow_table(SNAPSHOTS, found).num_rows == 1


@pytest.mark.parametrize("key", ["snapshot-id", "sequence-number"])
def test_a_snapshot_without_a_place_in_the_history_is_left_out(lake: Lake, key: str) -> None:
    table = lake.table()
    table.append(rows("eu"))
    table.append(rows("eu"))
    location = rewrite_metadata(table, lambda document: document["snapshots"][0].update({key: 2**63}))
    metadata = fresh_reader().metadata(location)
    assert list(metadata.snapshots) == [table.metadata.current_snapshot_id]
    assert "metadata_incomplete" in {problem.code for problem in metadata.problems}


def test_an_id_out_of_range_hides_no_other(lake: Lake) -> None:
    table = lake.table()
    document = json.loads(path_of(table.metadata_location).read_text())
    document["schemas"].append({"type": "struct", "fields": [], "schema-id": 2**40})
    metadata = parse_metadata(json.dumps(document).encode(), "x")
    assert list(metadata.schemas) == [0]
    assert metadata.current_schema_id == 0
