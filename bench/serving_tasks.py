"""Tasks of `serving.py`: the hot index on generated meta tables, and the peers on the same files."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import meta_lake

Clock = Callable[[], AbstractContextManager[None]]
SIX_HOURS = 6 * 3_600 * 1_000_000
GREW, WITHIN = 0.2, 300
SERIES_A_TABLE = 10
COMMITS = 40


class _At:
    """A clock fixed at the end of the generated lake."""

    def now(self) -> int:
        return meta_lake.END


def _engine(folder: str) -> Any:
    from limnograph.adapters.embedded.fresh import FreshEngine

    engine = FreshEngine(lambda: meta_lake.catalog(Path(folder)), ("limnograph",))
    engine.head()
    return engine


def _store(folder: str) -> Any:
    from limnograph.services.lake.store import HotStore

    engine = _engine(folder)
    return HotStore(engine, _At(), fresh=engine)


def _loaded(folder: str) -> Any:
    store = _store(folder)
    store.refresh()
    if store.reading.error:
        raise SystemExit(str(store.reading.error))
    return store


def _resident_mb() -> float:
    found = re.search(r"VmRSS:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(found[1]) / 1024 if found else 0.0


def hot_rebuild(clock: Clock, folder: str, small: str) -> list[float]:
    """Rows and megabytes of the window; a lake of one table is read first, so that libraries do not count."""
    _loaded(small)
    store = _store(folder)
    before = _resident_mb()
    with clock():
        store.refresh()
    time.sleep(2)  # allocators release the memory used for reading
    return [store.rows, round(_resident_mb() - before, 1)]


def hot_q1_ours(clock: Clock, folder: str, table: str) -> list[int]:
    from limnograph.services.lake.columns import NULL
    from limnograph.services.lake.history import History

    store, uuid, found = _loaded(folder), meta_lake.uuid_of(int(table)), []
    for _ in range(200):
        with clock():
            history = History(store.reading.lake.tables[uuid])
            commits = history.between(meta_lake.END - SIX_HOURS, meta_lake.END)
            files = commits.numbers("total_data_files")
            found = [len(commits), int(files[files != NULL].sum())]
    return found


def hot_q1_pyiceberg(clock: Clock, folder: str, table: str) -> list[int]:
    import datetime as dt

    from pyiceberg.expressions import And, EqualTo, GreaterThanOrEqual, LessThan

    rows = meta_lake.catalog(Path(folder)).load_table(("limnograph", "snapshots"))
    start, end = (
        dt.datetime.fromtimestamp(at / 1_000_000, tz=dt.UTC).isoformat()
        for at in (meta_lake.END - SIX_HOURS, meta_lake.END)
    )
    span = And(GreaterThanOrEqual("committed_at", start), LessThan("committed_at", end))
    chosen, found = And(EqualTo("table_uuid", meta_lake.uuid_of(int(table))), span), None
    for _ in range(3):
        with clock():
            found = rows.scan(row_filter=chosen, selected_fields=("committed_at", "total_data_files")).to_arrow()
    return [found.num_rows, sum(found["total_data_files"].to_pylist())] if found else []


def growth_ours(clock: Clock, folder: str) -> int:
    from limnograph.services.fleet.growth_index import GrowthIndex

    store, index, found = _loaded(folder), GrowthIndex(), 0
    tables, span = store.reading.lake.listed, (meta_lake.END - SIX_HOURS, meta_lake.END)
    index.update(tables, meta_lake.END)
    for _ in range(50):
        with clock():
            found = int(index.grown(tables, span, GREW, WITHIN, meta_lake.END).sum())
    return found


def growth_new_range(clock: Clock, folder: str) -> int:
    """The page of 50 tables that grew in six hours, for new ranges: a minute earlier each time."""
    from limnograph.adapters.memory.inbox import MemoryInbox
    from limnograph.domain.queries import FleetQuery
    from limnograph.wiring.server import build_services
    from limnograph.wiring.server_options import ServerOptions

    engine = _engine(folder)
    parts = build_services(ServerOptions(engine, MemoryInbox(), _At(), fresh=engine))
    parts.store.refresh()

    async def asked() -> int:
        """In one event loop, as in a server: starting and stopping a loop costs a millisecond."""
        totals = []
        for earlier in range(60):
            end = meta_lake.END // 1000 - earlier * 60_000
            query = FleetQuery(start=end - SIX_HOURS // 1000, end=end, grew=GREW, within_s=WITHIN)
            with clock():
                totals.append((await parts.backend.fleet.page(query)).total)
        return totals[0]

    return asyncio.run(asked())


def bursts_ours(clock: Clock, folder: str) -> int:
    """A page of 50 of the commits of two days that added more than 10,000 files, newest first."""
    from limnograph.domain.queries import CommitsQuery
    from serving_kit import commit_lists

    store = _store(folder)
    lists = commit_lists(store)
    store.refresh()
    query = CommitsQuery(
        start=(meta_lake.END - 8 * SIX_HOURS) // 1000, end=meta_lake.END // 1000, min_added_data_files=10_001, limit=50
    )

    async def asked() -> int:
        found = 0
        for _ in range(50):
            with clock():
                found = len((await lists.page(query)).rows)
        return found

    return asyncio.run(asked())


def growth_duckdb(clock: Clock, folder: str) -> int:
    """The minimum state of the five minutes before each commit, including the state at their start."""
    import duckdb

    rows = meta_lake.catalog(Path(folder)).load_table(("limnograph", "snapshots"))
    files = [task.file.file_path.removeprefix("file://") for task in rows.scan().plan_files()]
    connection, found = duckdb.connect(), 0
    connection.execute("SET threads = 2")
    start = meta_lake.END - SIX_HOURS
    for _ in range(3):
        with clock():
            answer = connection.execute(_GROWTH, [files, start - 2 * meta_lake.STEP, meta_lake.END, start, GREW])
            found = answer.fetchone()[0]  # type: ignore[index]
    return int(found)


_GROWTH = """
with seen as (
  select table_uuid, epoch_us(committed_at) as micros, total_data_files as files,
    lag(total_data_files) over w as before,
    min(total_data_files) over (partition by table_uuid order by committed_at
      range between interval 300 seconds preceding and current row exclude current row) as least
  from read_parquet(?) where epoch_us(committed_at) >= ? and epoch_us(committed_at) < ?
  window w as (partition by table_uuid order by committed_at)
)
select count(distinct table_uuid) from seen
where micros >= ? and files - least_of(before, least) > ? * least_of(before, least)
""".replace("least_of(before, least)", "least(before, coalesce(least, before))")


def exposition_ours(clock: Clock, tables: str) -> int:
    from limnograph.api.metrics.exposition import TableExposition

    numbers, found = _numbers(int(tables)), b""
    for _ in range(40):  # for about as long as the peer runs
        with clock():
            found = TableExposition().render(numbers)
    return found.count(b"\nlakehouse_table_") + found.startswith(b"lakehouse_table_")


def exposition_changed(clock: Clock, tables: str) -> int:
    """One table changed: the cost of one commit for the next scrape."""
    from limnograph.api.metrics.exposition import TableExposition

    numbers, page, found = _numbers(int(tables)), TableExposition(), b""
    page.render(numbers)
    for value in range(5):
        numbers[7] = numbers[7]._replace(gauges={**numbers[7].gauges, "lakehouse_table_data_files": float(value)})
        with clock():
            found = page.render(numbers)
    return found.count(b"\nlakehouse_table_") + found.startswith(b"lakehouse_table_")


def _numbers(tables: int) -> list[Any]:
    from limnograph.domain.ids import TableName
    from limnograph.domain.metrics.gauges import TABLE_COUNTERS, TABLE_GAUGES
    from limnograph.services.fleet.gauges import TableNumbers

    gauges, counters = TABLE_GAUGES[:7], TABLE_COUNTERS[: SERIES_A_TABLE - 7]
    return [
        TableNumbers(
            TableName("lake", f"n{number % 40}", f"t{number:05}"),
            {metric.name: number * 1_000 + i for i, metric in enumerate(gauges)},
            {metric.name: float(number * 3 + i) for i, metric in enumerate(counters)},
        )
        for number in range(tables)
    ]


def exposition_client(clock: Clock, tables: str) -> int:
    from prometheus_client import CollectorRegistry, Gauge, generate_latest

    from limnograph.domain.metrics.gauges import LABELS

    registry, made = CollectorRegistry(), {}
    for number in _numbers(int(tables)):
        for name, value in (number.gauges | number.counters).items():
            if name not in made:
                made[name] = Gauge(name, "x", LABELS, registry=registry)
            made[name].labels(*number.name).set(value)
    found = b""
    for _ in range(3):
        with clock():
            found = generate_latest(registry)
    return found.count(b"\nlakehouse_table_")


def commit_to_visible(clock: Clock, folder: str, how: str) -> list[float]:
    """Milliseconds from a commit's return until the hot index shows it, sorted; the watcher is a separate process."""
    from lakes import Lake, placeholders

    Path(folder).mkdir(parents=True, exist_ok=True)
    lake = Lake(Path(folder))
    for number in range(COMMITS):
        placeholders(lake.table(f"sales.t{number}"), 3)
    config = Path(folder) / "limnograph.toml"
    given = f'uri = "{lake.properties["uri"]}"\nwarehouse = "{lake.properties["warehouse"]}"'
    config.write_text(f'[catalogs.lake]\ntype = "sql"\n{given}\n[observe]\ninclude = ["lake.**"]\n')
    return asyncio.run(_visible(clock, lake, str(config), pushed=how == "push"))


