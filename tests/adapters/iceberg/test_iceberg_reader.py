"""The lenient reader: codecs, gzip, v1, damage, locations. Damage is an error with a code, never a crash."""

from __future__ import annotations

import gzip
import json
import struct
import zlib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from avro_writer import varint
from lakes import Lake, fresh_reader, path_of, rewrite_metadata, rows
from limnograph.adapters.avro.columns import read_chunks
from limnograph.adapters.avro.container import open_container, parse_schema
from limnograph.adapters.avro.plan import WantedField, compile_plan
from limnograph.adapters.avro.records import read_records
from limnograph.adapters.iceberg.catalogs.catalog import names_of, observed_catalog, open_catalog
from limnograph.adapters.iceberg.metadata.locate import newest_metadata
from limnograph.adapters.iceberg.metadata.metadata import parse_metadata
from limnograph.adapters.storage.files import FileStorage
from limnograph.domain.errors import InvalidInput, MetadataError, SettingsError, SourceError, SourceUnavailable
from limnograph.domain.facts.meta_tables import META_TABLES

MINIMAL = {
    "format-version": 1,
    "location": "s3://b/t",
    "schema": {"type": "struct", "fields": []},
    "partition-spec": [],
}


def text(value: str) -> bytes:
    return varint(len(value.encode())) + value.encode()


def container(codec: str, records: list[bytes], schema: dict[str, Any]) -> bytes:
    """An Avro file by hand: one block."""
    body = b"".join(records)
    packed = {
        "null": lambda: body,
        "deflate": lambda: zlib.compress(body)[2:-4],
        "zstandard": lambda: zstandard.compress(body),
        "snappy": lambda: pa.Codec("snappy").compress(body, asbytes=True) + struct.pack(">I", zlib.crc32(body)),
    }[codec]()
    header = varint(2) + text("avro.schema") + text(json.dumps(schema)) + text("avro.codec") + text(codec) + b"\x00"
    sync = b"0123456789abcdef"
    return b"Obj\x01" + header + sync + varint(len(records)) + varint(len(packed)) + packed + sync


SCHEMA = {
    "type": "record",
    "name": "r",
    "fields": [
        {"name": "skipped", "type": {"type": "map", "values": ["null", "double"]}},
        {
            "name": "stats",
            "type": [
                "null",
                {
                    "type": "array",
                    "items": {
                        "type": "record",
                        "name": "kv",
                        "fields": [{"name": "key", "type": "int"}, {"name": "value", "type": "bytes"}],
                    },
                },
            ],
        },
        {"name": "wanted", "type": "long", "field-id": 9},
        {"name": "fixed", "type": {"type": "fixed", "name": "f", "size": 3}},
        {"name": "named", "type": ["string", "null"]},
    ],
}


def record(number: int, name: str) -> bytes:
    mapping = varint(1) + text("k") + varint(1) + struct.pack("<d", 1.5) + b"\x00"
    stats = varint(1) + varint(2) + varint(3) + text("abc") + varint(4) + text("") + b"\x00"
    return mapping + stats + varint(number) + b"xyz" + varint(0) + text(name)


@pytest.mark.parametrize("codec", ["null", "deflate", "zstandard", "snappy"])
def test_wanted_fields_are_read_and_the_rest_skipped_in_every_codec(codec: str) -> None:
    file = open_container(container(codec, [record(2**62, "a"), record(-7, "ü")], SCHEMA))
    wanted = (WantedField(9, ("x",)), WantedField(77, ("named",), "bytes"), WantedField(78, ("absent",)))
    plan = compile_plan(parse_schema(file.schema_text), wanted)
    (chunk,) = read_chunks(file, plan)
    assert chunk.numbers(plan.slots[9], 0).tolist() == [2**62, -7]
    places = chunk.rows[:, plan.slots[77] : plan.slots[77] + 2].tolist()
    assert [chunk.body[at : at + size].tobytes().decode() for at, size in places] == ["a", "ü"]
    assert plan.slots.get(78) is None


