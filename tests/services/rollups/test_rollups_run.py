"""Roll-ups over a store: whatever came when, and whoever died where, hours and days say what the raw rows say."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from limnograph.domain.facts.meta_tables import CHANGES, DAILY, HOURLY, SNAPSHOTS, MetaTable
from limnograph.domain.failpoints import FailpointReached, around
from limnograph.ports.meta_upkeep import Where
from limnograph.services.rollups.fold import DAY, HOUR, ROW_COLUMNS, Stamp, fold_days, roll_hours
from limnograph.services.rollups.marks import RAW_FLOOR
from limnograph.services.rollups.step import moves_of
from upkeep_world import NOW, World

ROLL_STEPS = ("merge_hours", "merge_days", "mark_rolled")
STAMPS = ("source_sequence", "changes_sequence", "rolled_at")


def expected(world: World, table: MetaTable) -> list[dict[str, Any]]:
    """The roll-up of everything at once."""
    rows, log = (
        world.upkeep.rows(t, world.upkeep.standing(t).position, columns, Where())
        for t, columns in ((SNAPSHOTS, ROW_COLUMNS), (CHANGES, ("table_uuid", "from_value", "to_value", "at")))
    )
    hours = roll_hours(rows, moves_of(log), rows, Stamp(0, 0, 0))
    return unstamped((hours if table is HOURLY else fold_days(hours, Stamp(0, 0, 0))).to_dicts())


def unstamped(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name not in STAMPS} for row in rows]


def assert_exact(world: World) -> None:
    for table in (HOURLY, DAILY):
        assert unstamped(world.read(table)) == expected(world, table)


EVENTS = st.lists(
    st.one_of(
        st.tuples(st.just("commit"), st.integers(1, 9), st.integers(0, 50), st.sampled_from("uv"), st.booleans()),
        st.tuples(st.just("rollback"), st.integers(1, 9), st.integers(0, 50), st.sampled_from("uv"), st.just(False)),
        st.just(("roll", 0, 0, "", False)),
    ),
    max_size=15,
)


@settings(max_examples=25, deadline=None)
@given(EVENTS)
def test_a_roll_up_in_any_pieces_equals_the_roll_up_of_everything(events: list[Any]) -> None:
    world = World()
    known: set[tuple[str, int]] = set()
    for number, (what, snapshot_id, hour, series, main) in enumerate(events):
        at = NOW - hour * HOUR + number  # entries of main's log have a key: no two are the same
        if what == "roll":
            world.rollups().run()
        elif what == "rollback":
            world.moves((snapshot_id, at), series=series)
        elif (series, snapshot_id) not in known:
            known.add((series, snapshot_id))
            world.commit(snapshot_id, at, series=series, main=main, total_records=snapshot_id, added_records=hour)
    world.rollups().run()
    if world.store.head(SNAPSHOTS) is not None:
        assert_exact(world)


def test_a_second_run_and_a_run_without_new_rows_write_nothing() -> None:
    world = World()
    world.commit(1, NOW)
    assert (world.rollups().run().hours, world.rollups().behind()) == (1, False)
    before = list(world.upkeep.calls)
    assert world.rollups().run().hours == 0
    assert world.upkeep.calls == before


def test_a_row_that_arrives_after_main_was_rolled_back_to_it_marks_both_hours_dirty() -> None:
    world = World()
    world.commit(1, NOW - 9 * HOUR, total_records=5)
    world.moves((2, NOW - 8 * HOUR), (2, NOW - HOUR))
    world.rollups().run()
    assert [h["total_records_last"] for h in world.hours("total_records_last")] == [5, None, None]
    world.rows(world.fact(2, NOW - 8 * HOUR, total_records=7))
    world.rollups().run()
    assert [h["total_records_last"] for h in world.hours("total_records_last")] == [5, 7, 7]
    assert_exact(world)


def test_a_row_dated_after_the_move_of_main_to_it_marks_the_hour_of_the_move_dirty() -> None:
    world = World()
    world.commit(9, NOW - 9 * HOUR, series="other")
    world.moves((1, NOW - HOUR))
    world.rollups().run()
    world.commit(1, NOW, main=False, total_records=7)  # by a clock that is ahead
    world.rollups().run()
    assert 7 in [hour["total_records_last"] for hour in world.hours("total_records_last")]
    assert_exact(world)


@pytest.mark.parametrize("name", around(ROLL_STEPS))
def test_a_roll_up_that_dies_anywhere_is_completed_by_the_next(name: str) -> None:
    world = World()
    world.commit(1, NOW - 30 * HOUR, total_records=1)
    world.rollups().run()
    world.commit(2, NOW - 29 * HOUR, total_records=2)
    world.commit(3, NOW, total_records=3)
    with pytest.raises(FailpointReached):
        world.rollups(f"{name}:1:raise").run()
    world.rollups().run()
    assert_exact(world)
    assert world.rollups().behind() is False


def test_a_roll_up_of_older_heads_never_replaces_a_newer_one() -> None:
    world = World()
    world.commit(1, NOW, total_records=1)
    late = world.rollups()
    stale: list[Any] = []

    def overtake(call: str, table: MetaTable) -> None:
        if call == "merge" and table is HOURLY and not stale:
            stale.append(call)
            world.commit(2, NOW + 1, total_records=2)
            world.rollups().run()

    world.upkeep.before = overtake
    late.run()
    assert stale
    assert_exact(world)
    world.rollups().run()
    assert_exact(world)


def test_days_before_the_floor_are_closed_for_rolled_up_tables_and_open_for_new_ones() -> None:
    world = World()
    old = NOW - 40 * DAY
    world.commit(1, old, total_records=1)
    world.rollups().run()
    world.upkeep.set_properties(SNAPSHOTS, {RAW_FLOOR: "2024-09-01"})
    assert old < 19_967 * DAY  # that date
    world.commit(2, old + 1, total_records=2)
    world.commit(3, old + 2, series="new", total_records=3)
    assert world.rollups().run().closed == 1
    assert [(d["table_uuid"], d["commits"]) for d in world.days("commits")] == [("new", 1), ("u", 1)]


def test_days_older_than_the_retained_hours_have_only_a_daily_row() -> None:
    world = World()
    long_ago = NOW - 500 * DAY
    for number, hour in enumerate((0, 3, 3), 1):
        world.commit(number, long_ago + hour * HOUR, total_records=number)
    world.commit(9, NOW, total_records=9)
    world.rollups().run()
    assert len(world.hours()) == 1
    assert [d["commits"] for d in world.days("commits")] == [3, 1]
    world.commit(4, long_ago + 5 * HOUR, total_records=4)
    world.rollups().run()
    first = world.days("commits", "total_records_last")[0]
    assert (first["commits"], first["total_records_last"]) == (4, 4)


def test_a_backfill_of_many_days_is_rolled_up_by_whole_days() -> None:
    world = World()
    world.rows(*(world.fact(i, NOW - i * DAY // 3, total_records=i) for i in range(1, 60)))
    world.moves(*((i, NOW - i * DAY // 3) for i in range(1, 60)))
    world.rollups(rows_at_once=20).run()
    assert_exact(world)
    assert world.upkeep.calls.count(("merge", HOURLY.name)) > 3
