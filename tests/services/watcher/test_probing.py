"""When tables are probed, by a virtual clock: intervals by need, the budget, what goes first, what it costs."""

from __future__ import annotations

from collections import Counter

from limnograph.domain.ids import TableName
from limnograph.ports.catalog import CatalogNames, ProbeResult, TablePointer
from limnograph.services.watcher.schedule import INTERVALS_S, LISTED_S, ProbeSchedule

INF = float("inf")


def name(number: int | str) -> TableName:
    return TableName("rest", "sales", f"t{number}")


def at(table: TableName, version: int = 0) -> TablePointer:
    return TablePointer(table, "iceberg", f"s3://lake/{table.table}/{version}.json")


class World:
    """A catalog whose tables commit every so many seconds (0: never); `tells`: probes say when they last did."""

    def __init__(self, every: dict[TableName, float], rate: float = 20.0, *, tells: bool = True) -> None:
        self.every, self.tells = every, tells
        self.schedule = ProbeSchedule(rate)
        self.now = 0.0
        self.probes: list[tuple[float, TableName]] = []
        self.schedule.listed(CatalogNames(dict.fromkeys(every)), list(every), self.now)

    def commits(self, table: TableName) -> int:
        return int(self.now // self.every[table]) if self.every[table] else 0

    def found(self, table: TableName) -> ProbeResult:
        every = self.every[table]
        quiet = self.now % every if every else self.now + 1e6
        return ProbeResult(at(table, self.commits(table)), *((quiet, every or None) if self.tells else (None, None)))

    def run(self, until: float) -> None:
        while self.now < until:
            table = self.schedule.take(self.now)
            if table is None:
                self.now += max(0.001, min(self.schedule.rest(self.now), until - self.now))
            else:
                self.probes.append((self.now, table))
                self.schedule.found(table, self.found(table), self.now)

    def counted(self, since: float = 0.0) -> Counter[TableName]:
        return Counter(table for when, table in self.probes if when >= since)


def test_tables_that_commit_often_are_probed_often_and_idle_ones_every_quarter_of_an_hour() -> None:
    busy, hourly, idle = name("busy"), name("hourly"), name("idle")
    world = World({busy: 5.0, hourly: 3600.0, idle: 0.0})
    world.run(36_000)
    last = world.counted(since=32_400)
    assert last[busy] > 1_200
    assert 20 < last[hourly] < 200
    assert last[idle] in {3, 4}


def test_without_commit_times_the_schedule_learns_intervals_from_pointer_moves() -> None:
    busy, idle = name("busy"), name("idle")
    world = World({busy: 5.0, idle: 0.0}, tells=False)
    world.run(36_000)
    last = world.counted(since=32_400)
    assert last[busy] > 1_200
    assert last[idle] in {3, 4}


def test_a_burst_after_a_long_pause_is_followed_closely() -> None:
    daily = name("daily")
    world = World({daily: 86_400.0})
    world.run(2 * 86_400 + 60)
    first = next(when for when, _ in world.probes if when >= 2 * 86_400)
    assert first - 2 * 86_400 <= INTERVALS_S[-1]
    world.run(first + 120)
    assert world.counted(since=first)[daily] > 20


def test_the_budget_is_never_exceeded_and_all_tables_are_reached() -> None:
    world = World({name(i): 0.0 for i in range(1_000)}, rate=10)
    world.run(105)
    assert set(world.counted()) == set(world.every)
    per_second = Counter(int(when) for when, _ in world.probes)
    assert max(per_second.values()) <= 30
    assert len(world.probes) <= 10 * 105 + 20


def test_40_000_tables_are_all_reached_within_35_minutes_at_the_default_budget() -> None:
    world = World({name(i): 0.0 for i in range(40_000)})
    world.run(35 * 60)
    assert set(world.counted()) == set(world.every)
    assert len(world.probes) <= 20 * 35 * 60 + 40


def test_under_a_budget_that_is_too_small_every_table_waits_in_proportion_to_its_own_interval() -> None:
    busy = {name(f"busy{i}"): 2.0 for i in range(20)}
    idle = {name(f"idle{i}"): 0.0 for i in range(2_000)}
    world = World({**busy, **idle}, rate=5)
    world.run(8_000)
    last = world.counted(since=2_000)
    assert min(last[table] for table in busy) > 50 * max(1, *(last[table] for table in idle))
    assert all(last[table] for table in idle)


def test_viewed_tables_are_probed_first() -> None:
    world = World({name(i): 0.0 for i in range(500)}, rate=1)
    world.run(1)
    world.schedule.hurry([name(400), name("stranger")])
    world.run(4)
    before, after = [t for t in world.probes if t[0] < 1], [t for when, t in world.probes if when >= 1]
    assert before
    assert after[0] == name(400)
    assert len(after) <= 4


def test_a_table_that_fails_waits_longer_each_time_and_keeps_its_pointer() -> None:
    schedule = ProbeSchedule(INF)
    table = name(1)
    schedule.listed(CatalogNames({table: None}), [table], 0.0)
    assert schedule.take(0.0) == table
    schedule.found(table, ProbeResult(at(table), 0.0, 1.0), 0.0)
    waits, now = [], 1.0
    for _ in range(8):
        assert schedule.take(now) == table
        schedule.failed(table, now)
        wait = schedule.rest(now)
        waits.append(wait)
        now += wait
    assert waits == [30, 60, 120, 240, 480, 900, 900, 900]
    assert schedule.pointers() == [at(table)]


def test_a_listing_adds_and_removes_tables_but_an_incomplete_one_only_adds() -> None:
    schedule = ProbeSchedule(INF)
    one, two, three = name(1), name(2), name(3)
    schedule.listed(CatalogNames({one: None, two: None}), [one, two], 0.0)
    for table in (one, two):
        schedule.take(0.0)
        schedule.found(table, ProbeResult(at(table)), 0.0)
    assert schedule.listed(CatalogNames({two: None}, ("a namespace did not answer",)), [two], 1.0) is False
    assert len(schedule.pointers()) == 2
    assert schedule.listed(CatalogNames({two: None, three: None}), [two, three], 2.0) is True
    assert schedule.pointers() == [at(two)]
    assert schedule.fresh == 1


def test_where_listings_return_pointers_only_busy_tables_are_probed_in_addition() -> None:
    busy, idle = name("busy"), name("idle")
    world = World({busy: 3.0, idle: 0.0}, tells=False)
    listings = int(7_200 / LISTED_S)
    for _ in range(listings):
        world.run(world.now + LISTED_S)
        found = {table: at(table, world.commits(table)) for table in world.every}
        world.schedule.listed(CatalogNames(found), list(found), world.now)
    last = world.counted(since=3_600)
    assert last[idle] == 0
    assert last[busy] > 600


def test_a_dropped_table_no_longer_has_a_pointer() -> None:
    schedule = ProbeSchedule(INF)
    table = name(1)
    schedule.listed(CatalogNames({table: None}), [table], 0.0)
    schedule.take(0.0)
    assert schedule.found(table, ProbeResult(at(table)), 0.0) is True
    assert schedule.found(table, ProbeResult(None), 1.0) is True
    assert schedule.found(table, ProbeResult(None), 2.0) is False
    assert schedule.pointers() == []
