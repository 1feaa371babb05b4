"""Statistics of columns: what a commit added, against what its rows hold. What not every file states is null."""

from __future__ import annotations

import datetime as dt
import random
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyiceberg.table import Table

from lakes import FixedClock, Lake, due_of, rewrite_metadata
from limnograph.adapters.iceberg.reader import IcebergReader
from limnograph.adapters.storage.files import FileStorage
from limnograph.domain.facts.column_stats import ColumnStat
from limnograph.domain.facts.meta_tables import COLUMN_STATS, SNAPSHOTS, SnapshotFact
from limnograph.domain.metadata.due import ColumnChoice
from limnograph.services.extraction.extract import extract
from memory_meta import MemoryMetaStore, local_passes

CHOICE = ColumnChoice()
NOW = dt.datetime(2026, 11, 20, tzinfo=dt.UTC)
SCHEMA = pa.schema(
    [
        ("number", pa.int64()),
        ("small", pa.int32()),
        ("ratio", pa.float64()),
        ("price", pa.decimal128(12, 2)),
        ("day", pa.date32()),
        ("at", pa.timestamp("us", tz="UTC")),
        ("email", pa.string()),
        ("flag", pa.bool_()),
        ("nested", pa.struct([("depth", pa.int64())])),
    ]
)


def batch(seed: int, count: int = 40) -> pa.Table:
    rng = random.Random(seed)

    def row(index: int) -> dict[str, Any]:
        return {
            "number": rng.randrange(-(2**40), 2**40),
            "small": rng.choice((None, -5, 7)),
            "ratio": rng.choice((float("nan"), -1.5 - index, 2.25 + index)),
            "price": Decimal(rng.randrange(-10_000, 10_000)).scaleb(-2),
            "day": NOW.date() - dt.timedelta(days=rng.randrange(2000)),
            "at": NOW - dt.timedelta(seconds=rng.randrange(10**6)),
            "email": f"needle{index}@example.org",
            "flag": True,
            "nested": {"depth": index},
        }

    return pa.Table.from_pylist([row(index) for index in range(count)], SCHEMA)


def table_of(lake: Lake, name: str = "columns", **properties: str) -> Table:
    lake.catalog.create_namespace_if_not_exists("sales")
    return lake.catalog.create_table(f"sales.{name}", SCHEMA, properties=properties)


def found(
    lake: Lake,
    choice: ColumnChoice | None = CHOICE,
    reader: IcebergReader | None = None,
    name: str = "columns",
    private: tuple[str, ...] = (),
) -> list[SnapshotFact]:
    due = due_of(lake, name)
    asked = type(due)(**{field: getattr(due, field) for field in due.__struct_fields__} | {"columns": choice})
    return extract(asked, reader or IcebergReader(FileStorage()), FixedClock(), private)


def a_minute_before(document: dict[str, Any]) -> None:
    document["snapshots"][0]["timestamp-ms"] -= 60_000


def at_second_seven(document: dict[str, Any]) -> None:
    for snapshot in document["snapshots"]:
        snapshot["timestamp-ms"] = 1_790_000_000_000 // 60_000 * 60_000 + 7_000


def replaced(document: dict[str, Any]) -> None:
    for snapshot in document["snapshots"]:
        snapshot["summary"]["operation"] = "replace"


def by_name(fact: SnapshotFact) -> dict[str, ColumnStat]:
    return {stat.name: stat for stat in fact.column_stats or ()}


def test_counts_and_bounds_are_those_of_the_rows(lake: Lake) -> None:
    table, rows = table_of(lake), batch(1)
    table.append(rows)
    stats = by_name(found(lake)[0])
    assert list(stats) == [*SCHEMA.names[:-1], "nested.depth"]
    for name in ("number", "small", "price"):
        bounds = pc.min_max(rows.column(name)).as_py()
        assert (stats[name].lower, stats[name].upper) == (str(bounds["min"]), str(bounds["max"]))
    assert stats["small"].nulls == rows.column("small").null_count > 0
    assert {stat.values for stat in stats.values()} == {40}
    days = pc.min_max(rows.column("day")).as_py()
    assert (stats["day"].lower, stats["day"].upper) == (days["min"].isoformat(), days["max"].isoformat())
    at = pc.max(rows.column("at")).as_py()
    assert stats["at"].upper == at.isoformat().replace("+00:00", "Z")
    real = rows.column("ratio").drop_null().filter(pc.invert(pc.is_nan(rows.column("ratio"))))
    assert (float(stats["ratio"].lower or 0), float(stats["ratio"].upper or 0)) == (
        pc.min(real).as_py(),
        pc.max(real).as_py(),
    )
    assert (stats["nested.depth"].nulls, stats["nested.depth"].upper) == (0, None)  # PyIceberg writes no bound of it
    assert (stats["email"].lower, stats["flag"].lower) == (None, None)


