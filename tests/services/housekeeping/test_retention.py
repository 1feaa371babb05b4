"""Retention: old raw rows go when the lake has forgotten them and their days are rolled, never before."""

from __future__ import annotations

import pytest

from limnograph.domain.facts.meta_tables import HOURLY, SNAPSHOTS
from limnograph.domain.failpoints import FailpointReached, around
from limnograph.services.housekeeping.retention import RetentionReport
from limnograph.services.rollups.fold import DAY, HOUR
from limnograph.services.rollups.marks import RAW_FLOOR
from upkeep_world import NOW, World

OLD = NOW - 40 * DAY


def test_a_row_is_deleted_only_when_it_is_old_and_its_id_has_left_the_metadata_that_was_read() -> None:
    world = World()
    for number, (at, series) in enumerate([(OLD, "u"), (OLD + HOUR, "u"), (NOW, "u"), (OLD, "unread")], 1):
        world.commit(number, at, series=series)
    world.lake["u"] = {2}
    del world.lake["unread"]
    assert world.retention().run() == RetentionReport(deleted_rows=1)
    assert world.left() == [2, 3]
    assert world.left("unread") == [4]


def test_all_old_rows_of_a_dropped_table_are_deleted() -> None:
    world = World()
    world.commit(1, OLD)
    world.commit(2, NOW)
    del world.lake["u"]
    world.dropped.add("u")
    world.retention().run()
    assert world.left() == [2]


def test_hours_and_days_are_rolled_up_and_the_floor_is_stored_before_the_first_row_is_deleted() -> None:
    world = World()
    world.commit(1, OLD, added_records=7)
    world.lake["u"] = set()
    seen: list[object] = []
    world.upkeep.before = lambda call, _table: seen.append(
        (call, world.upkeep.properties[SNAPSHOTS.name].get(RAW_FLOOR), len(world.days())) if call == "delete" else call
    )
    world.retention().run()
    assert seen[-1] == ("delete", "2024-08-26", 1)
    assert (world.left(), world.days("added_records")[0]["added_records"]) == ([], 7)


def test_the_floor_never_falls_and_closed_days_are_not_rolled_up_again_after_deletion() -> None:
    world = World()
    for number, at in enumerate((OLD, OLD + 5 * DAY), 1):
        world.commit(number, at, added_records=number)
    world.lake["u"] = {1}
    world.retention().run()
    floor = world.upkeep.properties[SNAPSHOTS.name][RAW_FLOOR]
    world.lake["u"] = set()
    world.retention().run()
    assert world.upkeep.properties[SNAPSHOTS.name][RAW_FLOOR] == floor
    assert world.left() == []
    world.clock.micros += HOUR
    world.rollups().run()
    assert [d["added_records"] for d in world.days("added_records")] == [1, 2]


def test_a_late_fact_stays_raw_and_is_counted() -> None:
    world = World()
    world.commit(1, OLD)
    world.lake["u"] = set()
    world.retention().run()
    world.commit(2, OLD + HOUR)
    world.lake["u"] = set()
    assert world.retention().run() == RetentionReport(deleted_rows=0, late_facts=1)
    assert world.left() == [2]
    assert world.days("commits")[0]["commits"] == 1


def test_a_row_that_a_retained_row_is_a_difference_from_is_retained_through_the_whole_chain() -> None:
    world = World()
    world.commit(1, OLD, partitions_scope="full")
    world.commit(2, OLD + 1, partitions_scope="changed", partitions_base=1)
    world.commit(3, OLD + 2, partitions_scope="changed", partitions_base=2)
    world.commit(4, OLD + 3, partitions_scope="changed", partitions_base=3)
    world.commit(5, NOW, partitions_scope="changed", partitions_base=3)
    world.commit(6, OLD + 4, partitions_scope="full")
    world.lake["u"] = {5}
    world.retention().run()
    assert world.left() == [1, 2, 3, 5]


@pytest.mark.parametrize("name", around(("raise_floor", "delete_raw")))
def test_retention_that_dies_anywhere_is_finished_by_the_next_and_the_roll_up_keeps_all(name: str) -> None:
    world = World()
    for number in range(1, 4):
        world.commit(number, OLD + number * HOUR, added_records=1)
    world.lake["u"] = {3}
    with pytest.raises(FailpointReached):
        world.retention(f"{name}:1:raise").run()
    world.clock.micros += HOUR
    world.rollups().run()
    world.retention().run()
    assert world.left() == [3]
    assert world.days("commits", "added_records")[0]["commits"] == 3


def test_hours_are_deleted_by_whole_months_and_days_are_kept_forever() -> None:
    world = World()
    world.commit(1, NOW - 399 * DAY)
    world.rollups().run()
    assert world.retention().old() is True  # an old raw row, which the lake still has
    assert world.retention().run().deleted_months == 0
    world.clock.micros += 60 * DAY
    assert world.retention().run().deleted_months == 1
    assert (len(world.hours()), len(world.days())) == (0, 1)
    assert ("delete_before", HOURLY.name) in world.upkeep.calls


def test_nothing_is_old_in_a_young_store() -> None:
    world = World()
    world.commit(1, NOW - 29 * DAY)
    world.rollups().run()
    assert world.retention().old() is False
    assert world.retention().run() == RetentionReport()
