"""One contract over every QueryEngine: time order, our types, tolerant of columns, empty before the first pass."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import polars as pl
import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog

from limnograph.adapters.embedded.engine import EmbeddedEngine
from limnograph.adapters.iceberg.schema import arrow_table, iceberg_schema, table_properties
from limnograph.adapters.memory.query_engine import MemoryEngine
from limnograph.domain.errors import SourceUnavailable
from limnograph.domain.events import RunFact, RunTable
from limnograph.domain.facts import CHANGES, RUNS, SNAPSHOTS, PartitionFact
from limnograph.ports.query_engine import MetaQuery, QueryEngine
from limnograph.services.loading import change_facts, snapshot_facts
from serving_kit import BIG, HOUR, NOW, UUID, change, moved, row

OTHER = "00000000-0000-4000-8000-000000000002"
ROWS = [
    row(BIG, NOW - HOUR, 12, summary={"operation": "append", "x": "ü"}, refs=["main"], skew_cv=0.25, parent_id=1),
    row(
        1,
        NOW - 50 * HOUR,
        None,
        partitions=[PartitionFact(partition="day=1", data_files=3)],
        file_size_histogram=[1, 2],
    ),
    row(7, NOW - 2 * HOUR, 3, table_uuid=OTHER, table="other"),
]
LOG = [moved(BIG, NOW - HOUR), change("named", NOW - 60 * HOUR, "lake.sales.orders", subject="lake.sales.orders")]
Fill = Callable[..., None]


class Iceberg:
    """Meta tables written by PyIceberg with the pipeline's schemas."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.properties = {"uri": f"sqlite:///{folder}/catalog.db", "warehouse": f"file://{folder}/wh"}
        self.catalog = SqlCatalog("lake", **self.properties)
        self.catalog.create_namespace("limnograph")

    def fill(self, snapshots: list[Any], changes: list[Any], runs: Sequence[Any] = ()) -> None:
        for table, facts in ((SNAPSHOTS, snapshots), (CHANGES, changes), (RUNS, runs)):
            name = ("limnograph", table.name)
            if not self.catalog.table_exists(name):
                # PyIceberg alone cannot write day partitions; they change what is pruned, not what is answered.
                self.catalog.create_table(name, iceberg_schema(table), properties=table_properties())
            if facts:
                self.catalog.load_table(name).append(arrow_table(table, facts))

    def engine(self) -> EmbeddedEngine:
        return EmbeddedEngine(lambda: SqlCatalog("lake", **self.properties), ("limnograph",))


@pytest.fixture(params=["memory", "embedded"])
def made(request, tmp_path) -> tuple[QueryEngine, Fill]:
    if request.param == "memory":
        engine = MemoryEngine()
        return engine, engine.append
    lake = Iceberg(tmp_path)
    return lake.engine(), lake.fill


def test_before_the_first_pass_there_are_no_rows_and_no_head(made) -> None:
    engine, _ = made
    assert (engine.head().snapshots, engine.head().changes) == (None, None)
    found = engine.select(MetaQuery(table="snapshots", columns=("snapshot_id", "committed_at")))
    assert found.shape == (0, 2)
    assert found.schema == {"snapshot_id": pl.Int64, "committed_at": pl.Int64}


def test_facts_come_back_as_they_were_written_in_time_order(made) -> None:
    engine, fill = made
    fill(ROWS, LOG)
    found = snapshot_facts(engine.select(MetaQuery(table="snapshots")))
    # PyIceberg, which stands in for Spark here, writes a missing list of structs as an empty one.
    same = [msgspec.structs.replace(fact, partitions=fact.partitions or None) for fact in found]
    assert same == [ROWS[1], ROWS[2], ROWS[0]]
    assert change_facts(engine.select(MetaQuery(table="changes"))) == [LOG[1], LOG[0]]


def test_rows_of_several_passes_are_one_table(made) -> None:
    engine, fill = made
    fill(ROWS[:1], [])
    before = engine.head()
    fill(ROWS[1:], LOG)
    assert engine.head() != before
    assert engine.select(MetaQuery(table="snapshots", columns=("snapshot_id",)))["snapshot_id"].to_list() == [1, 7, BIG]


