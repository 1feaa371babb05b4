"""metadata.json as engines write it and as nobody should: all versions, long histories, bombs, single wrong values."""

from __future__ import annotations

import gzip
import json
import zlib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from limnograph.adapters.iceberg.metadata.metadata import parse_metadata
from limnograph.domain.errors import MetadataError
from limnograph.domain.metadata.summary import WrittenSummary
from limnograph.domain.metadata.table import TableMetadata

FIELDS = [
    {"id": 1, "name": "id", "required": True, "type": "long"},
    {"id": 2, "name": "v", "required": False, "type": "variant"},
    {"id": 3, "name": "g", "required": False, "type": "geometry(srid:4326)"},
    {"id": 4, "name": "t", "required": False, "type": "timestamptz_ns", "initial-default": "2026-01-01T00:00:00+00:00"},
]


def snapshot(number: int, **more: Any) -> dict[str, Any]:
    return {
        "snapshot-id": 2**62 + number,
        "timestamp-ms": 1_790_000_000_000 + number,
        "sequence-number": number,
        "summary": {"operation": "append", "total-records": str(number)},
        "manifest-list": f"s3://b/t/metadata/snap-{number}.avro",
        "schema-id": 0,
        **more,
    }


def document(version: int = 2, snapshots: list[Any] | None = None, **more: Any) -> dict[str, Any]:
    found: dict[str, Any] = {
        "format-version": version,
        "table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1",
        "location": "s3://b/t",
        "last-updated-ms": 1_790_000_000_002,
        "last-column-id": 4,
        "current-schema-id": 0,
        "schemas": [{"type": "struct", "schema-id": 0, "fields": FIELDS}],
        "default-spec-id": 0,
        "partition-specs": [{"spec-id": 0, "fields": []}],
        "last-partition-id": 999,
        "default-sort-order-id": 0,
        "sort-orders": [{"order-id": 0, "fields": []}],
        "properties": {"write.format.default": "parquet"},
        "current-snapshot-id": 2**62 + 2,
        "snapshots": [snapshot(1), snapshot(2)] if snapshots is None else snapshots,
        "snapshot-log": [{"snapshot-id": 2**62 + 1, "timestamp-ms": 1_790_000_000_001}],
        "metadata-log": [{"metadata-file": "s3://b/t/metadata/1.json", "timestamp-ms": 1_790_000_000_001}],
    }
    if version > 1:
        found["last-sequence-number"] = 2
    if version > 2:
        found |= {"next-row-id": 77, "encryption-keys": [{"key-id": "k", "encrypted-key-metadata": "AA=="}]}
    return {**found, **more}


def parsed(found: Any, location: str = "x.metadata.json") -> TableMetadata:
    return parse_metadata(json.dumps(found).encode(), location)


def refused(content: bytes) -> str:
    with pytest.raises(MetadataError) as error:
        parse_metadata(content, "x")
    return error.value.code


@pytest.mark.parametrize("version", [1, 2, 3])
def test_every_format_version_is_recognised(version: int) -> None:
    more = {"first-row-id": 0, "added-rows": 7, "key-id": "k"} if version > 2 else {}
    metadata = parsed(
        document(version, [snapshot(1, **more), snapshot(2, **{"parent-snapshot-id": 2**62 + 1}, **more)])
    )
    head = metadata.snapshots[metadata.head_id or 0]
    assert (metadata.format_version, metadata.problems, head.parent_id) == (version, (), 2**62 + 1)
    assert (head.operation, head.summary) == ("append", {"operation": "append", "total-records": "2"})
    assert metadata.schemas[0]["fields"][1]["type"] == "variant"
    assert [entry.value for entry in metadata.snapshot_log] == [2**62 + 1]
    assert [entry.value for entry in metadata.metadata_log] == ["s3://b/t/metadata/1.json"]


def test_the_first_version_needs_neither_uuid_nor_lists() -> None:
    old = {
        "format-version": 1,
        "location": "s3://b/t",
        "schema": {"type": "struct", "fields": FIELDS[:1]},
        "partition-spec": [{"source-id": 1, "field-id": 1000, "name": "id", "transform": "identity"}],
        "current-snapshot-id": 5,
        "snapshots": [{"snapshot-id": 5, "timestamp-ms": 9, "manifests": ["s3://b/t/m1.avro", "s3://b/t/m2.avro"]}],
    }
    metadata = parsed(old)
    assert metadata.table_uuid.startswith("loc:")
    (only,) = metadata.snapshots.values()
    assert (only.manifests, only.manifest_list, only.summary) == (("s3://b/t/m1.avro", "s3://b/t/m2.avro"), None, None)
    assert (metadata.head_id, metadata.problems, list(metadata.specs)) == (5, (), [0])


@pytest.mark.parametrize("version", [0, 4, 99, -1, 2**40, "2", 2.0, None, True, [2]])
def test_another_format_version_is_not_supported(version: Any) -> None:
    assert refused(json.dumps(document(2, **{"format-version": version})).encode()) == "format_version_unsupported"


