"""Tables written by deltalake: at every version we count what deltalake counts, whatever it did to the table."""

from __future__ import annotations

import random
from datetime import date
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from delta_log import content, read_all
from limnograph.adapters.delta.log import newest_version
from limnograph.adapters.delta.reader import DeltaReader, SharedCaches
from limnograph.adapters.storage.files import FileStorage
from limnograph.domain.metadata.content import Reading
from limnograph.domain.metadata.table import TableMetadata

REGIONS = ["eu", "us", None, "a b/c=é%41", "", "x:y?#&+"]


def rows(start: int, count: int, *, note: bool = False) -> pa.Table:
    columns = {
        "id": list(range(start, start + count)),
        "region": [REGIONS[i % len(REGIONS)] for i in range(count)],
        "day": [date(2026, 11, 1 + i % 2) for i in range(count)],
    }
    if note:
        columns["note"] = ["n"] * count
    return pa.table(
        columns, schema=None if note else pa.schema([("id", pa.int64()), ("region", pa.string()), ("day", pa.date32())])
    )


def opened(folder: str) -> tuple[TableMetadata, dict[int, Reading]]:
    reader = DeltaReader(FileStorage(), SharedCaches())
    table = reader.metadata(newest_version(folder, FileStorage()))
    return table, read_all(reader, table)


def assert_counts_as_deltalake(folder: str) -> TableMetadata:
    table, readings = opened(folder)
    newest = DeltaTable(folder)
    assert table.head_id == newest.version()
    assert table.uuid == str(newest.metadata().id)
    for version, reading in readings.items():
        adds = pa.table(DeltaTable(folder, version=version).get_add_actions(flatten=True))
        totals = content(reading).totals
        assert reading.problems == ()
        assert totals.data_files == adds.num_rows, version
        assert totals.bytes == sum(adds["size_bytes"].to_pylist()), version
        assert totals.records == sum(adds["num_records"].to_pylist()), version
        assert totals.dvs == 0
    history = {entry["version"]: entry for entry in newest.history()}
    assert set(history) >= set(readings)
    for version in readings:
        snapshot = table.snapshots[version]
        assert snapshot.timestamp_ms == history[version]["timestamp"]
        assert (snapshot.summary or {})["delta.operation"] == history[version]["operation"]
    return table


@pytest.fixture
def folder(tmp_path: Path) -> str:
    return str(tmp_path / "sales")


def test_every_operation_of_a_partitioned_table_is_counted(folder: str) -> None:
    write_deltalake(folder, rows(0, 24), partition_by=["region", "day"])
    write_deltalake(folder, rows(24, 12), mode="append")
    DeltaTable(folder).delete("id < 5")
    DeltaTable(folder).update(updates={"id": "id + 1000"}, predicate="id = 8")
    merge = DeltaTable(folder).merge(rows(30, 20), "t.id = s.id", source_alias="s", target_alias="t")
    merge.when_matched_update_all().when_not_matched_insert_all().execute()
    DeltaTable(folder).optimize.compact()
    DeltaTable(folder).create_checkpoint()
    write_deltalake(folder, rows(100, 6, note=True), mode="append", schema_mode="merge")
    DeltaTable(folder).optimize.z_order(["id"])
    DeltaTable(folder).vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False)
    write_deltalake(folder, rows(200, 1, note=True), mode="overwrite", predicate="region = 'eu'")
    DeltaTable(folder).restore(7)
    write_deltalake(folder, rows(300, 9), mode="overwrite", schema_mode="overwrite")
    table = assert_counts_as_deltalake(folder)
    assert len({s.schema_id for s in table.ordered}) == 2
    words = [s.operation for s in table.ordered]
    assert words[:6] == ["append", "append", "delete", "overwrite", "overwrite", "replace"]
    assert words[-1] == "overwrite"


def test_partition_values_are_those_that_deltalake_reads(folder: str) -> None:
    write_deltalake(folder, rows(0, 24), partition_by=["region", "day"])
    _, readings = opened(folder)
    partitions = content(readings[0]).partitions
    assert partitions
    adds = pa.table(DeltaTable(folder).get_add_actions(flatten=True)).to_pylist()

    expected: dict[str, int] = {}
    for add in adds:
        region = (add["partition.region"] or "null").replace("%", "%25").replace("/", "%2F")
        text = f"region={region}/day={add['partition.day']}"
        expected[text] = expected.get(text, 0) + add["num_records"]
    assert {text: state.records for (_, text), state in partitions.states.items()} == expected


def test_a_log_that_deltalake_cleaned_is_counted_from_its_checkpoint(folder: str) -> None:
    for i in range(12):
        write_deltalake(
            folder, rows(i * 10, 10), mode="append", configuration={"delta.logRetentionDuration": "interval 0 days"}
        )
    before = {v: content(r).totals for v, r in opened(folder)[1].items()}
    DeltaTable(folder).create_checkpoint()
    DeltaTable(folder).cleanup_metadata()
    write_deltalake(folder, rows(500, 10), mode="append")
    table, readings = opened(folder)
    assert table.head_id == 12
    for version, reading in readings.items():
        if version in before and not reading.problems:
            assert content(reading).totals == before[version]
    totals = content(readings[12]).totals
    adds = pa.table(DeltaTable(folder).get_add_actions(flatten=True))
    assert (totals.data_files, totals.records) == (adds.num_rows, 130)


@pytest.mark.parametrize("seed", range(4))
def test_a_random_life_of_a_table_is_counted(folder: str, seed: int) -> None:
    chance = random.Random(seed)
    write_deltalake(folder, rows(0, 12), partition_by=["region"] if seed % 2 else None)
    for step in range(14):
        what = chance.choice(["append", "append", "delete", "overwrite", "compact", "checkpoint", "update"])
        table = DeltaTable(folder)
        if what in {"append", "overwrite"}:
            write_deltalake(folder, rows(step * 20, chance.randint(1, 12)), mode=what)
        elif what == "delete":
            table.delete(f"id % {chance.randint(2, 5)} = 0")
        elif what == "update":
            table.update(updates={"id": "id + 1"}, predicate=f"id > {chance.randint(0, 200)}")
        elif what == "compact":
            table.optimize.compact()
        else:
            table.create_checkpoint()
    assert_counts_as_deltalake(folder)