def test_job_runs_are_read_by_the_time_of_their_transition(made) -> None:
    engine, fill = made
    reads = [RunTable(catalog="lake", namespace="sales", table="orders", role="reads", read_snapshot_id=BIG)]
    runs = [
        RunFact(run_id="late", status="ok", at=NOW, ended_at=NOW, tables=reads),
        RunFact(run_id="early", status="running", at=NOW - HOUR, started_at=NOW - HOUR, tables=reads),
    ]
    assert engine.select(MetaQuery(table="runs", columns=("run_id",))).shape == (0, 1)
    fill([], [], runs)
    found = engine.select(MetaQuery(table="runs", start=NOW - HOUR))
    assert msgspec.convert(found.to_dicts(), list[RunFact]) == runs[::-1]
    assert engine.select(MetaQuery(table="runs", start=NOW, columns=("run_id",)))["run_id"].to_list() == ["late"]
    assert engine.select(MetaQuery(table="reports")).height == 0


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        (MetaQuery(table="snapshots", start=NOW - 2 * HOUR), [7, BIG]),
        (MetaQuery(table="snapshots", end=NOW - 2 * HOUR), [1]),
        (MetaQuery(table="snapshots", start=NOW - 2 * HOUR, end=NOW - HOUR), [7]),
        (MetaQuery(table="snapshots", table_uuids=(UUID,)), [1, BIG]),
        (MetaQuery(table="snapshots", table_uuids=("it's not there",)), []),
        (MetaQuery(table="snapshots", snapshot_ids=(BIG,)), [BIG]),
        (MetaQuery(table="snapshots", snapshot_ids=(BIG, 1, 99)), [1, BIG]),
        (MetaQuery(table="snapshots", limit=1), [1]),
        (MetaQuery(table="snapshots", table_uuids=(UUID,), snapshot_ids=(7,)), []),
    ],
)
def test_conditions_are_anded_and_ranges_half_open(made, query, ids) -> None:
    engine, fill = made
    fill(ROWS, LOG)
    assert engine.select(query)["snapshot_id"].to_list() == ids


def test_changes_are_chosen_by_kind(made) -> None:
    engine, fill = made
    fill(ROWS, LOG)
    found = engine.select(MetaQuery(table="changes", kinds=("named", "gap"), columns=("to_value", "kind")))
    assert found.rows() == [("lake.sales.orders", "named")]


def test_columns_come_in_the_order_asked(made) -> None:
    engine, fill = made
    fill(ROWS, LOG)
    query = MetaQuery(table="snapshots", columns=("total_data_files", "snapshot_id"), snapshot_ids=(1,))
    assert engine.select(query).rows() == [(None, 1)]


def test_a_column_that_an_old_table_lacks_is_null_and_an_extra_one_is_left_out(tmp_path) -> None:
    lake = Iceberg(tmp_path)
    kept = ["table_uuid", "snapshot_id", "committed_at", "total_data_files"]
    old = arrow_table(SNAPSHOTS, ROWS).select(kept).append_column("of_the_future", pa.array(["x"] * len(ROWS)))
    table = lake.catalog.create_table(
        ("limnograph", "snapshots"), pa.schema([f.with_nullable(True) for f in old.schema])
    )
    table.append(pa.table(old.columns, schema=pa.schema([f.with_nullable(True) for f in old.schema])))
    found = snapshot_facts(lake.engine().select(MetaQuery(table="snapshots", snapshot_ids=(BIG,))))
    assert (found[0].total_data_files, found[0].manifests, found[0].summary) == (12, None, None)


def test_a_file_that_vanished_is_planned_again_and_then_reported(tmp_path) -> None:
    lake = Iceberg(tmp_path)
    lake.fill(ROWS, LOG)
    for file in tmp_path.rglob("*.parquet"):
        file.unlink()
    with pytest.raises(SourceUnavailable, match="vanished"):
        lake.engine().select(MetaQuery(table="snapshots"))


def test_a_catalog_that_is_away_is_a_source_that_failed(tmp_path) -> None:
    gone = {"uri": f"sqlite:///{tmp_path}/none/catalog.db", "warehouse": f"file://{tmp_path}"}
    with pytest.raises(SourceUnavailable):
        EmbeddedEngine(lambda: SqlCatalog("lake", **gone), ("limnograph",)).head()
