"""Timelines, properties and names as tables have them, and how they are told in the words of all formats."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hudi_timeline import AVRO_SCHEMA, HudiFolder, Stat
from limnograph.adapters.hudi.kept import WeightedCache
from limnograph.adapters.hudi.locate import newest_instant
from limnograph.adapters.hudi.names import FileName, parse_name
from limnograph.adapters.hudi.partitions import PartitionText
from limnograph.adapters.hudi.properties import parse_properties
from limnograph.adapters.hudi.reader import HudiReader
from limnograph.adapters.hudi.schema import iceberg_schema, schema_id
from limnograph.adapters.hudi.timeline import instant_ms, parse_timeline
from limnograph.adapters.storage.files import FileStorage
from limnograph.domain.errors import InvalidInput, MetadataError
from limnograph.domain.ids import location_uuid
from limnograph.domain.metadata.content import Want
from limnograph.domain.metadata.table import TableMetadata
from limnograph.ports.storage import ListedFile

VERSIONS = pytest.mark.parametrize("version", [6, 8, 9])
UUID = "26e33b7b-aa9f-4f2e-b683-a90ef0d5861d-0"


def opened(folder: HudiFolder, pointer: str | None = None) -> TableMetadata:
    return HudiReader(FileStorage(), WeightedCache()).metadata(
        pointer or newest_instant(folder.location, FileStorage())
    )


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (f"{UUID}_1-13-25_20250121000547796.parquet", FileName(UUID, "20250121000547796", is_log=False)),
        (f"{UUID}_1-13-25_20250121000547.orc", FileName(UUID, "20250121000547", is_log=False)),
        (f"{UUID}_1-13-25_00000000000001.hfile", FileName(UUID, "00000000000001", is_log=False)),
        ("part-1.parquet_20250121000547796_hudiext", FileName("part-1.parquet", "20250121000547796", is_log=False)),
        (f".{UUID}_20250121000547796.log.1_0-33-47", FileName(UUID, "20250121000547796", is_log=True)),
        (f".{UUID}_20250121000547796.log.12", FileName(UUID, "20250121000547796", is_log=True)),
        (f".{UUID}_20250121000547796.log.1_0-33-47.cdc", FileName(UUID, "20250121000547796", is_log=True, cdc=True)),
        (f".{UUID}_20250121000547796.log.1_0-33-47.lsm", FileName(UUID, "20250121000547796", is_log=True)),
        (f"{UUID}_0-33-47_20250121000547796_1.log.parquet", FileName(UUID, "20250121000547796", is_log=True)),
        (f"{UUID}_0-33-47_20250121000547796_1.cdc.parquet", FileName(UUID, "20250121000547796", is_log=True, cdc=True)),
        (f"..{UUID}_20250121000547796.log.1_0-33-47.crc", None),
        (f".{UUID}_1-13-25_20250121000547796.parquet.crc", None),
        (".hoodie_partition_metadata", None),
        (".DS_Store", None),
        ("._" + UUID, None),
        ("_SUCCESS", None),
        ("x" * 5000, None),
        ("", None),
    ],
)
def test_names_of_files_contain_their_group_and_instant(name: str, expected: FileName | None) -> None:
    assert parse_name(name) == expected


def test_layout_1_distinguishes_completed_and_pending_instants_by_their_names() -> None:
    names = [
        "20240101000000.commit",
        "20240101000000.commit.requested",
        "20240101000000.inflight",
        "20240102000000000.deltacommit",
        "20240103000000000.inflight",
        "20240104000000000.compaction.requested",
        "20240105000000000.replacecommit.inflight",
        "20240106000000000.clean",
        "20240107000000000.rollback.requested",
        "20240102000000000.savepoint",
        "hoodie.properties",
        "hoodie.properties.backup",
        ".20240101000000.commit.crc",
        "20240101.commit",
        "abc.commit",
        "20240109000000000_20240109000001000.commit",
    ]
    timeline = parse_timeline([ListedFile(name, 1) for name in names], 1, "/t/.hoodie")
    assert [(i.requested, i.action) for i in timeline.snapshots] == [
        ("20240101000000", "commit"),
        ("20240102000000000", "deltacommit"),
    ]
    assert [i.action for i in timeline.others] == ["savepoint", "clean"]
    assert timeline.pending == {"20240103000000000", "20240104000000000", "20240105000000000"}
    assert timeline.starts == "20240101000000"


def test_layout_2_has_completion_times_in_its_names() -> None:
    names = [
        "20240101000000000_20240101000005000.commit",
        "20240101000000000.commit.requested",
        "20240101000001000_20240101000003000.deltacommit",
        "20240101000009000.clustering.inflight",
        "20240101000002000_20240101000004000.clean",
        "20240101000000000.commit",
    ]
    timeline = parse_timeline([ListedFile(name, 1) for name in names], 2, "/t/.hoodie/timeline")
    assert [i.completed for i in timeline.snapshots] == ["20240101000003000", "20240101000005000"]
    assert timeline.newest == timeline.snapshots[-1]
    assert timeline.pending == {"20240101000009000"}


def test_instants_are_read_as_utc_and_impossible_ones_have_no_time() -> None:
    assert instant_ms("20240418173213674") == 1_713_461_533_674
    assert instant_ms("20240418173213") == 1_713_461_533_000
    assert instant_ms("00000000000001") is None
    assert instant_ms("20241332000000000") is None


@VERSIONS
def test_a_table_is_described_in_the_terms_of_all_formats(tmp_path: Path, version: int) -> None:
    folder = HudiFolder(tmp_path / "t", version)
    first = folder.commit(Stat("a", 10, 1), operation="INSERT")
    second = folder.commit(Stat("b", 10, 1), operation="INSERT")
    folder.complete(first, "savepoint", b"")
    table = opened(folder)
    assert (table.format, table.format_version, table.uuid) == ("hudi", version, None)
    assert table.location == folder.location
    assert table.table_uuid == location_uuid(folder.location)
    assert table.default_spec_id == 0
    assert table.specs[0]["fields"] == [{"name": "region", "transform": "identity"}]
    assert {name: (ref.snapshot_id, ref.type) for name, ref in table.refs.items()} == {
        "main": (int(second), "branch"),
        f"savepoint-{first}": (int(first), "tag"),
    }
    assert [(s.snapshot_id, s.parent_id, s.sequence_number) for s in table.ordered] == [
        (int(first), None, None),
        (int(second), int(first), None),
    ]
    assert table.ordered[0].manifest_list
    assert FileStorage().size(table.ordered[0].manifest_list)
    assert table.current_schema_id == schema_id(AVRO_SCHEMA)
    assert table.schemas[schema_id(AVRO_SCHEMA)]["fields"][0]["name"] == "id"
    assert table.problems == ()
    if version >= 8:
        assert table.ordered[0].timestamp_ms
        assert table.ordered[0].timestamp_ms > (instant_ms(first) or 0)
    else:
        assert table.ordered[0].timestamp_ms == instant_ms(first)
    assert (table.ordered[0].summary or {})["hudi.timezone"] == "LOCAL, read as UTC"


@VERSIONS
def test_a_pointer_is_the_table_as_it_was_then(tmp_path: Path, version: int) -> None:
    folder = HudiFolder(tmp_path / "t", version)
    assert newest_instant(folder.location, FileStorage()) == f"{folder.location}/.hoodie/hoodie.properties"
    empty = opened(folder)
    assert (empty.snapshots, empty.refs, empty.snapshot_log) == ({}, {}, ())
    first = folder.commit(Stat("a", 10, 1))
    pointer = newest_instant(folder.location, FileStorage())
    folder.commit(Stat("b", 10, 1))
    assert newest_instant(folder.location, FileStorage()) != pointer
    assert list(opened(folder, pointer).snapshots) == [int(first)]
    assert opened(folder, pointer).head_id == int(first)


@VERSIONS
def test_cleans_and_savepoints_move_the_pointer_and_make_no_snapshot(tmp_path: Path, version: int) -> None:
    folder = HudiFolder(tmp_path / "t", version)
    folder.commit(Stat("a", 10, 1))
    folder.complete(folder.tick(), "clean", b"")
    assert newest_instant(folder.location, FileStorage()).endswith(".clean")
    assert len(opened(folder).snapshots) == 1


@VERSIONS
def test_a_metadata_table_below_another_table_is_a_table_of_its_own(tmp_path: Path, version: int) -> None:
    outer = HudiFolder(tmp_path / "t", version)
    outer.commit(Stat("a", 10, 1))
    inner = HudiFolder(tmp_path / "t" / ".hoodie" / "metadata", version, mor=True)
    at = inner.commit(Stat("files", 10, 1, "files"), action="deltacommit")
    assert newest_instant(inner.location, FileStorage()).startswith(f"{inner.location}/.hoodie/")
    table = opened(inner)
    assert (table.location, list(table.snapshots)) == (inner.location, [int(at)])
    assert opened(outer).location == outer.location


def test_an_empty_commit_wrote_nothing(tmp_path: Path) -> None:
    folder = HudiFolder(tmp_path / "t", 6)
    folder.complete(folder.tick(), "commit", b"")
    reader = HudiReader(FileStorage(), WeightedCache())
    table = reader.metadata(newest_instant(folder.location, FileStorage()))
    reading = reader.read(table, table.ordered[0], Want())
    assert reading.problems == ()
    assert reading.content
    assert (reading.content.totals.data_files, reading.content.changed.added_data_files) == (0, 0)


def test_no_value_of_a_partition_is_shown_as_null_or_as_another_field() -> None:
    text = PartitionText(
        {"hoodie.table.partition.fields": "a,b:SIMPLE", "hoodie.datasource.write.partitionpath.urlencode": "true"}
    )
    assert text("a=x%2Fy/b=__HIVE_DEFAULT_PARTITION__") == "a=x%2Fy/b=null"
    assert text("null/50%25") == 'a="null"/b=50%25'
    assert text("2026/11/21") == "2026/11/21"


def test_properties_are_parsed_by_the_rules_of_java(tmp_path: Path) -> None:
    text = b"#comment\n! too\n key\\ one = a\\:b \\\n   c\nplain:x\nspaced y z\nuni=\\u00e9\nempty\nlast=1\nlast=2\\"
    assert parse_properties(text) == {
        "key one": "a:b c",
        "plain": "x",
        "spaced": "y z",
        "uni": "é",
        "empty": "",
        "last": "2",
    }
    assert parse_properties(b"a=\\ud800") == {"a": "�"}


def test_properties_left_empty_by_an_update_are_read_from_the_backup(tmp_path: Path) -> None:
    folder = HudiFolder(tmp_path / "t", 8)
    folder.commit(Stat("a", 10, 1))
    place = tmp_path / "t" / ".hoodie" / "hoodie.properties"
    place.rename(place.with_name("hoodie.properties.backup"))
    place.write_bytes(b"")
    assert len(opened(folder).snapshots) == 1


@VERSIONS
def test_a_table_whose_properties_name_no_version_is_read_with_a_problem(tmp_path: Path, version: int) -> None:
    folder = HudiFolder(tmp_path / "t", version)
    folder.commit(Stat("a", 10, 1))
    del folder.properties["hoodie.table.version"], folder.properties["hoodie.timeline.layout.version"]
    folder.write_properties()
    table = opened(folder)
    assert [problem.code for problem in table.problems] == ["metadata_incomplete"]
    assert len(table.snapshots) == 1


@pytest.mark.parametrize(("key", "value"), [("hoodie.table.version", "11"), ("hoodie.timeline.layout.version", "3")])
def test_an_unknown_version_is_refused_with_its_code(tmp_path: Path, key: str, value: str) -> None:
    folder = HudiFolder(tmp_path / "t", 9, **{key: value})
    with pytest.raises(MetadataError) as refused:
        newest_instant(folder.location, FileStorage())
    assert refused.value.code == "format_version_unsupported"


def test_a_folder_without_properties_is_not_a_table(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput):
        newest_instant(str(tmp_path), FileStorage())


@pytest.mark.parametrize("version", [6, 9])
def test_a_timeline_without_its_properties_is_a_damaged_table(tmp_path: Path, version: int) -> None:
    folder = HudiFolder(tmp_path / "t", version)
    folder.commit(Stat("a", 10, 1))
    (folder.root / ".hoodie" / "hoodie.properties").unlink()
    with pytest.raises(MetadataError) as refused:
        newest_instant(folder.location, FileStorage())
    assert refused.value.code == "file_missing"


def test_folders_that_properties_name_stay_inside_the_table(tmp_path: Path) -> None:
    folder = HudiFolder(
        tmp_path / "t", 9, **{"hoodie.timeline.path": "../../../etc", "hoodie.archivelog.folder": "/etc"}
    )
    folder.commit(Stat("a", 10, 1))
    assert newest_instant(folder.location, FileStorage()).startswith(f"{folder.location}/.hoodie/timeline/")


def test_an_avro_schema_becomes_an_iceberg_schema_with_stable_ids() -> None:
    document = {
        "type": "record",
        "name": "r",
        "fields": [
            {"name": "_hoodie_commit_time", "type": ["null", "string"]},
            {"name": "id", "type": "long"},
            {"name": "at", "type": ["null", {"type": "long", "logicalType": "timestamp-micros"}]},
            {
                "name": "price",
                "type": {"type": "fixed", "size": 5, "logicalType": "decimal", "precision": 10, "scale": 2},
            },
            {"name": "tags", "type": {"type": "array", "items": ["null", "string"]}},
            {"name": "more", "type": {"type": "map", "values": {"type": "record", "name": "m", "fields": []}}},
        ],
    }
    schema = iceberg_schema(json.dumps(document))
    assert schema
    fields = {field["name"]: (field["type"], field["required"]) for field in schema["fields"]}
    assert "_hoodie_commit_time" not in fields
    assert fields["id"] == ("long", True)
    assert fields["at"] == ("timestamptz", False)
    assert fields["price"] == ("decimal(10, 2)", True)
    assert (fields["tags"][0]["type"], fields["tags"][0]["element-required"]) == ("list", False)
    document["fields"] = document["fields"][2:]  # type: ignore[index]
    later = iceberg_schema(json.dumps(document))
    assert later
    assert {f["name"]: f["id"] for f in later["fields"]}.items() <= {
        f["name"]: f["id"] for f in schema["fields"]
    }.items()
    assert iceberg_schema("[]") is iceberg_schema("{") is None
