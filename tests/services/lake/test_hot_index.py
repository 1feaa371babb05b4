"""The hot index fed by new files alone is the index that reads everything; what does not fit is read cold."""

import asyncio
from random import Random

import polars as pl
import pytest

from limnograph.adapters.embedded import frames
from limnograph.adapters.memory.query_engine import MemoryEngine
from limnograph.domain.queries import CommitsQuery, FleetQuery
from limnograph.ports.query_engine import MetaQuery
from limnograph.services.lake.lake import Facts
from limnograph.services.lake.store import HotStore
from serving_kit import HOUR, MINUTE, NOW, UUID, FixedClock, change, commit_lists, lake, moved, parts, row


class FilesOf:
    """Port Fresh over an engine in memory: each append is a file."""

    def __init__(self, engine: MemoryEngine) -> None:
        self.engine, self.asked = engine, 0
        self.appends: list[tuple[int, dict[str, list]]] = []

    def append(self, snapshots, changes) -> None:
        self.engine.append(snapshots, changes)
        self.appends.append((self.engine.head().snapshots or 0, {"snapshots": snapshots, "changes": changes}))

    def unordered(self, query: MetaQuery) -> pl.DataFrame:
        return self.engine.select(query).reverse()

    def fresh(self, query: MetaQuery, since: int) -> pl.DataFrame | None:
        self.asked += 1
        rows = [row for version, file in self.appends if version > since for row in file[query.table]]
        return frames.answer(frames.frame(query.table, rows).lazy(), query)


def told(chance: Random, number: int, now: int):
    """A commit of one of three tables, with its move and now and then something else."""
    uuid = f"{UUID[:-1]}{chance.randrange(3)}"
    own = {"table_uuid": uuid, "table": f"t{uuid[-1]}"}
    at = now - chance.choice([0, 0, 0, chance.randrange(47) * HOUR]) - number
    fact = row(number, at, chance.choice([None, number]), manifests=chance.choice([None, 3]), observed_at=now, **own)
    changes = [moved(number, at, **own)] if chance.random() < 0.8 else []
    if chance.random() < 0.2:
        changes.append(change("schema", now - number, str(chance.randrange(3)), from_value="0", **own))
    return fact, changes


def shown(store: HotStore):
    return {
        uuid: (history.main, history.ordered, history.provisional, history.name, [c.at for c in history.changes])
        for uuid, history in store.reading.lake.histories.items()
    }


@pytest.mark.parametrize("seed", range(20))
def test_reading_only_new_files_builds_the_same_index_as_reading_everything(seed: int) -> None:
    chance, clock, engine = Random(seed), FixedClock(NOW), MemoryEngine()
    files = FilesOf(engine)
    whole, by_file = HotStore(engine, clock), HotStore(engine, clock, fresh=files)
    waiting = []
    for number in range(1, 26):
        waiting.append(told(chance, number, clock.micros))
        if chance.random() < 0.4:
            facts = Facts([fact for fact, _ in waiting], [c for _, changes in waiting for c in changes])
            whole.apply(facts)
            by_file.apply(facts)
        if chance.random() < 0.4:
            files.append([fact for fact, _ in waiting], [c for _, changes in waiting for c in changes])
            waiting = []
            assert whole.refresh() == by_file.refresh()
            assert whole.reading.error is by_file.reading.error is None
        assert shown(by_file) == shown(whole)
        assert by_file.watermark == whole.watermark
    assert files.asked


def test_a_new_head_reads_its_files_and_not_the_window() -> None:
    files = FilesOf(MemoryEngine())
    files.append([row(1, NOW - HOUR, 1)], [moved(1, NOW - HOUR)])
    made = HotStore(files.engine, FixedClock(), fresh=files)
    made.refresh()
    untouched = made.reading.lake.tables[UUID]
    files.append([row(2, NOW - MINUTE, 2, table_uuid="other", table="other")], [])
    made.refresh()
    assert made.reading.lake.tables[UUID] is untouched
    assert made.reading.lake.histories["other"].head.total_data_files == 2


def test_a_rollback_to_an_evicted_row_loads_it_again() -> None:
    files = FilesOf(MemoryEngine())
    files.append([row(1, NOW - 90 * HOUR, 7), row(2, NOW - 80 * HOUR, 8)], [moved(2, NOW - 80 * HOUR)])
    made = HotStore(files.engine, FixedClock(), fresh=files)
    made.refresh()
    files.append([row(3, NOW - MINUTE, 9, table_uuid="other", table="other")], [moved(1, NOW - MINUTE)])
    made.refresh()
    assert made.reading.lake.histories[UUID].head.total_data_files == 7


def many(tables: int, hours: int):
    rows, log = [], []
    for number in range(tables):
        own = {"table_uuid": f"u{number}", "table": f"t{number}"}
        for i in range(hours):
            snapshot_id = number * 1_000 + i + 1
            rows.append(row(snapshot_id, NOW - (hours - i) * HOUR + 1, i, added_data_files=i, **own))
            log.append(moved(snapshot_id, NOW - (hours - i) * HOUR + 1, **own))
    return lake(rows, log)


def test_beyond_the_budget_old_hours_are_evicted_and_responses_stay_the_same() -> None:
    engine, all_of_it = many(6, 40), parts(many(6, 40))
    most = all_of_it.store.nbytes // 2
    made = parts(engine, hot_bytes=most)
    assert made.store.nbytes <= most
    assert made.store.reading.lake.edges
    assert asyncio.run(made.backend.status.status()).hot.tables_shortened == len(made.store.reading.lake.edges)
    for hours in (39, 30, 12, 2):
        query = FleetQuery(start=(NOW - hours * HOUR) // 1000, end=NOW // 1000, sort="delta_data_files")
        assert asyncio.run(made.backend.fleet.page(query)) == asyncio.run(all_of_it.backend.fleet.page(query))
        asked = CommitsQuery(start=query.start, end=query.end, limit=500)
        lists = [asyncio.run(commit_lists(one.store).page(asked)) for one in (made, all_of_it)]
        assert lists[0] == lists[1]


def test_a_viewed_table_keeps_its_hours_longest() -> None:
    made = HotStore(many(6, 40), FixedClock(), most_bytes=parts(many(6, 40)).store.nbytes * 19 // 20)
    made.asked("u3")
    made.refresh()
    assert made.reading.lake.edges
    assert "u3" not in made.reading.lake.edges


def test_the_fleet_keeps_no_cached_state_of_a_changed_table() -> None:
    made = parts(many(3, 10))
    query = FleetQuery(start=(NOW - 6 * HOUR) // 1000, end=NOW // 1000, sort="data_files")
    before = asyncio.run(made.backend.fleet.page(query)).rows
    made.store.apply(
        Facts(
            [row(5_000, NOW - MINUTE, 900, table_uuid="u1", table="t1")],
            [moved(5_000, NOW - MINUTE, table_uuid="u1", table="t1")],
        )
    )
    after = asyncio.run(made.backend.fleet.page(query)).rows
    assert [r.values.data_files for r in before] == [9, 9, 9]
    assert [(r.table, r.values.data_files) for r in after] == [("t1", 900), ("t0", 9), ("t2", 9)]
