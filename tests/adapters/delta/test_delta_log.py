"""Delta logs by the protocol: every form of checkpoint, vectors, cleaned and broken histories, times, names."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from delta_log import (
    DeltaLog,
    add,
    content,
    field,
    info,
    metadata,
    protocol,
    read_all,
    remove,
    state_rows,
    told,
    vector,
)
from limnograph.adapters.delta.log import newest_version
from limnograph.adapters.delta.reader import DeltaReader
from limnograph.adapters.storage.files import FileStorage
from limnograph.domain.errors import InvalidInput, MetadataError
from limnograph.domain.metadata.content import Reading, Want

MAPPED = "delta.columnMapping.physicalName"


@pytest.fixture
def log(tmp_path: Path) -> DeltaLog:
    return DeltaLog(tmp_path / "table")


def counts(reading: Reading) -> tuple[int | None, int | None, int | None]:
    totals = content(reading).totals
    return totals.data_files, totals.records, totals.bytes


def ten_versions(log: DeltaLog) -> None:
    """Versions 0 to 10: each adds a file, every third removes the one before."""
    log.begin(add("f0"))
    for version in range(1, 11):
        gone = [remove(f"f{version - 1}", 100)] if version % 3 == 0 else []
        log.commit(info("WRITE", 1_000 * version), add(f"f{version}", records=version), *gone)


# checkpoints


def forms(log: DeltaLog) -> dict[str, list[str]]:
    """Files of a checkpoint of version 10 in each form."""
    rows = state_rows(log)
    half = len(rows) // 2
    base = f"{10:020}.checkpoint"
    log.parquet(f"{base}.parquet", rows)
    log.parquet(f"{base}.0000000001.0000000002.parquet", rows[:half])
    log.parquet(f"{base}.0000000002.0000000002.parquet", rows[half:])
    files = [
        {"sidecar": {"path": name, "sizeInBytes": 1, "modificationTime": 1}} for name in ("a.parquet", "b c.parquet")
    ]
    files[1]["sidecar"]["path"] = "b%20c.parquet"
    log.parquet("_sidecars/a.parquet", rows[2:5])
    log.parquet("_sidecars/b c.parquet", rows[5:])
    log.parquet(
        f"{base}.80a083e8-7026-4e79-81be-64bd76c43a11.parquet",
        log.rows([], metadata(field("id"))) and [*rows[:2], *log.rows([], *files)],
    )
    lines = [json.dumps(action) for action in ({"checkpointMetadata": {"version": 10}}, metadata(), protocol(), *files)]
    (log.log / f"{base}.3a0d65cd-4056-49b8-937b-95f9e3ee90e5.json").write_text("\n".join(lines))
    return {
        "classic": [f"{base}.parquet"],
        "parts": [f"{base}.0000000001.0000000002.parquet", f"{base}.0000000002.0000000002.parquet"],
        "v2 parquet": [f"{base}.80a083e8-7026-4e79-81be-64bd76c43a11.parquet"],
        "v2 json": [f"{base}.3a0d65cd-4056-49b8-937b-95f9e3ee90e5.json"],
    }


@pytest.mark.parametrize("form", ["classic", "parts", "v2 parquet", "v2 json"])
def test_a_cleaned_log_is_read_from_any_form_of_checkpoint(log: DeltaLog, form: str) -> None:
    ten_versions(log)
    before = told(log)
    for name, files in forms(log).items():
        for file in files if name != form else ():
            (log.log / file).unlink()
    log.commit(info("WRITE", 11_000), add("f11"), remove("f10", 100))
    log.drop(*range(10))
    reader = log.reader()
    table = reader.metadata(log.newest())
    readings = read_all(reader, table)
    assert list(table.snapshots) == [10, 11]
    assert (table.uuid, table.snapshots[10].parent_id) == ("a-delta-table", 9)
    assert counts(readings[10]) == counts(before[10])
    assert content(readings[10]).totals == content(before[10]).totals
    files, records, size = counts(before[10])
    assert files is not None
    assert records is not None
    assert size is not None
    assert counts(readings[11]) == (files, records, size)
    assert content(readings[11]).changed.removed_records == 10
    assert [reading.problems for reading in readings.values()] == [(), ()]


def test_a_checkpoint_with_missing_parts_is_ignored(log: DeltaLog) -> None:
    ten_versions(log)
    before = told(log)
    (log.log / forms(log)["parts"][1]).unlink()
    for file in (*forms(log)["classic"], *forms(log)["v2 parquet"], *forms(log)["v2 json"]):
        (log.log / file).unlink()
    (log.log / f"{10:020}.checkpoint.0000000002.0000000002.parquet").unlink()
    assert told(log) == before


def test_records_come_from_parsed_statistics_of_a_checkpoint(log: DeltaLog) -> None:
    ten_versions(log)
    before = told(log)
    log.parquet(f"{10:020}.checkpoint.parquet", state_rows(log, parsed_stats=True))
    log.drop(*range(10))
    assert counts(told(log)[10]) == counts(before[10])


def test_a_damaged_checkpoint_does_not_matter_while_the_commits_exist(log: DeltaLog) -> None:
    ten_versions(log)
    before = told(log)
    (log.log / f"{5:020}.checkpoint.parquet").write_bytes(b"PAR1 no parquet PAR1")
    (log.log / "_last_checkpoint").write_text('{"version":5,"size":1}')
    assert told(log) == before


def test_the_last_checkpoint_file_is_only_a_hint(log: DeltaLog) -> None:
    ten_versions(log)
    before = told(log)
    for text in ("", "{", '{"version":99,"size":1}', "\x00"):
        (log.log / "_last_checkpoint").write_text(text)
        assert told(log) == before


def test_a_checkpoint_alone_still_yields_the_newest_state(log: DeltaLog) -> None:
    ten_versions(log)
    before = told(log)
    log.parquet(f"{10:020}.checkpoint.parquet", state_rows(log))
    log.drop(*range(11))
    readings = told(log)
    assert list(readings) == [10]
    assert counts(readings[10]) == counts(before[10])
    assert content(readings[10]).changed.added_data_files is None
    assert log.newest().endswith("10.checkpoint.parquet")


def test_starting_in_the_middle_yields_the_same_as_reading_in_order(log: DeltaLog) -> None:
    ten_versions(log)
    log.parquet(f"{4:020}.checkpoint.parquet", [])
    log.parquet(f"{4:020}.checkpoint.parquet", _rows_at(log, 4))
    in_order = told(log)
    for version in (10, 3, 7, 0, 5, 5, 4):
        reader = log.reader()
        table = reader.metadata(log.newest())
        assert reader.read(table, table.snapshots[version], Want()) == in_order[version]
    reader = log.reader()
    table = reader.metadata(log.newest())
    for version in (10, 3, 7, 0, 5, 5, 4):
        assert reader.read(table, table.snapshots[version], Want()) == in_order[version]


def _rows_at(log: DeltaLog, version: int) -> list[dict[str, object]]:
    newest, log.next = log.next, version + 1
    rows = state_rows(log)
    log.next = newest
    return rows


# deletion vectors


def test_a_new_vector_is_a_delete_file_and_its_data_file_stays(log: DeltaLog) -> None:
    log.begin(add("a"), add("b"))
    first, second = vector("xyz", 3), vector("xyz", 5, offset=50, size=44)
    log.commit(info("DELETE"), remove("a", 100), add("a", dv=first))
    log.commit(info("DELETE"), remove("a", 100, dv=first), add("a", dv=second))
    log.commit(info("OPTIMIZE"), remove("a", 100, dv=second), add("c", size=90, records=5))
    readings = told(log)
    totals = [content(readings[v]).totals for v in range(4)]
    assert [(t.data_files, t.delete_files, t.dvs, t.position_deletes, t.delete_bytes) for t in totals] == [
        (2, 0, 0, 0, 0),
        (2, 1, 1, 3, 40),
        (2, 1, 1, 5, 44),
        (2, 0, 0, 0, 0),
    ]
    changed = [content(readings[v]).changed for v in range(4)]
    assert [(c.added_data_files, c.removed_data_files) for c in changed] == [(2, 0), (0, 0), (0, 0), (1, 1)]
    assert [(c.added_delete_files, c.removed_delete_files) for c in changed] == [(0, 0), (1, 0), (1, 1), (0, 1)]
    assert [(c.added_bytes, c.removed_bytes) for c in changed] == [(200, 0), (0, 0), (0, 0), (90, 100)]
    assert [t.records for t in totals] == [20, 20, 20, 15]
    assert changed[1].partitions == 1


def test_an_inline_vector_has_no_offset(log: DeltaLog) -> None:
    inline = {
        "storageType": "i",
        "pathOrInlineDv": "wi5b=000010000siXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L",
        "sizeInBytes": 40,
    }
    log.begin(add("a", dv=inline | {"cardinality": 6}))
    log.commit(remove("a", 100, dv=inline | {"cardinality": 6}))
    readings = told(log)
    assert content(readings[0]).totals.position_deletes == 6
    assert counts(readings[1]) == (0, 0, 0)


# what a commit moves


def test_adding_a_file_again_is_not_a_change(log: DeltaLog) -> None:
    log.begin(add("a", records=None), add("b"))
    log.commit(info("COMPUTE STATS"), add("a", records=7))
    readings = told(log)
    assert content(readings[0]).totals.records is None
    assert counts(readings[1]) == (2, 17, 200)
    changed = content(readings[1]).changed
    assert (changed.added_data_files, changed.removed_data_files, changed.partitions) == (0, 0, 0)


def test_removing_a_file_that_is_not_live_is_not_a_change(log: DeltaLog) -> None:
    log.begin(add("a"))
    log.commit(remove("never", 5), remove("never/either"))
    assert content(told(log)[1]).changed.removed_data_files == 0


def test_a_removed_file_has_the_size_of_the_live_one(log: DeltaLog) -> None:
    log.begin(add("a", size=123, records=4))
    log.commit(remove("a"))
    changed = content(told(log)[1]).changed
    assert (changed.removed_data_files, changed.removed_bytes, changed.removed_records) == (1, 123, 4)


def test_change_data_files_are_not_data_files(log: DeltaLog) -> None:
    log.begin(add("a"))
    log.commit({"cdc": {"path": "_change_data/x", "partitionValues": {}, "size": 9, "dataChange": False}}, add("b"))
    assert counts(told(log)[1]) == (2, 20, 200)


# partitions


def partition_files(reading: Reading) -> dict[str, int]:
    partitions = content(reading).partitions
    assert partitions
    return {text: state.data_files for (_, text), state in partitions.states.items()}


def test_partitions_are_in_the_tables_order_with_any_character_and_empty_text_as_null(log: DeltaLog) -> None:
    log.begin(
        add("a", b="x/y=z é", a=None),
        add("b", a="", b="1"),
        columns=(field("id"), field("a"), field("b")),
        partitions=("a", "b"),
    )
    assert partition_files(told(log)[0]) == {"a=null/b=x%2Fy=z é": 1, "a=null/b=1": 1}


def test_a_renamed_partition_column_shows_all_partitions_under_the_new_name(log: DeltaLog) -> None:
    log.commit(
        protocol(2),
        metadata(field("region", **{MAPPED: "col-1"}), partitions=("region",)),
        add("a", **{"col-1": "eu"}),
        add("b", **{"col-1": "us"}),
    )
    log.commit(metadata(field("area", **{MAPPED: "col-1"}), partitions=("area",)))
    reader = log.reader()
    table = reader.metadata(log.newest())
    readings = read_all(reader, table, Want(changed_only=True))
    assert partition_files(readings[0]) == {"region=eu": 1, "region=us": 1}
    assert partition_files(readings[1]) == {"area=eu": 1, "area=us": 1}
    partitions = content(readings[1]).partitions
    assert partitions
    assert partitions.scope == "full"
    assert table.snapshots[0].schema_id != table.snapshots[1].schema_id == table.current_schema_id


def test_a_new_partition_is_compared_with_the_days_before_it_also_after_a_rename(log: DeltaLog) -> None:
    days = [f"1970-01-{day:02}" for day in range(1, 10)]
    log.commit(
        info("WRITE", 9 * 86_400_000 - 1),
        protocol(2),
        metadata(field("dt", **{MAPPED: "col-1"}), partitions=("dt",)),
        *(add(day, 100, **{"col-1": day}) for day in days),
        *(add(f"more{n}", 100, **{"col-1": days[-1]}) for n in range(4)),
    )
    log.commit(info("WRITE", 9 * 86_400_000), metadata(field("day", **{MAPPED: "col-1"}), partitions=("day",)))
    reader = log.reader()
    found = read_all(reader, reader.metadata(log.newest()), Want(shape=True))
    shapes = [shape for reading in found.values() if (shape := content(reading).shape)]
    assert [shape.hot_partition for shape in shapes] == ["dt=1970-01-09", "day=1970-01-09"]
    assert [shape.hot_partition_ratio for shape in shapes] == [5.0, 5.0]


def test_only_touched_partitions_are_listed_when_that_suffices(log: DeltaLog) -> None:
    log.begin(*(add(f"f{i}", p=str(i)) for i in range(5)), columns=(field("p"),), partitions=("p",))
    log.commit(info("DELETE", 5_000), remove("f3", 100, p="3"), add("g", p="1"))
    reader = log.reader()
    table = reader.metadata(log.newest())
    partitions = content(read_all(reader, table, Want(changed_only=True))[1]).partitions
    assert partitions
    assert (partitions.scope, partitions.total) == ("changed", 4)
    states = {
        text: (s.data_files, s.added_data_files, s.removed_data_files) for (_, text), s in partitions.states.items()
    }
    assert states == {"p=1": (2, 1, 0), "p=3": (0, 0, 1)}
    assert {state.last_committed_at for state in partitions.states.values()} == {5_000_000}


def test_the_last_commit_of_a_partition_does_not_depend_on_where_the_replay_began(log: DeltaLog) -> None:
    log.begin(add("f0", p="0"), columns=(field("p"),), partitions=("p",))
    for version in range(1, 6):
        log.commit(info("WRITE", 1_000 * version), add(f"f{version}", p=str(version % 3)))
    in_order = told(log)
    log.parquet(f"{3:020}.checkpoint.parquet", _rows_at(log, 3))
    assert told(log) == in_order
    reader = log.reader()
    table = reader.metadata(log.newest())
    assert reader.read(table, table.snapshots[5], Want()) == in_order[5]


# histories that are cleaned, broken or strange


def test_a_log_that_begins_in_the_middle_has_its_own_adds_and_removes(log: DeltaLog) -> None:
    ten_versions(log)
    log.drop(*range(5))
    reading = told(log)[6]
    assert reading.problems == ("history_truncated",)
    assert content(reading).totals.data_files is None
    changed = content(reading).changed
    assert (changed.added_data_files, changed.added_records, changed.removed_data_files) == (1, 6, 1)
    assert (changed.removed_bytes, changed.removed_records) == (100, None)


def test_after_a_gap_the_state_is_known_again_only_from_a_checkpoint(log: DeltaLog) -> None:
    ten_versions(log)
    before = told(log)
    log.parquet(f"{7:020}.checkpoint.parquet", _rows_at(log, 7))
    log.drop(5)
    reader = log.reader()
    table = reader.metadata(log.newest())
    readings = read_all(reader, table)
    assert [problem.code for problem in table.problems] == ["commits_missing"]
    assert {v: reading.problems for v, reading in readings.items() if reading.problems} == {6: ("history_truncated",)}
    assert [counts(readings[v]) for v in (4, 7, 10)] == [counts(before[v]) for v in (4, 7, 10)]
    assert table.snapshots[6].parent_id == 5


@pytest.mark.parametrize(
    "damage", [b'{"add":{"path":"x","size":', b'{"add":{"path":"x"}}', b"\xff\xfe\x00", b"[" * 5_000]
)
def test_a_damaged_commit_is_a_code_until_the_next_checkpoint(log: DeltaLog, damage: bytes) -> None:
    ten_versions(log)
    before = told(log)
    log.parquet(f"{6:020}.checkpoint.parquet", _rows_at(log, 6))
    log.commit_file(4).write_bytes(log.commit_file(4).read_bytes() + damage)
    readings = told(log)
    assert readings[4].problems == ("commit_unreadable",)
    assert readings[4].tier == "summary"
    assert readings[5].problems == ("history_damaged",)
    assert content(readings[5]).changed.added_data_files == 1
    assert [counts(readings[v]) for v in (3, 6, 10)] == [counts(before[v]) for v in (3, 6, 10)]
    table = log.reader().metadata(log.newest())
    assert table.snapshots[4].timestamp_ms == 4_000


def test_side_files_are_not_history(log: DeltaLog) -> None:
    ten_versions(log)
    before = told(log)
    for name in (
        f"{11:020}.json.tmp",
        f".{11:020}.json.crc",
        f"{3:020}.{7:020}.compacted.json",
        f"_staged_commits/{11:020}.3a0d65cd-4056-49b8-937b-95f9e3ee90e5.json",
        f"{11:020}.checkpoint.parquet.tmp",
        "99999999999999999999.json",
        "0011.json",
        "_commits",
    ):
        path = log.log / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("{}")
    assert told(log) == before


def test_byte_order_marks_blank_lines_and_empty_commits_are_accepted(log: DeltaLog) -> None:
    log.begin(add("a"))
    log.write(b"\xef\xbb\xbf" + json.dumps(add("b")).encode() + b"\r\n\r\n")
    log.write(b"")
    readings = told(log)
    assert [counts(readings[v]) for v in range(3)] == [(1, 10, 100), (2, 20, 200), (2, 20, 200)]


def test_times_come_from_the_table_or_are_unknown(log: DeltaLog) -> None:
    log.commit(info("CREATE TABLE", 111, inCommitTimestamp=222), protocol(), metadata())
    log.commit(add("a"), info("WRITE", 333))
    log.commit(add("b"))
    log.commit(info("WRITE", 10**18))
    log.commit({"commitInfo": {"timestamp": "yesterday", "operation": 5}})
    table = log.reader().metadata(log.newest())
    assert [s.timestamp_ms for s in table.ordered] == [222, 333, None, None, None]
    assert [(entry.timestamp_ms, entry.value) for entry in table.snapshot_log] == [(222, 0), (333, 1)]
    assert [s.operation for s in table.ordered] == ["replace", "append", "append", "replace", "replace"]


@pytest.mark.parametrize(
    ("commit", "word"),
    [
        ([info("WRITE", operationParameters={"mode": "Append"}), add("n")], "append"),
        ([info("WRITE", operationParameters={"mode": "Overwrite"}), add("n")], "overwrite"),
        ([info("STREAMING UPDATE", operationParameters={"outputMode": "Append"}), add("n")], "append"),
        ([info("DELETE"), add("n"), remove("a")], "delete"),
        ([info("OPTIMIZE"), add("n"), remove("a")], "replace"),
        ([info("MERGE"), add("n"), remove("a")], "overwrite"),
        ([info("SET TBLPROPERTIES")], "replace"),
        ([info("anything new"), add("n"), remove("a")], "overwrite"),
        ([remove("a")], "delete"),
    ],
)
def test_operations_have_four_names(log: DeltaLog, commit: list[dict[str, object]], word: str) -> None:
    log.begin(add("a"))
    log.commit(*commit)
    assert log.reader().metadata(log.newest()).snapshots[1].operation == word


def test_unknown_features_are_reported_and_the_log_is_still_read(log: DeltaLog) -> None:
    log.commit(protocol(3, ("deletionVectors", "quantumRows", "catalogManaged")), metadata(), add("a"))
    reader = log.reader()
    table = reader.metadata(log.newest())
    assert [problem.code for problem in table.problems] == ["unknown_reader_feature", "catalog_managed"]
    assert counts(read_all(reader, table)[0]) == (1, 10, 100)


def test_an_unknown_protocol_version_is_refused(log: DeltaLog) -> None:
    log.commit(protocol(4), metadata(), add("a"))
    with pytest.raises(MetadataError) as refused:
        log.reader().metadata(log.newest())
    assert refused.value.code == "format_version_unsupported"


def test_a_contradicting_checksum_is_noted_and_not_trusted(log: DeltaLog) -> None:
    log.begin(add("a"))
    log.commit(add("b"))
    (log.log / f"{0:020}.crc").write_text('{"numFiles":1,"tableSizeBytes":100}')
    (log.log / f"{1:020}.crc").write_text('{"numFiles":3,"tableSizeBytes":200}')
    readings = told(log)
    assert [readings[v].notes for v in (0, 1)] == [(), ("checksum_mismatch",)]
    assert counts(readings[1]) == (2, 20, 200)


def test_a_pointer_identifies_the_table_at_that_version(log: DeltaLog) -> None:
    ten_versions(log)
    pointer = newest_version(str(log.folder), FileStorage()).replace("10.json", "07.json")
    table = log.reader().metadata(pointer)
    assert (table.head_id, len(table.snapshots)) == (7, 8)
    with pytest.raises(MetadataError) as gone:
        log.reader().metadata(pointer.replace("07.json", "77.json"))
    assert gone.value.code == "file_missing"


def test_a_folder_without_a_log_is_not_a_table(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput):
        newest_version(str(tmp_path), FileStorage())


def test_a_dropped_and_recreated_table_is_not_the_old_one(log: DeltaLog) -> None:
    ten_versions(log)
    shared = log.shared
    reader = DeltaReader(FileStorage(), shared)
    read_all(reader, reader.metadata(log.newest()))
    for file in log.log.iterdir():
        file.unlink()
    log.next = 0
    log.begin(add("x", size=7))
    log.commit(add("y", size=8))
    reader = DeltaReader(FileStorage(), shared)
    readings = read_all(reader, reader.metadata(log.newest()))
    assert [counts(readings[v]) for v in (0, 1)] == [(1, 10, 7), (2, 20, 15)]


def test_a_carried_state_equals_that_of_a_fresh_reader(log: DeltaLog) -> None:
    ten_versions(log)
    reader = DeltaReader(FileStorage(), log.shared)
    readings = read_all(reader, reader.metadata(log.newest()))
    for version in range(11, 16):
        log.commit(info("WRITE", version), add(f"f{version}"), remove(f"f{version - 1}"))
        again = DeltaReader(FileStorage(), log.shared)
        table = again.metadata(log.newest())
        readings[version] = again.read(table, table.snapshots[version], Want())
    assert readings == told(log)


@pytest.mark.parametrize(
    ("text", "codes"), [(None, []), ("", []), ("{", ["schema_unreadable"]), (7, ["schema_unreadable"])]
)
def test_a_table_without_a_schema_is_complete_and_one_with_a_damaged_schema_is_not(
    log: DeltaLog, text: object, codes: list[str]
) -> None:
    action = metadata()
    action["metaData"]["schemaString"] = text
    log.commit(protocol(), action, add("a"))
    table = log.reader().metadata(log.newest())
    assert (table.current_schema_id, [problem.code for problem in table.problems]) == (None, codes)
    assert counts(log.reader().read(table, table.ordered[0], Want())) == (1, 10, 100)


def test_counts_of_a_delete_with_vectors_equal_its_own_metrics(log: DeltaLog) -> None:
    log.begin(add("a"), add("b", records=1))
    deleted = {"numAddedFiles": 0, "numRemovedFiles": 0, "numDeletionVectorsAdded": 1, "numDeletionVectorsRemoved": 0}
    log.commit(info("DELETE", 1, operationMetrics=deleted), remove("a", 100), add("a", dv=vector("v", 1)))
    merged = {"numAddedFiles": 1, "numRemovedFiles": 2, "numDeletionVectorsAdded": 0, "numDeletionVectorsRemoved": 1}
    gone = (remove("a", 100, dv=vector("v", 1)), remove("b", 100))
    log.commit(info("OPTIMIZE", 2, operationMetrics=merged), *gone, add("c", records=10))
    reader = log.reader()
    table = reader.metadata(log.newest())
    readings = read_all(reader, table)
    for version, metrics in ((1, deleted), (2, merged)):
        changed = content(readings[version]).changed
        assert [
            changed.added_data_files,
            changed.removed_data_files,
            changed.added_delete_files,
            changed.removed_delete_files,
        ] == list(metrics.values())