WRONG: list[Any] = [None, True, 1.5, -1, 2**70, "", "text", [], [1], {}, {"a": {"b": 1}}]


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from([*snapshot(1), "parent-snapshot-id", "manifests", "first-row-id"]),
    st.sampled_from(WRONG) | st.integers() | st.text(max_size=5),
)
def test_a_wrong_value_in_a_snapshot_affects_no_other(key: str, value: Any) -> None:
    metadata = parsed(document(2, [snapshot(1), snapshot(2, **{key: value}), snapshot(3)]))
    assert {2**62 + 1, 2**62 + 3} <= set(metadata.snapshots)
    third = metadata.snapshots[2**62 + 3]
    assert (third.sequence_number, third.summary) == (3, {"operation": "append", "total-records": "3"})


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(sorted(document(3))), st.sampled_from(WRONG))
def test_a_wrong_value_in_the_table_is_reported_or_refused_with_a_code(key: str, value: Any) -> None:
    try:
        metadata = parsed(document(3, **{key: value}))
    except MetadataError as error:
        assert error.code in {"metadata_unreadable", "format_version_unsupported"}  # noqa: PT017
    else:
        assert metadata.location


@pytest.mark.parametrize("items", [None, 7, "x", {}, [None, 5, "x", [], {}], [{"snapshot-id": "5"}]])
def test_malformed_snapshots_and_logs_are_left_out(items: Any) -> None:
    metadata = parsed({**document(), "snapshots": items, "snapshot-log": items, "metadata-log": items})
    assert (metadata.snapshots, metadata.snapshot_log, metadata.metadata_log) == ({}, (), ())


@pytest.mark.parametrize("items", [7, "x", {}, [None], [snapshot(1), {"snapshot-id": "5"}], [{}]])
def test_a_snapshot_is_never_left_out_in_silence(items: Any) -> None:
    metadata = parsed(document(2, items, **{"current-snapshot-id": None}))
    assert {problem.code for problem in metadata.problems} == {"metadata_incomplete"}
    assert parsed(document(2, [], **{"current-snapshot-id": None})).problems == ()


def test_an_invalid_number_is_reported() -> None:
    metadata = parsed(document(2, [snapshot(1), snapshot(2, **{"timestamp-ms": "soon"})]))
    assert [problem.detail for problem in metadata.problems] == ["timestamp-ms is not an integer"]
    assert metadata.snapshots[2**62 + 2].timestamp_ms is None


def test_a_summary_is_a_map_of_text_whatever_it_contains() -> None:
    content = json.dumps(document(2, [snapshot(1, summary={"operation": "append", "n": 5, "l": [1]})])).encode()
    summary = parse_metadata(content, "x").snapshots[2**62 + 1].summary
    assert summary == {"operation": "append", "n": "5", "l": "[1]"}
    broken = WrittenSummary(b'{"operation": "app\xffend"}')
    assert broken["operation"] == "app\N{REPLACEMENT CHARACTER}end"
    assert parsed(document(2, [snapshot(1, summary=None)])).snapshots[2**62 + 1].summary is None


@pytest.mark.parametrize("key", ["statistics", "partition-statistics", "unknown-of-tomorrow"])
def test_unread_fields_may_be_anything(key: str) -> None:
    assert parsed(document(3, **{key: [{"x": [1, {"y": None}]}]})).problems == ()


def test_gzip_of_several_members_and_zeros_behind_it_is_one_text() -> None:
    text = json.dumps(document()).encode()
    packed = gzip.compress(text[:100]) + gzip.compress(text[100:]) + bytes(5)
    assert parse_metadata(packed, "x").snapshots.keys() == parsed(document()).snapshots.keys()


@pytest.mark.parametrize("cut", [5, 20, 200, -1, -9])
def test_a_truncated_or_changed_gzip_is_unreadable(cut: int) -> None:
    packed = gzip.compress(json.dumps(document()).encode())
    assert refused(packed[:cut]) in {"metadata_unreadable", "file_too_large"}
    damaged = bytearray(packed)
    damaged[len(packed) // 2] ^= 0xFF
    assert refused(bytes(damaged)) == "metadata_unreadable"


def bomb(mebibytes: int, said: int | None = None) -> bytes:
    """gzip of so many mebibytes of blanks that says `said` as its length."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    packed = b"".join(packer.compress(b" " * 2**20) for _ in range(mebibytes)) + packer.flush()
    return packed if said is None else packed[:-4] + said.to_bytes(4, "little")


@pytest.mark.parametrize("said", [None, 10])
def test_a_bomb_is_refused_whether_or_not_it_declares_its_size(said: int | None) -> None:
    assert refused(bomb(64, said)) == "file_too_large"


@pytest.mark.parametrize("text", [b"[" * 200_000, b'{"a":' * 100_000, b'{"x":' + b"[" * 5_000 + b"]" * 5_000 + b"}"])
def test_deep_nesting_is_unreadable(text: bytes) -> None:
    assert refused(text) == "metadata_unreadable"


@pytest.mark.parametrize(
    "text", [b"", b"null", b"[]", b"7", b'"x"', b"{", b'{"format-version": 2', b"\xff\xfe", b"{}x"]
)
def test_a_document_that_is_not_an_object_is_unreadable(text: bytes) -> None:
    assert refused(text) == "metadata_unreadable"


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 10_000), st.binary(min_size=1, max_size=3))
def test_a_damaged_document_is_reported_or_refused(place: int, patch: bytes) -> None:
    content = bytearray(json.dumps(document()).encode())
    place %= len(content)
    content[place : place + len(patch)] = patch
    try:
        metadata = parse_metadata(bytes(content), "x")
    except MetadataError as error:
        assert error.code  # noqa: PT017 - both ends are allowed
    else:
        assert all(isinstance(dict(one.summary or {}), dict) for one in metadata.snapshots.values())
