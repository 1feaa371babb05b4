"""What every QueryEngine promises: time order, our types, tolerant of columns, empty before the first pass.

A test module imports these tests and gives the fixture `made`: an engine, and a function that fills its tables.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import polars as pl
import pytest
from pyiceberg.catalog import Catalog, load_catalog

from limnograph.adapters.embedded import frames
from limnograph.adapters.meta.schema import arrow_table, iceberg_schema, table_properties
from limnograph.domain.facts.events import RunFact, RunTable
from limnograph.domain.facts.meta_tables import CHANGES, HOURLY, RUNS, SNAPSHOTS, PartitionFact
from limnograph.ports.query_engine import MetaQuery, QueryEngine
from limnograph.services.lake.loading import change_facts, snapshot_facts
from limnograph.services.rollups.fold import MOVE_COLUMNS, ROW_COLUMNS, Stamp, roll_hours
from serving_kit import BIG, HOUR, NOW, UUID, change, moved, row

OTHER = "00000000-0000-4000-8000-000000000002"
ROWS = [
    row(BIG, NOW - HOUR, 12, summary={"operation": "append", "x": "ü"}, refs=["main"], skew_cv=0.25, parent_id=1),
    row(
        1,
        NOW - 50 * HOUR,
        None,
        partitions=[PartitionFact(partition="day=1", data_files=3, last_committed_at=NOW - 50 * HOUR + 1)],
        file_size_histogram=[1, 2],
    ),
    row(7, NOW - 2 * HOUR, 3, table_uuid=OTHER, table="other"),
]
LOG = [moved(BIG, NOW - HOUR), change("named", NOW - 60 * HOUR, "lake.sales.orders", subject="lake.sales.orders")]


class Made(NamedTuple):
    """`fill(snapshots, changes, runs)` appends as one pass would; `roll(table, rows)` writes a whole roll-up."""

    engine: QueryEngine
    fill: Callable[..., None]
    roll: Callable[[str, pl.DataFrame], None]


class Iceberg:
    """Meta tables written by PyIceberg with the pipeline's schemas. `properties`: of the catalog; without a `type` they
    stand beside those of an SQL catalog in `folder`.
    """

    def __init__(self, folder: Path, namespace: str = "limnograph", **properties: str) -> None:
        self.namespace = namespace
        local = {"type": "sql", "uri": f"sqlite:///{folder}/catalog.db", "warehouse": f"file://{folder}/wh"}
        self.properties = properties if "type" in properties else {**local, **properties}
        self.catalog = self.open()
        self.catalog.create_namespace_if_not_exists(namespace)

    def open(self) -> Catalog:
        return load_catalog("lake", **self.properties)

    def fill(self, snapshots: list[Any], changes: list[Any], runs: Sequence[Any] = ()) -> None:
        for table, facts in ((SNAPSHOTS, snapshots), (CHANGES, changes), (RUNS, runs)):
            name = (self.namespace, table.name)
            if not self.catalog.table_exists(name):
                # PyIceberg alone cannot write day partitions; they change what is pruned, not what is answered.
                self.catalog.create_table(name, iceberg_schema(table), properties=table_properties())
            if facts:
                self.catalog.load_table(name).append(arrow_table(table, facts))

    def roll(self, table: str, rows: pl.DataFrame) -> None:
        made = self.catalog.create_table((self.namespace, table), iceberg_schema(HOURLY), properties=table_properties())
        schema = made.schema().as_arrow()
        kept = rows.with_columns(pl.col(n).cast(pl.Datetime("us", "UTC")) for n in ("hour", "rolled_at")).to_arrow()
        made.append(kept.select(schema.names).cast(schema))


def test_before_the_first_pass_there_are_no_rows_and_no_head(made) -> None:
    engine, *_ = made
    assert (engine.head().snapshots, engine.head().changes) == (None, None)
    found = engine.select(MetaQuery(table="snapshots", columns=("snapshot_id", "committed_at")))
    assert found.shape == (0, 2)
    assert found.schema == {"snapshot_id": pl.Int64, "committed_at": pl.Int64}


def test_facts_are_read_back_as_they_were_written_in_time_order(made) -> None:
    engine, fill, _ = made
    fill(ROWS, LOG)
    found = snapshot_facts(engine.select(MetaQuery(table="snapshots")))
    # PyIceberg, which stands in for Spark here, writes a missing list of structs as an empty one.
    same = [msgspec.structs.replace(fact, partitions=fact.partitions or None) for fact in found]
    assert same == [ROWS[1], ROWS[2], ROWS[0]]
    assert change_facts(engine.select(MetaQuery(table="changes"))) == [LOG[1], LOG[0]]


def test_rows_of_several_passes_are_one_table(made) -> None:
    engine, fill, _ = made
    fill(ROWS[:1], [])
    before = engine.head()
    fill(ROWS[1:], LOG)
    assert engine.head() != before
    assert engine.select(MetaQuery(table="snapshots", columns=("snapshot_id",)))["snapshot_id"].to_list() == [1, 7, BIG]


def test_job_runs_are_read_by_the_time_of_their_transition(made) -> None:
    engine, fill, _ = made
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
    engine, fill, _ = made
    fill(ROWS, LOG)
    assert engine.select(query)["snapshot_id"].to_list() == ids


def test_changes_are_filtered_by_kind(made) -> None:
    engine, fill, _ = made
    fill(ROWS, LOG)
    found = engine.select(MetaQuery(table="changes", kinds=("named", "gap"), columns=("to_value", "kind")))
    assert found.rows() == [("lake.sales.orders", "named")]


def test_snapshots_are_filtered_by_operation(made) -> None:
    engine, fill, _ = made
    fill([*ROWS, row(9, NOW - 3 * HOUR, 4, operation="replace"), row(10, NOW, 4, operation=None)], LOG)
    query = MetaQuery(table="snapshots", operations=("replace", "delete"), columns=("snapshot_id",))
    assert engine.select(query).rows() == [(9,)]
    every = MetaQuery(table="changes", operations=("replace",), columns=("kind",))
    assert engine.select(every).height == len(LOG), "only snapshots have operations"


def test_effects_that_were_never_written_are_no_rows(made) -> None:
    engine, *_ = made
    assert engine.select(MetaQuery(table="effects", columns=("verdict", "runs_after"))).columns == [
        "verdict",
        "runs_after",
    ]


def test_columns_are_in_the_requested_order(made) -> None:
    engine, fill, _ = made
    fill(ROWS, LOG)
    query = MetaQuery(table="snapshots", columns=("total_data_files", "snapshot_id"), snapshot_ids=(1,))
    assert engine.select(query).rows() == [(None, 1)]


def hours() -> pl.DataFrame:
    """Roll-up of ROWS by hour, none of them a move of main."""
    rows = frames.frame("snapshots", ROWS).select(ROW_COLUMNS)
    moves = pl.DataFrame(schema=dict.fromkeys(MOVE_COLUMNS, pl.Int64) | {"table_uuid": pl.String})
    return roll_hours(rows, moves, rows, Stamp(1, 1, NOW))


def test_rollups_are_read_by_their_span(made) -> None:
    engine, _, roll = made
    assert engine.select(MetaQuery(table="snapshots_hourly", columns=("hour",))).shape == (0, 1)
    roll("snapshots_hourly", hours())
    query = MetaQuery(table="snapshots_hourly", table_uuids=(UUID,), start=NOW - 2 * HOUR)
    found = engine.select(query)
    assert found["hour"].to_list() == [(NOW - HOUR) // HOUR * HOUR]
    assert found.schema == frames.schema_of(HOURLY.columns)
    assert found["commits"].to_list() == [1]
