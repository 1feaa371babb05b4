"""Columns that scans filter come first, most often filtered first; what cannot be read stays as it was."""

from __future__ import annotations

from typing import Any

from limnograph.adapters.meta.schema import arrow_table
from limnograph.domain.errors import SourceUnavailable
from limnograph.domain.facts.meta_tables import READS_HOURLY
from limnograph.domain.facts.reads import ColumnCount, ReadsFact
from limnograph.domain.metadata.due import DueTable
from limnograph.services.pipeline.column_choices import ColumnChoices
from upkeep_world import World

HOUR = 3_600_000_000
DUE = DueTable(catalog="c", namespace="n", table="t", table_uuid="u", metadata_location="", snapshot_ids=[])


def put(world: World, hour: int, **columns: int) -> None:
    counts = [ColumnCount(name, count) for name, count in columns.items()]
    fact = ReadsFact(table_uuid="u", hour=hour, filter_columns=counts)
    world.store.append(READS_HOURLY, arrow_table(READS_HOURLY, [fact]), world.store.head(READS_HOURLY), "r")


def test_the_most_filtered_columns_of_the_last_week_come_first() -> None:
    world = World()
    now = world.clock.micros // HOUR * HOUR
    put(world, now - 8 * 24 * HOUR, old=900)
    put(world, now - 2 * HOUR, region=2, day=3)
    put(world, now - HOUR, region=4, a=3)
    choice = ColumnChoices(world.upkeep, world.clock, ("code",)).of(DUE)
    assert (choice.filtered, choice.bounds) == (("region", "a", "day"), ("code",))


def test_they_are_read_once_an_hour_and_stay_if_they_cannot_be_read() -> None:
    world = World()
    choices = ColumnChoices(world.upkeep, world.clock, ())
    put(world, world.clock.micros // HOUR * HOUR - HOUR, region=1)
    assert choices.of(DUE).filtered == ("region",)
    put(world, world.clock.micros // HOUR * HOUR - HOUR, day=5)
    assert choices.of(DUE).filtered == ("region",)
    world.clock.micros += HOUR
    rows = world.upkeep.rows

    def down(*_given: Any) -> Any:
        raise SourceUnavailable("meta store", "down")

    world.upkeep.rows = down  # type: ignore[method-assign]
    assert choices.of(DUE).filtered == ("region",)
    world.upkeep.rows = rows  # type: ignore[method-assign]
    world.clock.micros += HOUR
    assert choices.of(DUE).filtered == ("day", "region")
