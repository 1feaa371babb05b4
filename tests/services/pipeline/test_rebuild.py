"""Rebuild of meta tables in memory: whatever was deleted, what the lake still has is there again, the rest told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import msgspec
import pytest

from lakes import FixedClock, Lake, rewrite_metadata, rows
from limnograph.adapters.meta.schema import arrow_table
from limnograph.domain.facts.meta_tables import (
    ALERTS,
    CHANGES,
    DAILY,
    HOURLY,
    META_TABLES,
    SNAPSHOTS,
    ChangeFact,
    MetaTable,
    SnapshotFact,
)
from limnograph.domain.failpoints import FailpointReached, Failpoints
from limnograph.ports.meta_upkeep import Where
from limnograph.services.pipeline.appending import MetaAppender
from limnograph.services.pipeline.rebuild import Rebuild, Rebuilt
from limnograph.services.rollups.fold import DAY
from limnograph.services.rollups.marks import RAW_FLOOR
from limnograph.services.rollups.step import Rollups
from limnograph.wiring.observe import SettingsLake
from memory_meta import MemoryMetaStore, local_passes, run_all
from memory_upkeep import MemoryUpkeep


class MemoryTables:
    """Port MetaTables over the store in memory."""

    def __init__(self, store: MemoryMetaStore, upkeep: MemoryUpkeep) -> None:
        self.store, self.upkeep = store, upkeep
        self.half: set[str] = set()

    def lost(self) -> list[MetaTable]:
        if not self.store.versions:
            return []
        return [t for t in META_TABLES if t.name not in self.store.versions or t.name in self.half]

    def recreate(self, tables: Sequence[MetaTable], properties: Mapping[str, Mapping[str, str]]) -> None:
        for table in tables:
            self.store.versions[table.name] = []
            self.half.add(table.name)
            self.upkeep.forget(table, dict(properties.get(table.name, {})))

    def reopen(self, tables: Sequence[MetaTable], since: int) -> None:
        for table in tables:
            found = self.upkeep.rows(table, self.upkeep.standing(table).position, _columns(table), Where()).to_dicts()
            zero = {"source_sequence": 0, "changes_sequence": 0}
            self.upkeep.put(table, [row | zero if row[table.key[1]] >= since else row for row in found])

    def finish(self, tables: Sequence[MetaTable]) -> None:
        self.half -= {table.name for table in tables}


class Site:
    """A lake of one table with commits of now, and meta tables that a pipeline has filled and rolled up."""

    def __init__(self, lake: Lake) -> None:
        self.lake, self.clock = lake, FixedClock(_now())
        self.store = MemoryMetaStore()
        self.upkeep = MemoryUpkeep(self.store, self.clock)
        self.tables = MemoryTables(self.store, self.upkeep)
        table = lake.table()
        for _ in range(4):
            table.append(rows("eu"))
        self.work()

    def work(self) -> None:
        """Passes until nothing is due, and a roll-up."""
        self.clock.micros = _now()
        run_all(local_passes(self.lake, self.store, clock=self.clock))
        Rollups(self.upkeep, self.clock, Failpoints(), 400).run()

    def drop(self, *tables: MetaTable) -> None:
        for table in tables:
            del self.store.versions[table.name]
            self.upkeep.forget(table, {})

    def rebuild(self, failpoint: str = "") -> Rebuilt:
        appending = MetaAppender(self.store, lambda found: arrow_table(CHANGES, found))
        made = Rebuild(
            self.tables,
            self.store,
            self.upkeep,
            SettingsLake(self.lake.settings()),
            appending,
            clock=self.clock,
            failpoints=Failpoints(failpoint),
        )
        return made.run()

    def forget_two(self) -> None:
        """The lake expires its two oldest commits."""
        table = self.lake.load()
        gone = {s.snapshot_id for s in sorted(table.snapshots(), key=lambda s: s.sequence_number or 0)[:2]}

        def expire(document: dict[str, Any]) -> None:
            for key in ("snapshots", "snapshot-log"):
                document[key] = [entry for entry in document[key] if entry["snapshot-id"] not in gone]

        self.lake.move("sales.orders", rewrite_metadata(table, expire))

    def rolled(self, table: MetaTable) -> list[dict[str, Any]]:
        """Roll-ups without what they were made from."""
        found = self.upkeep.rows(table, self.upkeep.standing(table).position, _columns(table), Where()).to_dicts()
        stamps = {"source_sequence", "changes_sequence", "rolled_at"}
        return [{k: v for k, v in row.items() if k not in stamps} for row in found]

    def ids(self) -> list[int]:
        return sorted(self.store.rows(SNAPSHOTS).column("snapshot_id").to_pylist())

    def changes(self, kind: str) -> list[ChangeFact]:
        return [row for row in self.store.changes(self.store.head(CHANGES)) if row.kind == kind]

    def in_lake(self) -> list[int]:
        return sorted(s.snapshot_id for s in self.lake.load().snapshots())


@pytest.fixture
def site(lake: Lake) -> Site:
    return Site(lake)


def _columns(table: MetaTable) -> tuple[str, ...]:
    return tuple(column.name for column in table.columns)


def _now() -> int:
    from limnograph.adapters.system_clock import SystemClock

    return SystemClock().now()


DELETED = [(SNAPSHOTS,), (CHANGES,), (HOURLY,), (DAILY,), (SNAPSHOTS, CHANGES), (SNAPSHOTS, HOURLY), (HOURLY, DAILY)]


def _names(tables: Sequence[MetaTable]) -> str:
    return "+".join(table.name for table in tables)


@pytest.mark.parametrize("deleted", DELETED, ids=_names)
def test_a_rebuild_restores_everything_that_the_lake_still_has(site: Site, deleted: tuple[MetaTable, ...]) -> None:
    before = site.rolled(HOURLY), site.rolled(DAILY)
    kinds = sorted((r.kind, r.subject, r.to_value) for r in site.store.changes(site.store.head(CHANGES)))
    site.drop(*deleted)
    assert set(site.rebuild().tables) == {table.name for table in deleted}
    site.work()
    assert site.ids() == site.in_lake()
    assert (site.rolled(HOURLY), site.rolled(DAILY)) == before
    assert sorted((r.kind, r.subject, r.to_value) for r in site.store.changes(site.store.head(CHANGES))) == kinds
    site.lake.load().append(rows("eu"))
    site.work()
    assert site.ids() == site.in_lake()
    assert sum(row["commits"] for row in site.rolled(HOURLY)) == sum(row["commits"] for row in site.rolled(DAILY)) == 5


def test_commits_that_the_lake_has_expired_are_a_counted_gap(site: Site) -> None:
    site.drop(SNAPSHOTS)
    site.forget_two()
    assert (site.rebuild().gaps, site.rebuild().gaps) == (1, 0)
    site.work()
    assert site.ids() == site.in_lake()
    (gap,) = site.changes("gap")
    assert msgspec.json.decode(gap.detail or "")["missed_snapshots"] == 2


def test_roll_ups_of_days_before_the_last_one_stay_though_their_snapshots_are_expired(site: Site) -> None:
    old = _now() // DAY * DAY - 3 * DAY
    fact = SnapshotFact(table_uuid="u", snapshot_id=7, committed_at=old, operation="append", table="gone")
    site.store.append(SNAPSHOTS, arrow_table(SNAPSHOTS, [fact]), site.store.head(SNAPSHOTS), "run")
    site.work()
    before = [row for row in site.rolled(DAILY) if row["table_uuid"] == "u"]
    assert [row["commits"] for row in before] == [1]
    site.drop(SNAPSHOTS)
    site.rebuild()
    site.work()
    assert [row for row in site.rolled(DAILY) if row["table_uuid"] == "u"] == before
    assert RAW_FLOOR in site.upkeep.standing(SNAPSHOTS).properties


def test_series_keep_their_ids_and_floors_when_changes_is_lost(site: Site) -> None:
    first = site.changes("first_seen")[0]
    site.drop(CHANGES)
    site.rebuild()
    again = site.changes("first_seen")[0]
    assert (again.table_uuid, again.subject, again.to_value) == (first.table_uuid, first.subject, first.to_value)
    assert msgspec.json.decode(again.detail or "") == msgspec.json.decode(first.detail or "")


def test_days_without_raw_rows_are_rebuilt_from_their_hours(site: Site) -> None:
    days = site.rolled(DAILY)
    site.upkeep.set_properties(SNAPSHOTS, {RAW_FLOOR: "2999-01-01"})
    site.store.overwrite(SNAPSHOTS, site.store.rows(SNAPSHOTS).slice(0, 1))
    site.drop(DAILY)
    site.rebuild()
    site.clock.micros = _now()
    Rollups(site.upkeep, site.clock, Failpoints(), 400).run()
    whole = [row for row in days if row["day"] < _now() // DAY * DAY]
    assert [row for row in site.rolled(DAILY) if row["day"] < _now() // DAY * DAY] == whole


def test_losses_that_cannot_be_rebuilt_are_reported(site: Site) -> None:
    site.drop(ALERTS)
    assert site.rebuild().emptied == ("alerts",)
    assert site.rebuild().tables == ()


@pytest.mark.parametrize(
    "name", ["before_create_tables", "after_create_tables", "before_mark_rolled", "after_mark_rolled"]
)
@pytest.mark.parametrize("deleted", [(SNAPSHOTS,), (CHANGES,), (DAILY,)], ids=_names)
def test_a_rebuild_that_dies_is_still_needed_and_the_next_one_completes_it(
    site: Site, name: str, deleted: tuple[MetaTable, ...]
) -> None:
    before = site.rolled(HOURLY), site.rolled(DAILY)
    site.drop(*deleted)
    with pytest.raises(FailpointReached):
        site.rebuild(f"{name}:1:raise")
    assert [table.name for table in site.tables.lost()] == [table.name for table in deleted]
    site.rebuild()
    site.work()
    assert site.tables.lost() == []
    assert site.ids() == site.in_lake()
    assert (site.rolled(HOURLY), site.rolled(DAILY)) == before


def test_main_moves_once_through_every_rebuild(site: Site) -> None:
    for table in (CHANGES, SNAPSHOTS):
        site.drop(table)
        site.rebuild()
        site.work()
        moves = [(row.to_value, row.at) for row in site.changes("ref")]
        assert len(moves) == len(set(moves)) == 4
        assert all(one <= other for one, other in pairwise(sorted(at for _, at in moves)))