def test_an_unknown_codec_and_a_truncated_file_are_damage() -> None:
    good = container("deflate", [record(1, "a")], SCHEMA)
    cases = (good.replace(b"deflate", b"lzma999"), good[:-1], good[:-30], good[:40], b"PAR1" + good, b"")
    for bad in cases:
        with pytest.raises(MetadataError):
            read_records(bad)


@given(st.integers(0, 10_000), st.integers(0, 255))
def test_metadata_with_a_flipped_byte_is_read_or_is_damage(place: int, byte: int) -> None:
    content = bytearray(json.dumps({**MINIMAL, "snapshots": [{"snapshot-id": 1, "timestamp-ms": 2}]}).encode())
    content[place % len(content)] = byte
    try:
        parse_metadata(bytes(content), "file:///t/metadata/v1.metadata.json")
    except MetadataError:
        return


def test_gzip_is_read_whatever_the_file_is_called(lake: Lake) -> None:
    table = lake.table()
    table.append(rows("eu"))
    file = path_of(table.metadata_location)
    for name in ("00009-x.gz.metadata.json", "00009-x.metadata.json.gz"):
        packed = file.with_name(name)
        packed.write_bytes(gzip.compress(file.read_bytes()))
        assert len(fresh_reader().metadata(f"file://{packed}").snapshots) == 1
        packed.write_bytes(packed.read_bytes()[:-20])
        with pytest.raises(MetadataError, match="gzip"):
            fresh_reader().metadata(f"file://{packed}")


def test_an_unknown_type_does_not_hide_a_table(lake: Lake) -> None:
    table = lake.table()
    table.append(rows("eu"))

    def strange(document: dict[str, Any]) -> None:
        document["schemas"][0]["fields"].append({"id": 9, "name": "g", "required": False, "type": "geometry(srid:1)"})
        document["a-field-of-the-future"] = {"x": 1}

    metadata = fresh_reader().metadata(rewrite_metadata(table, strange))
    assert metadata.schemas[0]["fields"][-1]["type"] == "geometry(srid:1)"
    assert metadata.problems == ()


def test_format_v1_needs_neither_uuid_nor_ids() -> None:
    content = json.dumps(
        {
            **MINIMAL,
            "current-snapshot-id": 5,
            "snapshots": [{"snapshot-id": 5, "timestamp-ms": 1, "manifests": ["s3://b/m.avro"]}],
        }
    ).encode()
    metadata = parse_metadata(content, "x")
    assert metadata.table_uuid.startswith("loc:")
    assert (metadata.current_schema_id, metadata.default_spec_id, metadata.head_id) == (0, 0, 5)
    assert metadata.snapshots[5].manifests == ("s3://b/m.avro",)


@pytest.mark.parametrize(
    ("document", "code"),
    [
        ({"format-version": 9, "location": "x"}, "format_version_unsupported"),
        ({"format-version": "2", "location": "x"}, "format_version_unsupported"),
        ({"format-version": 2}, "metadata_unreadable"),
        ({"view-uuid": "u", "format-version": 1, "location": "x", "versions": []}, "not_a_table"),
        ([1], "metadata_unreadable"),
    ],
)
def test_metadata_that_is_not_a_table_is_refused_with_the_reason(document: Any, code: str) -> None:
    with pytest.raises(MetadataError) as refused:
        parse_metadata(json.dumps(document).encode(), "x")
    assert refused.value.code == code


def test_minus_one_means_no_snapshot_and_a_missing_head_is_a_problem() -> None:
    assert parse_metadata(json.dumps({**MINIMAL, "current-snapshot-id": -1}).encode(), "x").head_id is None
    lost = parse_metadata(json.dumps({**MINIMAL, "current-snapshot-id": 7}).encode(), "x")
    assert [problem.code for problem in lost.problems] == ["ref_dangling"]


