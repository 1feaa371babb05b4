"""Statistics of columns are kept per commit for seven days, then as days; a deletion that dies is completed."""

from __future__ import annotations

import pytest

from limnograph.adapters.meta.schema import arrow_table
from limnograph.domain.facts.column_stats import ColumnStat, ColumnStatsFact
from limnograph.domain.facts.meta_tables import COLUMN_DAYS, COLUMN_STATS
from limnograph.domain.failpoints import FailpointReached, around
from upkeep_world import World

DAY = 86_400_000_000


def put(world: World, snapshot_id: int, at: int, *columns: ColumnStat) -> None:
    fact = ColumnStatsFact(table_uuid="u", snapshot_id=snapshot_id, committed_at=at, columns=list(columns))
    world.store.append(COLUMN_STATS, arrow_table(COLUMN_STATS, [fact]), world.store.head(COLUMN_STATS), "r")


def old_and_new(world: World) -> None:
    now = world.clock.micros // DAY * DAY
    put(world, 1, now - 9 * DAY + 5, ColumnStat(1, "a", "long", 10, 1, None, "9", "30"))
    put(world, 2, now - 9 * DAY + 9, ColumnStat(1, "a", "long", 30, 5, 2, "-7", "10"), ColumnStat(2, "b", "date", 30))
    put(world, 3, now - 7 * DAY, ColumnStat(1, "a", "long", 1, 0))


def test_old_rows_become_one_row_a_day() -> None:
    world = World()
    old_and_new(world)
    assert world.column_retention().old()
    done = world.column_retention().run()
    assert (done.rows, done.days) == (2, 1)
    assert [row["snapshot_id"] for row in world.store.rows(COLUMN_STATS).to_pylist()] == [3]
    (day,) = world.store.rows(COLUMN_DAYS).to_pylist()
    first, second = day["columns"]
    assert (day["commits"], first["values"], first["nulls"], first["nans"]) == (2, 40, 6, None)
    assert (first["lower"], first["upper"]) == ("-7", "30")  # by number, not by text
    assert (second["values"], second["lower"]) == (30, None)
    assert not world.column_retention().old()


def test_days_are_deleted_by_month_after_400_days() -> None:
    world = World()
    put(world, 1, world.clock.micros // DAY * DAY - 450 * DAY, ColumnStat(1, "a"))
    world.column_retention().run()
    assert world.store.rows(COLUMN_DAYS).num_rows == 0


@pytest.mark.parametrize("name", around(("merge_columns", "delete_columns")))
def test_a_retention_that_dies_anywhere_is_completed_by_the_next(name: str) -> None:
    world = World()
    old_and_new(world)
    with pytest.raises(FailpointReached):
        world.column_retention(f"{name}:1:raise").run()
    world.column_retention().run()
    assert world.store.rows(COLUMN_STATS).num_rows == 1
    assert [row["commits"] for row in world.store.rows(COLUMN_DAYS).to_pylist()] == [2]
    assert not any(
        step.did and step.table == COLUMN_STATS.name for step in world.settle()[1:] if step.kind == "retention"
    )