def test_only_the_files_that_a_commit_added_count(lake: Lake) -> None:
    table = table_of(lake)
    table.append(batch(1, count=10))
    table.append(batch(2, count=25))
    lake.move("sales.columns", rewrite_metadata(lake.load("sales.columns"), a_minute_before))
    facts = found(lake)
    assert [by_name(fact)["number"].values for fact in facts] == [10, 25]
    assert by_name(facts[1])["number"].lower == str(pc.min(batch(2, count=25).column("number")).as_py())


def test_manifests_that_the_cache_knows_give_the_same_statistics(lake: Lake) -> None:
    table = table_of(lake)
    table.append(batch(3))
    reader = IcebergReader(FileStorage())
    without = found(lake, None, reader)
    assert without[0].column_stats is None
    assert found(lake, reader=reader)[0].column_stats == found(lake)[0].column_stats != None  # noqa: E711


def test_text_has_bounds_only_where_the_settings_name_it_and_private_columns_have_none(lake: Lake) -> None:
    table_of(lake, **{"limnograph.private-columns": "price"}).append(batch(4))
    named = by_name(found(lake, ColumnChoice(bounds=("em*",)), private=("AT",))[0])
    assert (named["email"].lower or "").startswith("needle")
    assert [named[name].lower for name in ("at", "price")] == [None, None]
    assert [named[name].nulls for name in ("at", "price")] == [0, 0]
    both = by_name(found(lake, ColumnChoice(bounds=("email",)), private=("email",))[0])
    assert both["email"].lower is None


def test_a_number_that_one_file_does_not_state_is_unknown(lake: Lake) -> None:
    table = table_of(lake, **{"write.metadata.metrics.column.number": "none"})
    table.append(batch(5))
    assert "number" not in by_name(found(lake)[0])
    with table.transaction() as tx:
        tx.set_properties({"write.metadata.metrics.column.number": "full"})
    stats = by_name(found(lake)[0])
    assert "number" not in stats
    assert stats["small"].values == 40


def test_one_commit_a_minute_has_statistics_and_a_compaction_none(lake: Lake) -> None:
    table = table_of(lake)
    for seed in range(3):
        table.append(batch(seed, count=5))
    lake.move("sales.columns", rewrite_metadata(lake.load("sales.columns"), at_second_seven))
    assert [fact.column_stats is not None for fact in found(lake)] == [True, False, False]
    lake.move("sales.columns", rewrite_metadata(lake.load("sales.columns"), replaced))
    assert [fact.column_stats is not None for fact in found(lake)] == [False, False, False]


@pytest.mark.parametrize("filtered", [(), ("c59", "c58")])
def test_filtered_columns_come_before_the_first_of_the_schema(lake: Lake, filtered: tuple[str, ...]) -> None:
    lake.catalog.create_namespace_if_not_exists("sales")
    wide = pa.table({f"c{number}": [number] for number in range(60)})
    lake.catalog.create_table("sales.wide", wide.schema).append(wide)
    stats = by_name(found(lake, ColumnChoice(filtered=filtered), name="wide")[0])
    assert len(stats) == 50
    assert ("c59" in stats) == bool(filtered)
    assert ("c49" in stats) != bool(filtered)


def test_a_pass_appends_statistics_once_and_before_the_snapshots(lake: Lake) -> None:
    table = table_of(lake)
    table.append(batch(8))
    store, clock = MemoryMetaStore(), FixedClock((table.current_snapshot().timestamp_ms + 1000) * 1000)  # type: ignore[union-attr]
    passes = local_passes(lake, store, "before_append_snapshots:1:raise", clock=clock, columns=lambda _: ColumnChoice())
    with pytest.raises(Exception, match="before_append_snapshots"):
        passes.run()
    assert (store.rows(COLUMN_STATS).num_rows, store.rows(SNAPSHOTS).num_rows) == (1, 0)
    local_passes(lake, store, clock=clock, columns=lambda _: ColumnChoice()).run()
    assert (store.rows(COLUMN_STATS).num_rows, store.rows(SNAPSHOTS).num_rows) == (1, 1)
    (row,) = store.rows(COLUMN_STATS).to_pylist()
    assert (row["table_uuid"], row["columns"][0]["values"]) == (str(table.metadata.table_uuid), 40)
    assert "needle" not in repr(store.rows(COLUMN_STATS).to_pylist())