def test_the_newest_metadata_of_a_folder_is_read(tmp_path: Path) -> None:
    folder = tmp_path / "t" / "metadata"
    folder.mkdir(parents=True)
    storage = FileStorage()
    with pytest.raises(InvalidInput, match="not an Iceberg table"):
        newest_metadata(str(tmp_path / "t"), storage)
    for name in ("v1.metadata.json", "v2.metadata.json", "v10.metadata.json", "snap-99.avro"):
        (folder / name).write_text("{}")
    assert newest_metadata(str(tmp_path / "t"), storage).endswith("/v10.metadata.json")
    (folder / "version-hint.text").write_text("2")
    assert newest_metadata(str(tmp_path / "t/"), storage).endswith("/v10.metadata.json")
    (folder / "v10.metadata.json").unlink()
    assert newest_metadata(str(tmp_path / "t"), storage).endswith("/v2.metadata.json")
    direct = str(folder / "v1.metadata.json")
    assert newest_metadata(direct, storage) == direct


def test_storage_maps_prefixes_and_never_decodes_a_path(tmp_path: Path) -> None:
    (tmp_path / "a%3Ab").mkdir()
    (tmp_path / "a%3Ab" / "f").write_bytes(b"12345")
    storage = FileStorage({}, {"s3a://bucket/t": str(tmp_path), "rel/dir": str(tmp_path)})
    for place in ("s3://bucket/t/a%3Ab/f", "rel/dir/a%3Ab/f", "./rel/dir/a%3Ab/f", f"file:{tmp_path}/a%3Ab/f"):
        assert storage.read(place, 5) == b"12345"
        assert storage.size(place) == 5
    assert storage.resolve("s3://bucket/tt/x") == "s3://bucket/tt/x"
    with pytest.raises(MetadataError) as long:
        storage.read("rel/dir/a%3Ab/f", 4)
    assert long.value.code == "file_too_large"
    with pytest.raises(MetadataError) as missing:
        storage.read("rel/dir/none", 4)
    assert missing.value.code == "file_missing"


def test_one_query_lists_tables_of_every_namespace_without_views(lake: Lake) -> None:
    lake.table("sales.orders")
    lake.catalog.create_namespace("a.b")
    lake.catalog.create_table(("a", "b", "t"), lake.load().schema())
    with lake.catalog.engine.begin() as connection:
        connection.exec_driver_sql(
            "insert into iceberg_tables (catalog_name, table_namespace, table_name, metadata_location, iceberg_type) "
            "values ('lake', 'sales', 'v', 'file:///v', 'VIEW'), ('other', 'sales', 'o', 'file:///o', 'TABLE')"
        )
    found = [*names_of(lake.catalog).names().tables.values()]
    assert [str(pointer.name) for pointer in found] == ["lake.a.b.t", "lake.sales.orders"]
    assert found[1].location == lake.load().metadata_location


def test_a_failing_catalog_distinguishes_settings_from_outages(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"catalogs\.x"):
        open_catalog("x", {"type": "nonsense"})
    with pytest.raises(SourceError):
        observed_catalog("x", {"type": "sql", "uri": f"sqlite:///{tmp_path}/none/at/all.db"}).names()


def test_meta_tables_have_the_documented_field_ids(lake: Lake) -> None:
    from limnograph.adapters.meta.tables import ensure_meta_tables

    assert ensure_meta_tables(lake.catalog, "limnograph") == [table.name for table in META_TABLES]
    assert ensure_meta_tables(lake.catalog, "limnograph") == []
    for table in META_TABLES:
        schema = lake.load(f"limnograph.{table.name}").schema()
        assert {c.name: c.field_id for c in table.columns} == {f.name: f.field_id for f in schema.fields}
    partitions = lake.load("limnograph.snapshots").schema().find_field("partitions.element.bytes")
    assert partitions.field_id == 117


def test_unresponsive_storage_is_not_damage() -> None:
    storage = FileStorage({"s3.endpoint": "http://127.0.0.1:9", "s3.connect-timeout": "1", "s3.region": "x"})
    with pytest.raises(SourceUnavailable):
        storage.read("s3://bucket/t/metadata/v1.metadata.json", 10)
