"""One contract over every MetricsSource, with a real Prometheus whose past promtool wrote."""

import asyncio
import math
import os
import shutil
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from limnograph.adapters.memory.metrics_source import MemoryMetrics
from limnograph.adapters.prometheus.client import PrometheusClient
from limnograph.adapters.system_clock import SystemClock
from limnograph.domain.errors import SourceRejected
from limnograph.domain.ids import TableName
from limnograph.domain.metrics.promql import Call, Selector
from limnograph.domain.metrics.series import RangeQuery, Series
from limnograph.domain.time import TimeRange
from limnograph.services.jobs import lanes as job_lanes
from limnograph.services.jobs.controls import controls, told_of
from limnograph.services.jobs.discovery import ConfiguredJob, Jobs
from limnograph.services.jobs.paces import ends, slowest
from limnograph.services.jobs.runs import RunRegistry
from limnograph.services.sources import templates
from limnograph.services.sources.metrics import Metrics
from serving_kit import FixedClock, MemoryInbox, lake, parts, row
from serving_kit import client as browsers

END = int(time.time()) // 3600 * 3600 - 7200
START = END - 6 * 3600
ODD = 'odd"name\\with{everything}'
NAME = TableName("lake", "sales", "orders")
LABELS = 'catalog="lake",table_namespace="sales",table="orders",role="reads",job_name="churn",application_id="app-1"'
GAP = (START + 3 * 3600, START + 4 * 3600)
SLOW = START + 5 * 3600


def find(program: str) -> str | None:
    tools = Path(os.environ.get("LIMNOGRAPH_TOOLS", Path(__file__).parents[2] / ".tools"))
    place = tools / "prometheus" / program
    return str(place) if place.exists() else shutil.which(program)


def samples() -> Iterator[tuple[int, float]]:
    """`(second, duration)` every 30 s: 52 s, from SLOW on 160 s, nothing in the gap."""
    for at in range(START, END, 30):
        if not GAP[0] <= at < GAP[1]:
            yield at, 160.0 if at >= SLOW else 52.0


def executors() -> Iterator[tuple[str, int]]:
    """Labels as Spark shows its executors, and how many cores each keeps busy."""
    for executor, cores in (("driver", 0), ("1", 2), ("2", 1)):
        yield f'application_id="app-1",application_name="churn",executor_id="{executor}"', cores


def openmetrics() -> str:
    lines = ["# TYPE spark_job_duration_seconds gauge"]
    lines += [f"spark_job_duration_seconds{{{LABELS}}} {value} {at}" for at, value in samples()]
    odd = ODD.replace("\\", "\\\\").replace('"', '\\"')
    lines += [f'spark_job_duration_seconds{{table="{odd}"}} 7 {START + i * 30}' for i in range(4)]
    lines.append("# TYPE spark_job_last_finished_timestamp_seconds gauge")
    for at, _ in samples():
        lines.append(f"spark_job_last_finished_timestamp_seconds{{{LABELS}}} {at // 180 * 180} {at}")
    lines.append("# TYPE spark_job_runs counter")
    lines += [f'spark_job_runs_total{{{LABELS},status="ok"}} {(at - START) // 180} {at}' for at, _ in samples()]
    lines.append(f"# TYPE {templates.TASKS} gauge")
    lines += [f"{templates.TASKS}{{{labels}}} {cores} {at}" for labels, cores in executors() for at, _ in samples()]
    lines.append(f"# TYPE {templates.BUSY.removesuffix('_total')} counter")
    for labels, cores in executors():
        lines += [f"{templates.BUSY}{{{labels}}} {cores * (at - START)} {at}" for at, _ in samples()]
    lines.append("# TYPE pg_replication_slots_pg_wal_lsn_diff gauge")
    lines += [f'pg_replication_slots_pg_wal_lsn_diff{{slot_name="lake"}} {at - START} {at}' for at, _ in samples()]
    lines.append("# TYPE ratio gauge")
    lines += [f"ratio {v} {START + i * 30}" for i, v in enumerate(["1", "NaN", "+Inf", "2"])]
    return "\n".join([*lines, "# EOF", ""])


