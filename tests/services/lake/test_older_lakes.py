"""What is older than memory: read in pieces of a day, only the columns of the question, and the same answers."""

import asyncio
import random

import polars as pl

from limnograph.adapters.memory.query_engine import MemoryEngine
from limnograph.domain.answers.commits import CommitRow
from limnograph.domain.queries import CommitsQuery, FleetQuery
from limnograph.ports.query_engine import MetaQuery
from limnograph.services.fleet.page import FleetService
from limnograph.services.lake.cold_lake import PIECES
from limnograph.services.lake.store import HotStore
from serving_kit import HOUR, NOW, FixedClock, commit_lists, lake, moved, parts, row

TABLES, DAYS = 3, 7
DAY = 24 * HOUR


class Asked(MemoryEngine):
    """An engine that remembers what it was asked, and how many rows it answered."""

    def __init__(self, known: MemoryEngine) -> None:
        super().__init__()
        self._known, self.reads = known, list[tuple[MetaQuery, int]]()

    def head(self):
        return self._known.head()

    def properties(self, table):
        return self._known.properties(table)

    def select(self, query: MetaQuery) -> pl.DataFrame:
        found = self._known.select(query)
        self.reads.append((query, found.height))
        return found


def week() -> MemoryEngine:
    """Commits every hour or so, with schema changes, branches and unknown numbers among them."""
    chance, rows, log = random.Random(7), [], []
    for number in range(TABLES * DAYS * 24):
        at = NOW - (number // TABLES) * HOUR - chance.randrange(HOUR)
        own = {"table_uuid": f"uuid-{number % TABLES}", "table": f"t{number % TABLES}"}
        told = {
            "added_data_files": chance.choice((None, 1, 10_001)),
            "operation": chance.choice(("append", "replace", None)),
            "schema_id": chance.choice((0, 0, 0, 1)),
            "parent_id": number + TABLES,
            "on_main": chance.random() < 0.9,
            "app_name": chance.choice(("ingest", None)),
            "small_files": 3,
        }
        rows.append(row(number, at, chance.choice((10, 30, None)), **own, **told))
        log.append(moved(number, at, **own))
    return lake(rows, log)


def listed(store: HotStore, **given: object) -> list[CommitRow]:
    query = CommitsQuery(start=(NOW - 6 * DAY) // 1000, end=(NOW - 3 * DAY) // 1000, limit=500, **given)
    return asyncio.run(commit_lists(store).page(query)).rows


def test_a_list_of_old_commits_reads_only_its_rows_and_equals_the_list_from_memory() -> None:
    engine = Asked(week())
    cold, hot = HotStore(engine, FixedClock()), HotStore(week(), FixedClock(), window_us=DAYS * DAY)
    for store in (cold, hot):
        store.refresh()
    engine.reads.clear()
    for given in ({}, {"min_added_data_files": 10_000}, {"operation": "replace"}, {"schema_changed": True}):
        assert listed(cold, **given) == listed(hot, **given) != []
    spans = [query for query, _ in engine.reads if query.table == "snapshots" and query.start is not None]
    assert spans
    assert not {"small_files", "total_records", "debt_files"} & {name for query in spans for name in query.columns}


class CommittedMeanwhile(Asked):
    """An engine to which another pass appends between a read of the rows and a read of main's log."""

    def __init__(self, known: MemoryEngine) -> None:
        super().__init__(known)
        self.added = list[str]()

    def select(self, query: MetaQuery) -> pl.DataFrame:
        found = super().select(query)
        if query.table == "snapshots" and query.start is not None and query.end is None:
            number = 10_000 + len(self.added)
            at, own = NOW - HOUR // 2 + len(self.added) * HOUR // 3, {"table_uuid": "uuid-1", "table": "t1"}
            self._known.append([row(number, at, 40, **own)], [moved(number, at, **own)])
            self.added.append(str(number))
        return found


def test_commits_that_arrive_during_a_cold_read_are_listed_in_their_place() -> None:
    engine = CommittedMeanwhile(week())
    store = HotStore(engine, FixedClock())
    store.refresh()
    query = CommitsQuery(start=(NOW - 6 * DAY) // 1000, end=NOW // 1000, limit=1_000)
    rows = asyncio.run(commit_lists(store).page(query)).rows
    assert {*engine.added} <= {each.snapshot_id for each in rows}
    assert [each.t for each in rows] == sorted((each.t for each in rows), reverse=True)
    assert len({each.snapshot_id for each in rows}) == len(rows)


def test_old_rows_of_all_tables_are_read_day_by_day_and_those_of_one_table_together() -> None:
    engine = Asked(week())
    made = parts(engine)
    engine.reads.clear()
    query = FleetQuery(start=(NOW - 6 * DAY) // 1000, end=NOW // 1000)
    assert [one.values.commits for one in asyncio.run(made.backend.fleet.page(query)).rows] == [6 * 24] * TABLES
    read = [rows for query, rows in engine.reads if query.table == "snapshots" and query.start is not None]
    assert len(read) == 6
    assert max(read) <= (24 + 1) * TABLES
    engine.reads.clear()
    made.store.since(NOW - 5 * DAY, ("uuid-1",))
    assert sum(query.table == "snapshots" and query.start is not None for query, _ in engine.reads) == 1


def test_a_span_that_begins_before_all_commits_needs_no_more_reads() -> None:
    engine = Asked(week())
    made = parts(engine)
    engine.reads.clear()
    query = FleetQuery(start=0, end=NOW // 1000)
    assert [one.values.commits for one in asyncio.run(made.backend.fleet.page(query)).rows] == [DAYS * 24] * TABLES
    read = [rows for query, rows in engine.reads if query.table == "snapshots" and query.start is not None]
    assert len(read) == DAYS
    assert max(read) <= (24 + 1) * TABLES


def test_a_long_span_needs_a_bounded_number_of_reads() -> None:
    old = [row(1, NOW - 3_000 * DAY, 10), row(2, NOW - HOUR, 12)]
    engine = Asked(lake(old, [moved(1, NOW - 3_000 * DAY), moved(2, NOW - HOUR)]))
    made = parts(engine)
    engine.reads.clear()
    query = FleetQuery(start=(NOW - 3_000 * DAY) // 1000, end=NOW // 1000)
    assert [one.values.commits for one in asyncio.run(made.backend.fleet.page(query)).rows] == [2]
    assert 1 < sum(query.table == "snapshots" and query.start is not None for query, _ in engine.reads) <= PIECES


def test_a_fleet_of_days_ago_reads_only_its_days_and_columns_and_equals_the_fleet_from_memory() -> None:
    engine = Asked(week())
    cold, hot = parts(engine), HotStore(week(), FixedClock(), window_us=DAYS * DAY)
    whole = FleetService(hot, cold.jobs, FixedClock(), findings=cold.backend.findings)
    hot.refresh()
    engine.reads.clear()
    for hours in (1, 7, 30):
        for growth in ({}, {"grew": 0.0, "within_s": 300}, {"grew": 0.0, "within_s": 7_200}):
            start = NOW - 6 * DAY + hours * HOUR
            query = FleetQuery(start=start // 1000, end=(start + hours * HOUR) // 1000, **growth)
            shown = asyncio.run(cold.backend.fleet.page(query))
            assert shown.rows == asyncio.run(whole.page(query)).rows
            assert shown.rows or growth
    spans = [(query, rows) for query, rows in engine.reads if query.table == "snapshots" and query.start is not None]
    assert spans
    assert max(query.end for query, _ in spans) <= NOW - 2 * DAY
    assert not {"total_position_deletes", "debt_files", "app_name"} & {
        name for query, _ in spans for name in query.columns
    }