async def _visible(clock: Clock, lake: Any, config: str, *, pushed: bool) -> list[float]:
    from lakes import placeholders
    from limnograph.wiring.server_runtime import ServerRuntime

    parts, found = _watching(config), []
    async with ServerRuntime(parts).running():
        while parts.store.watermark is None:  # noqa: ASYNC110  # asks as a page does
            await asyncio.sleep(0.05)
        for number in range(COMMITS):
            await asyncio.sleep(number % 10 / 10)  # at any time between two probes
            table = lake.load(f"sales.t{number}")
            await asyncio.to_thread(placeholders, table, 2, tag=f"q{number}")
            uuid, wanted = str(table.metadata.table_uuid), lake.load(f"sales.t{number}").current_snapshot().snapshot_id
            started = time.perf_counter()
            with clock():
                if pushed:
                    parts.watcher.wake()  # the effect of an accepted notification
                while wanted not in parts.store.reading.lake.histories[uuid].snapshots:  # noqa: ASYNC110
                    await asyncio.sleep(0.005)
            found.append(round((time.perf_counter() - started) * 1_000, 1))
    return sorted(found)


def _watching(config: str) -> Any:
    """The server's services with the real watcher, without routes."""
    import sys

    from limnograph.adapters.inbox.store import SqlInbox
    from limnograph.adapters.memory.query_engine import MemoryEngine
    from limnograph.adapters.system_clock import SystemClock
    from limnograph.settings import load
    from limnograph.wiring.server import build_services
    from limnograph.wiring.server_options import ServerOptions

    command = (sys.executable, "-m", "limnograph.jobs.watcher", "--config", config)
    inbox = SqlInbox(load(config).inbox_url)
    return build_services(ServerOptions(MemoryEngine(), inbox, SystemClock(), watch_command=command))


TASKS: dict[str, Callable[..., Any]] = {
    task.__name__: task
    for task in (
        *(hot_rebuild, hot_q1_ours, hot_q1_pyiceberg, growth_ours, growth_duckdb, growth_new_range, bursts_ours),
        *(exposition_ours, exposition_changed, exposition_client, commit_to_visible),
    )
}