@pytest.fixture(scope="session")
def prometheus(tmp_path_factory) -> Iterator[str]:
    """Address of a Prometheus that knows the hours above."""
    server, promtool = find("prometheus"), find("promtool")
    if not server or not promtool:
        pytest.skip("no prometheus (make setup)")
    folder = tmp_path_factory.mktemp("prometheus")
    (folder / "past.om").write_text(openmetrics())
    (folder / "prometheus.yml").write_text("global: {scrape_interval: 15s}\n")
    command = [promtool, "tsdb", "create-blocks-from", "openmetrics", "past.om", "data"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    child = subprocess.Popen(
        [
            server,
            "--config.file=prometheus.yml",
            "--storage.tsdb.path=data",
            "--storage.tsdb.retention.time=400d",
            f"--web.listen-address=127.0.0.1:{port}",
        ],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait(f"http://127.0.0.1:{port}/-/ready", child)
        yield f"http://127.0.0.1:{port}"
    finally:
        child.terminate()
        child.wait(60)


def _wait(url: str, child: subprocess.Popen) -> None:
    for _ in range(150):
        assert child.poll() is None, "prometheus ended"
        try:
            with urllib.request.urlopen(url, timeout=1):
                return
        except OSError:
            time.sleep(0.2)
    raise TimeoutError(url)


RATIO = str(Call("last_over_time", Selector("ratio", {}, 30)))


@pytest.fixture(params=["memory", pytest.param("prometheus", marks=pytest.mark.prometheus)])
def source(request):
    if request.param == "memory":
        times = [(START + i * 30) * 1000 for i in range(4)]
        return lambda **given: MemoryMetrics(
            "main", {RATIO: [Series({}, times, [1.0, math.nan, math.inf, 2.0])]}, **given
        )
    url = request.getfixturevalue("prometheus")
    return lambda **given: PrometheusClient("main", url, **given)


def ask(source, query: RangeQuery):
    async def run():
        try:
            return await source.range(query)
        finally:
            await source.aclose()

    return asyncio.run(run())


def test_samples_are_on_the_requested_steps_and_keep_nan(source) -> None:
    matrix = ask(source(), RangeQuery(RATIO, START * 1000, (START + 90) * 1000, 30))
    assert matrix.series[0].times == [(START + i * 30) * 1000 for i in range(4)]
    one, nan, infinite, two = matrix.series[0].values
    assert (one, infinite, two) == (1.0, math.inf, 2.0)
    assert math.isnan(nan)


def test_a_range_without_samples_has_no_series(source) -> None:
    assert ask(source(), RangeQuery(RATIO, (START - 900) * 1000, (START - 600) * 1000, 30)).series == []


def test_a_response_cut_at_the_limit_of_series_is_marked(source) -> None:
    assert ask(source(max_series=0), RangeQuery(RATIO, START * 1000, START * 1000, 30)).truncated


@pytest.mark.prometheus
def test_a_hostile_label_value_selects_itself_and_nothing_else(prometheus) -> None:
    for value, number in ((ODD, 1), ('x"} or up{a="', 0), ("a\nb", 0), ("ö\\", 0)):
        query = str(Call("last_over_time", Selector(templates.DURATION, {"table": value}, 300)))
        matrix = ask(PrometheusClient("main", prometheus), RangeQuery(query, START * 1000, START * 1000, 60))
        assert len(matrix.series) == number, value


@pytest.mark.prometheus
def test_wrong_promql_is_refused_with_the_message_of_prometheus(prometheus) -> None:
    with pytest.raises(SourceRejected, match="parse error"):
        ask(PrometheusClient("main", prometheus), RangeQuery("up{", 0, 0, 60))


def lanes(prometheus, step: int):
    span = TimeRange.parse(START * 1000, END * 1000, step)

    async def run():
        client = PrometheusClient("main", prometheus)
        jobs = Jobs((), RunRegistry(MemoryInbox()), Metrics(client, SystemClock()))
        linked = await jobs.of_table(NAME, END * 1000)
        chosen = job_lanes.choose(linked, None)
        band = await job_lanes.duration(jobs, NAME, chosen, span)
        runs = await job_lanes.runs(jobs, NAME, chosen, span)
        writer = await jobs.job_of_application("app-1", (END - 600) * 1000)
        queries = templates.median_duration_by_table(1800), templates.p95_duration_by_table(1800)
        instants = (END - 4 * 3600) * 1000, (END - 60) * 1000, 14_340
        pace = slowest(*[ends(await client.range(RangeQuery(promql, *instants))) for promql in queries])
        await client.aclose()
        return linked, band, runs, writer, pace

    return span, *asyncio.run(run())


@pytest.mark.prometheus
def test_job_lanes_over_a_real_prometheus(prometheus) -> None:
    span, linked, band, runs, writer, pace = lanes(prometheus, 60)
    value = dict(zip(span.instants(), band.mid, strict=True))
    assert [(job.name, job.role, job.source) for job in linked] == [("churn", "reads", "metrics")]
    assert linked[0].runs_24h is not None
    assert value[(SLOW - 600) * 1000] == 52
    assert value[(SLOW + 600) * 1000] == 160
    assert band.status == "ok"
    assert writer == "churn"
    assert pace[NAME].ratio == pace[NAME].p95_ratio == pytest.approx(160 / 52)
    finished = [bar.end for bar in runs.bars]
    assert finished == sorted(finished)
    assert {round((bar.end - bar.start) / 1000) for bar in runs.bars} == {52, 160}
    assert 90 <= len(runs.bars) <= 102


@pytest.mark.prometheus
def test_no_line_is_drawn_across_a_gap(prometheus) -> None:
    span, _, band, *_ = lanes(prometheus, 60)
    inside = [v for t, v in zip(span.instants(), band.mid, strict=True) if GAP[0] + 150 < t // 1000 < GAP[1]]
    assert len(inside) > 50
    assert set(inside) == {None}


@pytest.mark.prometheus
def test_a_coarse_step_keeps_the_extremes_of_its_bucket(prometheus) -> None:
    span, _, band, *_ = lanes(prometheus, 4 * 3600)
    bucket = (SLOW * 1000 - span.start) // (4 * 3600 * 1000)
    assert band.hi[bucket] == 160.0
    assert min(v for v in band.lo if v is not None) == 52.0


def questions(prometheus: str) -> int:
    """How many range queries the server itself has counted."""
    with urllib.request.urlopen(f"{prometheus}/metrics", timeout=60) as answer:
        lines = answer.read().decode().splitlines()
    found = [line for line in lines if line.startswith("prometheus_http_requests_total") and "query_range" in line]
    return sum(int(float(line.rsplit(" ", 1)[1])) for line in found)


@pytest.mark.prometheus
def test_fifty_users_who_open_one_link_cost_prometheus_the_same_as_one(prometheus) -> None:
    span = TimeRange.parse(START * 1000, END * 1000, 60)

    async def run() -> list[int]:
        client = PrometheusClient("main", prometheus)
        made = parts(lake([row(1, START * 1_000_000)]), client, FixedClock(END * 1_000_000))
        costs = []
        for people in (1, 50):
            before = questions(prometheus)
            page = made.backend.timelines.answer
            answers = await asyncio.gather(
                *(page(NAME, span, ("job_duration", "job_runs"), None, None) for _ in range(people))
            )
            assert {answer.lanes[0].status for answer in answers} == {"ok"}
            costs.append(questions(prometheus) - before)
        await client.aclose()
        return costs

    assert asyncio.run(run()) == [1, 1]


@pytest.mark.prometheus
def test_fifty_browsers_that_open_one_incident_link_cause_one_query_to_prometheus(prometheus) -> None:
    page = "/api/v1/tables/lake/sales/orders/timeline"
    spellings = [f"{page}?from={START}000&to={END}000&step=60", f"{page}?step=60&to={END}000&from={START}%3000"]
    codings = ["identity", "gzip", "gzip, deflate, br, zstd"]

    async def run() -> tuple[set[str], int]:
        client = PrometheusClient("main", prometheus)
        made = parts(lake([row(1, START * 1_000_000)]), client, FixedClock(END * 1_000_000))
        before = questions(prometheus)
        async with browsers(made) as http:
            asking = (http.get(spellings[n % 2], headers={"accept-encoding": codings[n % 3]}) for n in range(50))
            answers = await asyncio.gather(*asking)
        cost = questions(prometheus) - before
        await client.aclose()
        lanes = [lane for answer in answers for lane in answer.json()["lanes"] if lane["id"] == "job_duration"]
        assert len(lanes) == 50
        return {lane["status"] for lane in lanes}, cost

    assert asyncio.run(run()) == ({"ok"}, 1)


@pytest.mark.prometheus
@pytest.mark.parametrize("step", [10, 45, 60, 300, 4 * 3600])
@pytest.mark.parametrize("job", [None, "churn"])
def test_one_joined_query_of_a_page_equals_its_templates_one_by_one(prometheus, step, job) -> None:
    hours = 1 if step == 10 else 5
    span = TimeRange.parse((SLOW - 3600 * hours) * 1000, (SLOW + 3600) * 1000, step)

    async def run() -> list:
        client = PrometheusClient("main", prometheus)
        jobs = Jobs((), RunRegistry(MemoryInbox()), Metrics(client, SystemClock()))
        found = []
        for page in (await jobs.page(NAME, job, span, span.end), None):
            linked = await jobs.of_table(NAME, span.end, page)
            chosen = job_lanes.choose(linked, job)
            assert chosen == ("churn", "reads", True)
            bars = await job_lanes.runs(jobs, NAME, chosen, span, page)
            found.append((linked, await job_lanes.duration(jobs, NAME, chosen, span, page), bars))
            assert (page is None) == (len(found) == 2)
        await client.aclose()
        return found

    (joined, band, runs), (linked, alone, bars) = asyncio.run(run())
    assert joined == linked
    assert msgspec.structs.replace(band, age_s=0) == msgspec.structs.replace(alone, age_s=0)
    assert runs == bars
    assert {160.0, 52.0} <= {*band.hi, *band.lo}
    assert runs.bars


@pytest.mark.prometheus
def test_one_joined_query_separates_jobs_tables_and_labels(prometheus) -> None:
    span = TimeRange.parse((SLOW - 3600) * 1000, (SLOW + 3600) * 1000, 60)

    async def run() -> None:
        client = PrometheusClient("main", prometheus)
        narrowed = ConfiguredJob(name="churn", reads=("lake.sales.*",), select={"application_id": "other"})
        elsewhere = ConfiguredJob(name="churn", reads=("lake.sales.*",), select={"table": ODD})
        for configured, asked in ((narrowed, 1), (elsewhere, 3)):
            jobs = Jobs((configured,), RunRegistry(MemoryInbox()), Metrics(client, SystemClock()))
            before = questions(prometheus)
            page = await jobs.page(NAME, None, span, span.end)
            chosen = job_lanes.choose(await jobs.of_table(NAME, span.end, page), None)
            band = await job_lanes.duration(jobs, NAME, chosen, span, page)
            bars = await job_lanes.runs(jobs, NAME, chosen, span, page)
            assert (set(band.mid), bars.bars) == ({None}, [])
            assert questions(prometheus) - before == asked
        await client.aclose()

    asyncio.run(run())


@pytest.mark.prometheus
def test_a_query_of_the_settings_that_is_wrong_blanks_no_other_lane(prometheus) -> None:
    span = TimeRange.parse((SLOW - 3600) * 1000, (SLOW + 3600) * 1000, 60)
    wrong = ConfiguredJob(name="churn", reads=("lake.sales.*",), promql="sum by (")

    async def run():
        client = PrometheusClient("main", prometheus)
        made = parts(lake([row(1, START * 1_000_000)]), client, FixedClock(END * 1_000_000), configured=(wrong,))
        answer = await made.backend.timelines.answer(NAME, span, ("job_duration", "job_runs"), None, None)
        await client.aclose()
        return answer.lanes

    duration, runs = asyncio.run(run())
    assert (duration.status, duration.problem.type) == ("error", "source-rejected")
    assert runs.status == "ok"
    assert runs.bars


@pytest.mark.prometheus
def test_spark_s_own_series_yield_busy_cores_and_executors_without_the_driver(prometheus) -> None:
    span = TimeRange.parse((START + 600) * 1000, (START + 2400) * 1000, 60)

    async def run() -> list:
        client = PrometheusClient("main", prometheus)
        jobs = (ConfiguredJob(name="churn", reads=(str(NAME),)), ConfiguredJob(name=ODD, reads=(str(NAME),)))
        made = parts(lake([row(1, START * 1_000_000)]), client, FixedClock(END * 1_000_000), configured=jobs)
        asked = ("cpu", "spill", "executors")
        found = [await made.backend.timelines.answer(NAME, span, asked, job.name, None) for job in jobs]
        await client.aclose()
        return found

    churn, odd = asyncio.run(run())
    cpu, spill, executors = churn.lanes
    assert {round(value, 2) for value in cpu.v} == {3.0}
    assert (set(executors.v), spill.status) == ({2.0}, "absent")
    assert {lane.status for lane in odd.lanes} == {"absent"}, "a hostile name is quoted, and selects nothing"


@pytest.mark.prometheus
def test_the_wal_that_a_slot_holds_for_a_writer_is_a_lane_of_the_table(prometheus) -> None:
    span = TimeRange.parse((START + 600) * 1000, (START + 2400) * 1000, 60)
    slots = {"cdc": 'slot_name="lake"', "gone": 'slot_name="dropped"'}

    async def run() -> list:
        client = PrometheusClient("main", prometheus)
        found = []
        for job, labels in slots.items():
            query = f"max(pg_replication_slots_pg_wal_lsn_diff{{{labels}}})"
            jobs = (ConfiguredJob(name=job, writes=(str(NAME),), slot_lag=query),)
            made = parts(lake([row(1, START * 1_000_000)]), client, FixedClock(END * 1_000_000), configured=jobs)
            found.append((await made.backend.timelines.answer(NAME, span, ("slot_lag",), None, None)).lanes[0])
        await client.aclose()
        return found

    held, dropped = asyncio.run(run())
    assert (held.status, held.label, held.v[0], held.v[1] - held.v[0]) == ("ok", "cdc", 600.0, 60.0)
    assert set(dropped.v) == {None}, "a slot that is not there is unknown, not 0"


@pytest.mark.prometheus
def test_another_job_s_runs_are_a_control_of_tables_that_it_does_not_touch(prometheus) -> None:
    carts = TableName("lake", "sales", "carts")

    async def run() -> list:
        client = PrometheusClient("main", prometheus)
        metrics = Metrics(client, SystemClock())
        found = []
        for read in (frozenset({carts}), frozenset({NAME})):
            told = told_of([], "rollup", read)
            found.append(await controls(told, metrics, read, START * 1000, END * 1000))
        hostile = templates.runs_of_jobs(["churn", ODD, "a.b c|(d"], 60)
        await client.range(RangeQuery(hostile, START * 1000, END * 1000, 60))
        await client.aclose()
        return found

    beside, touching = asyncio.run(run())
    assert [each.id for each in beside.series] == ["churn"]
    assert {52.0, 160.0} == set(beside.series[0].duration_seconds)
    assert touching == ([], None)
