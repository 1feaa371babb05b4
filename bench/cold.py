"""Rows `serve.cold_page` and `serve.trino_cold_90d`: the cost of a page that was not requested before."""

from __future__ import annotations

import asyncio
import shutil
import statistics
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import meta_lake
import msgspec
import polars as pl
from pyiceberg.catalog.sql import SqlCatalog
from rows import Bench, Measure, Row

import postgres
import trino_server
from limnograph.adapters.embedded.engine import EmbeddedEngine
from limnograph.adapters.meta.schema import iceberg_schema, table_properties
from limnograph.adapters.prometheus.client import PrometheusClient
from limnograph.adapters.trino.asking import Coordinator
from limnograph.adapters.trino.engine import TrinoEngine
from limnograph.domain.answers.lane_specs import DEFAULT_LANES
from limnograph.domain.facts.meta_tables import DAILY, HOURLY, MetaTable
from limnograph.domain.ids import TableName
from limnograph.domain.metrics.series import RangeQuery
from limnograph.domain.time import TimeRange
from limnograph.ports.query_engine import MetaQuery
from limnograph.services.lake.loading import load
from limnograph.services.rollups.fold import ROW_COLUMNS, Stamp, fold_days, roll_hours
from limnograph.services.rollups.marks import ROLLED_AT
from limnograph.services.rollups.step import moves_of
from limnograph.services.sources import templates
from limnograph.services.timeline.tier_reader import TierReader
from serving_kit import HOUR, NOW, lake, moved, parts, row

NAME = TableName("lake", "sales", "orders")
PAGES = 60
TOOLS = Path(__file__).parents[1] / ".tools" / "prometheus"
DAYS, WINDOW = 90, 48 * HOUR


