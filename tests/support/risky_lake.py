"""A log that nothing compacts, in the shared lake, and what follows once it is compacted by hand and then every night.

Its commits are made within seconds by the demo's own means and moved to their planned instants afterwards. Then the
catalog is pointed from one stage of the history to the next, as a pipeline would have seen them.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField

from lakes import Lake
from limnograph.demo.compaction import described, files_of, replace
from limnograph.demo.lake.commits import mark, newest_snapshot, placeholders
from limnograph.demo.lake.timeshift import CatalogFile, shift
from limnograph.demo.story.calendar import DAY, HOUR, MINUTE
from limnograph.demo.story.plan import NIGHTLY, PLAIN
from limnograph.demo.story.steps import MB, Files

THRESHOLD = 500.0
"""Of its small files: 100 that no compaction merges, and 30 a day for twelve days."""
DAYS = 12


class Stages(NamedTuple):
    """Metadata files of the table: before any compaction; a day later, after the one by hand (`by_hand`: its
    snapshot); eight days later, with one every night.
    """

    grown: str
    day_later: str
    week_later: str
    by_hand: int


def build(lake: Lake, name: str, warned_at: int, now: int) -> Stages:
    """The table `name` (`namespace.table`), its history until `now`. Instants are epoch ms."""
    lake.catalog.create_namespace_if_not_exists(name.split(".", maxsplit=1)[0])
    table = lake.catalog.create_table(name, Schema(NestedField(1, "id", LongType())), properties=PLAIN)
    first, by_hand = warned_at - DAYS * DAY, warned_at + 2 * HOUR + MINUTE
    steps = {first: Files(225, stem="base"), first + HOUR: Files(100, (40 * MB, 90 * MB), 300_000, "resting")}
    small = Files(10, (9 * MB, 24 * MB), 60_000, NIGHTLY)
    steps |= dict.fromkeys(range(first + 2 * HOUR, now - HOUR, 8 * HOUR), small)
    merges = range(by_hand, now - HOUR, DAY)
    marks = [mark(table, first - MINUTE, None)]
    for at in sorted([*steps, *merges]):
        before = newest_snapshot(table)
        if at in steps:
            with table.transaction() as changed, changed.update_snapshot().fast_append() as added:
                for file in placeholders(table, steps[at], at, at):
                    added.append_data_file(file)
        else:
            replace(table, files_of(table, NIGHTLY), described)
        marks.append(mark(table, at, before))
    database = Path(lake.properties["uri"].removeprefix("sqlite:///"))
    stages = shift(CatalogFile(database), name, marks, 1)
    known = {stage.snapshots: stage.location for stage in stages}
    commits = [one for one in marks if one.snapshot_id is not None]
    hand = next(one for one in commits if one.planned == by_hand)
    assert hand.snapshot_id is not None
    before, day = (sum(one.planned <= warned_at + hours * HOUR for one in commits) for hours in (0, 25))
    return Stages(known[before], known[day], known[len(commits)], hand.snapshot_id)
