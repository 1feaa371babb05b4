"""A backfill takes the newest days first, whole ones, in portions of which each is durable; the rest is resumed."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from limnograph.domain.facts.meta_tables import CHANGES, SNAPSHOTS, MetaTable
from limnograph.domain.failpoints import FailpointReached
from limnograph.domain.metadata.due import DueTable
from limnograph.ports.extraction import ExtractedRows
from limnograph.services.pipeline.passes import Passes
from limnograph.services.pipeline.portions import BLOCK_DAYS, UNIT_SNAPSHOTS
from memory_meta import LocalExtraction, MemoryMetaStore, local_passes
from metadata_writer import MetadataTable
from pointed_lake import NearLake, PointedLake

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS


@pytest.fixture
def lake(tmp_path: Path) -> PointedLake:
    return PointedLake(tmp_path)


def aged(lake: PointedLake, name: str, *hours: int) -> MetadataTable:
    """A table with a commit at each of these hours."""
    table = lake.written(name, list_it=False)
    begin = table.now_ms // DAY_MS * DAY_MS
    for hour in hours:
        table.now_ms = begin + hour * HOUR_MS - 1_000  # a commit moves the clock by a second
        table.append(table.file("eu"))
    lake.point(name, table)
    return table


def passes_of(lake: PointedLake, store: MemoryMetaStore, failpoint: str = "", **how: Any) -> Passes:
    return local_passes(lake, store, failpoint, observed=NearLake(lake), **how)


def days_of_appends(store: MemoryMetaStore) -> list[list[tuple[str, int]]]:
    """`(table, UTC day)` of the rows of every append, in the order of the appends."""
    found, before = [], 0
    for _, rows in store.versions["snapshots"]:
        new = rows.slice(before).select(["table", "committed_at"]).to_pylist()
        found.append(sorted({(row["table"], row["committed_at"].toordinal()) for row in new}))
        before = rows.num_rows
    return found


def test_the_newest_31_days_of_all_tables_come_before_older_ones(lake: PointedLake) -> None:
    aged(lake, "sales.busy", *range(0, 100 * 24, 12))
    aged(lake, "sales.idle", 5, 6, 30)
    store = MemoryMetaStore()
    passes_of(lake, store).run()
    first, *others = days_of_appends(store)
    assert {table for table, _ in first} == {"busy", "idle"}
    busy = [{day for table, day in append if table == "busy"} for append in (first, *others)]
    assert len(busy[0]) == BLOCK_DAYS
    assert all(min(newer) > max(older) for newer, older in pairwise(busy))
    assert sum(map(len, busy)) == 100


class OneUnitARound:
    """Extraction that has time for one table, or one part of its history, and says so."""

    def __init__(self) -> None:
        self.asked = 0

    def run(self, due: list[DueTable]) -> ExtractedRows:
        self.asked += 1
        return LocalExtraction().run(due[:1])._replace(unreached=frozenset(range(1, len(due))))


def rows_of(store: MemoryMetaStore) -> dict[int, dict[str, Any]]:
    """Rows by id, without what is of the run that made them."""
    runs = ("run_id", "observed_at")
    found = [{k: v for k, v in row.items() if k not in runs} for row in store.rows(SNAPSHOTS).to_pylist()]
    assert len({row["snapshot_id"] for row in found}) == len(found)
    return {row["snapshot_id"]: row for row in found}


def test_a_day_of_a_table_is_one_append_and_its_rows_refer_to_each_other(lake: PointedLake) -> None:
    table = aged(lake, "sales.busy", *(day * 24 + hour for day in range(70) for hour in (1, 9, 23)))
    store = MemoryMetaStore()
    passes_of(lake, store, extraction=OneUnitARound()).run()
    appends = Counter(day for append in days_of_appends(store) for day in append)
    assert (len(appends), set(appends.values())) == (70, {1})
    assert len(store.versions["snapshots"]) == 3
    assert rows_of(store).keys() == table.snapshots.keys()


def test_what_a_round_did_not_reach_follows_in_the_same_pass(lake: PointedLake) -> None:
    aged(lake, "sales.busy", *range(0, 100 * 24, 24))
    aged(lake, "sales.idle", 5)
    store, slow = MemoryMetaStore(), OneUnitARound()
    report = passes_of(lake, store, extraction=slow).run()
    assert (report.snapshots_appended, report.failed, report.pending, slow.asked) == (101, (), False, 5)


@pytest.mark.parametrize("where", ["before", "after"])
@pytest.mark.parametrize("nth", [1, 2, 3, 4])
def test_a_backfill_that_died_at_any_portion_is_resumed_to_the_same_rows(
    lake: PointedLake, where: str, nth: int
) -> None:
    aged(lake, "sales.busy", *sorted(random.Random(nth).sample(range(100 * 24), 180)))
    aged(lake, "sales.idle", 5, 40 * 24)
    whole = MemoryMetaStore()
    passes_of(lake, whole, extraction=OneUnitARound()).run()
    store = MemoryMetaStore()
    with pytest.raises(FailpointReached):
        passes_of(lake, store, f"{where}_append_snapshots:{nth}:raise", extraction=OneUnitARound()).run()
    assert len(store.versions["snapshots"]) == (nth if where == "after" else nth - 1)
    resumed = passes_of(lake, store, extraction=OneUnitARound()).run()
    assert (resumed.gaps, resumed.pending) == (0, False)
    assert rows_of(store) == rows_of(whole)
    assert [row.kind for row in store.changes(store.head(CHANGES)) if row.kind == "gap"] == []


def test_fresh_commits_do_not_wait_for_the_history_of_another_table(lake: PointedLake) -> None:
    aged(lake, "sales.busy", *range(0, 100 * 24, 24))
    fresh = aged(lake, "sales.fresh", 1)
    store = MemoryMetaStore()
    passes = passes_of(lake, store, extraction=OneUnitARound(), backfill_seconds=0)
    first = passes.run()
    assert (first.snapshots_appended, first.pending, first.more) == (1 + BLOCK_DAYS, True, True)
    fresh.append(fresh.file("us"))
    lake.point("sales.fresh", fresh)
    assert passes.run().snapshots_appended == 1
    patient = passes_of(lake, store, extraction=OneUnitARound())
    assert (patient.run().snapshots_appended, patient.run().pending) == (100 - BLOCK_DAYS, False)


def test_a_pass_that_is_stopped_ends_after_the_portion(lake: PointedLake) -> None:
    table = aged(lake, "sales.busy", *range(0, 100 * 24, 24))
    store = MemoryMetaStore()
    passes = passes_of(lake, store, extraction=OneUnitARound(), stop=lambda: store.head(SNAPSHOTS) is not None)
    report = passes.run()
    assert (report.snapshots_appended, report.pending, report.more) == (BLOCK_DAYS, True, True)
    assert passes_of(lake, store).run().snapshots_appended == 100 - BLOCK_DAYS
    assert rows_of(store).keys() == table.snapshots.keys()


def test_rivals_backfill_one_history_without_duplicate_rows(lake: PointedLake) -> None:
    table = aged(lake, "sales.busy", *range(0, 130 * 24, 24))
    store = MemoryMetaStore()
    rivals = iter([passes_of(lake, store, extraction=OneUnitARound()) for _ in range(3)])

    def cut_in(meta: MetaTable) -> None:
        if meta is SNAPSHOTS and len(store.versions["snapshots"]) % 2 and (rival := next(rivals, None)):
            rival.run()

    store.before_append = cut_in
    passes_of(lake, store, extraction=OneUnitARound()).run()
    assert rows_of(store).keys() == table.snapshots.keys()


def test_a_day_of_thousands_of_commits_is_split_into_parts_with_a_deadline_each(lake: PointedLake) -> None:
    table = lake.written("sales.storm", list_it=False)
    document = table.document()
    begin = table.now_ms // DAY_MS * DAY_MS
    many = 2 * UNIT_SNAPSHOTS + 7
    document["snapshots"] = [
        {"snapshot-id": i + 1, "sequence-number": i + 1, "timestamp-ms": begin + i, "manifest-list": "file:///nowhere"}
        for i in range(many)
    ]
    table.edit = lambda written: written.update(document)
    table.write()
    lake.point("sales.storm", table)
    asked: list[int] = []

    class Counting(LocalExtraction):
        def run(self, due: Sequence[DueTable]) -> ExtractedRows:
            asked.extend(len(part.snapshot_ids) for part in due)
            return super().run(due)

    store = MemoryMetaStore()
    assert passes_of(lake, store, extraction=Counting()).run().snapshots_appended == many
    assert asked == [UNIT_SNAPSHOTS, UNIT_SNAPSHOTS, 7]