def page(bench: Bench) -> list[Row]:
    """A page of default lanes for a range that was not requested before, including its Prometheus queries."""
    with _prometheus(bench.scratch) as url:
        ours, peer = asyncio.run(_page(url, PAGES if bench.full else PAGES // 2))
    note = f"Prometheus asked for the same series, template by template; median of {PAGES} pages of 6 h at 60 s, wall"
    return [Row("serve.cold_page", ours * 1e3, peer * 1e3, "ms", 0.25, f"{note}; goal: at most 4x of Prometheus")]


async def _page(url: str, pages: int) -> tuple[float, float]:
    commits = [(NOW - i * HOUR // 12, i) for i in range(144)]
    engine = lake([row(i + 1, at, 1_000 + i) for at, i in commits], [moved(i + 1, at) for at, i in commits])
    client = PrometheusClient("main", url)
    timelines = parts(engine, client).backend.timelines
    matchers = {**templates.table_matchers(NAME), "role": "reads", "job_name": "churn"}
    runs = {key: value for key, value in matchers.items() if key != "role"}
    ours, peer = [], []
    for number in range(pages):
        end = NOW // 1000 - number * 60_000
        span = TimeRange.parse(end - 6 * 3_600_000, end, 60)
        started = time.perf_counter()
        answer = await timelines.answer(NAME, span, DEFAULT_LANES, None, None)
        msgspec.json.encode(answer)
        ours.append(time.perf_counter() - started)
        found = {lane.id: lane for lane in answer.lanes}
        if found["job_duration"].status != "ok":
            raise SystemExit(f"no durations: {found['job_duration']}")
        started = time.perf_counter()
        at = templates.snapped(end)
        await client.range(RangeQuery(templates.jobs_of_table(NAME, 86_400), at, at, 60))
        await client.range(RangeQuery(templates.duration_band(matchers, 60), span.start, span.end, 60))
        await client.range(RangeQuery(templates.finished_runs(runs, 15), span.start, span.end, 15))
        peer.append(time.perf_counter() - started)
    await client.aclose()
    return statistics.median(ours), statistics.median(peer)


@contextmanager
def _prometheus(folder: Path) -> Iterator[str]:
    """A server with the last twelve hours of a reader."""
    end = NOW // 1_000_000
    labels = 'catalog="lake",table_namespace="sales",table="orders",role="reads",job_name="churn",application_id="a"'
    lines = []
    for name, value in (
        (templates.DURATION, lambda at: 52 + at % 7),
        (templates.FINISHED, lambda at: at // 180 * 180),
    ):
        lines.append(f"# TYPE {name} gauge")
        lines += [f"{name}{{{labels}}} {value(at)} {at}" for at in range(end - 43_200, end, 15)]
    (folder / "past.om").write_text("\n".join([*lines, "# EOF", ""]))
    (folder / "prometheus.yml").write_text("global: {scrape_interval: 15s}\n")
    command = [TOOLS / "promtool", "tsdb", "create-blocks-from", "openmetrics", "past.om", "data"]
    subprocess.run(list(map(str, command)), cwd=folder, check=True, capture_output=True)
    port = postgres.free_port()
    options = ["--config.file=prometheus.yml", "--storage.tsdb.path=data", "--storage.tsdb.retention.time=4000d"]
    child = subprocess.Popen(
        [str(TOOLS / "prometheus"), *options, f"--web.listen-address=127.0.0.1:{port}"],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        for _ in range(300):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/-/ready", timeout=1).close()
                break
            except OSError:
                time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        child.terminate()
        child.wait(20)


def trino_90d(bench: Bench) -> list[Row]:
    """Ninety days of one table through Trino: roll-ups at a step of four hours, and their raw rows."""
    if not trino_server.installed() or postgres.program("initdb") is None:
        print("serve.trino_cold_90d is left out: Trino (make stack) or PostgreSQL (make system) is missing")
        return []
    tables = 20 if bench.full else 4
    folder = bench.scratch / "lake"
    facts = meta_lake.build(folder, tables, DAYS)
    warehouse = f"file://{folder}/warehouse"
    with postgres.running(bench.scratch / "postgres", "lim", "lim", "lake") as address:
        properties = {"uri": f"postgresql+psycopg2://lim:lim@{address}/lake", "warehouse": warehouse}
        _registered(folder, SqlCatalog("lake", **properties))
        catalog = trino_server.jdbc_catalog(address, "lim", "lim", warehouse)
        with trino_server.running(bench.scratch / "trino", catalog) as url:
            pins = EmbeddedEngine(lambda: SqlCatalog("lake", **properties), ("limnograph",))
            engine = TrinoEngine(Coordinator(url, "lake", "limnograph", timeout_s=300), pins)
            uuid, end = meta_lake.uuid_of(tables // 2), meta_lake.END
            span = TimeRange.parse((end - DAYS * 24 * HOUR) // 1000, end // 1000, 14_400)
            ours = _median(lambda: TierReader(engine, 400).read(uuid, span, end - WINDOW, end), 5)
            peer = _median(lambda: load(engine, span.start * 1000, (uuid,)), 3)
    shutil.rmtree(folder, ignore_errors=True)
    note = f"the raw rows of the same page through Trino; {facts:,} facts of {tables} tables; wall, median"
    return [Row("serve.trino_cold_90d", ours, peer, "s", 5, note)]


def _median(ask: Callable[[], Any], times: int) -> float:
    ask()
    took = []
    for _ in range(times):
        started = time.perf_counter()
        ask()
        took.append(time.perf_counter() - started)
    return statistics.median(took)


def _registered(folder: Path, catalog: SqlCatalog) -> None:
    """Register the lake's meta tables, with their roll-ups, in the other catalog."""
    made = meta_lake.catalog(folder)
    catalog.create_namespace("limnograph")
    for name in ("snapshots", "changes"):
        catalog.register_table(("limnograph", name), made.load_table(("limnograph", name)).metadata_location)
    engine = EmbeddedEngine(lambda: catalog, ("limnograph",))
    rows = engine.select(MetaQuery(table="snapshots", columns=ROW_COLUMNS))
    log = engine.select(MetaQuery(table="changes", kinds=("ref",)))
    stamp = Stamp(1, 1, meta_lake.END)
    hours = roll_hours(rows, moves_of(log.select("table_uuid", "from_value", "to_value", "at")), rows, stamp)
    _written(catalog, HOURLY, hours)
    _written(catalog, DAILY, fold_days(hours, stamp))


def _written(catalog: SqlCatalog, table: MetaTable, rows: pl.DataFrame) -> None:
    properties = {**table_properties(), ROLLED_AT: str(meta_lake.END)}
    made = catalog.create_table(("limnograph", table.name), iceberg_schema(table), properties=properties)
    schema, unit = made.schema().as_arrow(), table.key[1]
    kept = rows.with_columns(pl.col(name).cast(pl.Datetime("us", "UTC")) for name in (unit, "rolled_at"))
    made.append(kept.to_arrow().select(schema.names).cast(schema))


MEASURES: dict[str, Measure] = {"cold_page": page, "trino_cold_90d": trino_90d}
