"""Explain on the wire: the story of a burst told from meta tables and pushed runs, and what a person says about it."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import msgspec
import numpy as np
import polars as pl
import pytest

from limnograph.adapters.memory.inbox import MemoryInbox
from limnograph.adapters.memory.metrics_source import MemoryMetrics
from limnograph.adapters.memory.query_engine import MemoryEngine
from limnograph.domain.errors import SourceUnavailable
from limnograph.domain.facts.events import LabelFact, RunFact, RunTable
from limnograph.domain.metrics.series import Matrix, RangeQuery, Series
from limnograph.ports.query_engine import MetaQuery
from limnograph.services.explain.page import UNHEARD
from limnograph.services.jobs.discovery import ConfiguredJob
from limnograph.wiring.server import ServerServices, build_services
from limnograph.wiring.server_options import ServerOptions
from serving_kit import BIG, HOUR, MINUTE, NOW, UUID, FixedClock, client, lake, moved, parts, row

TABLE = "/api/v1/tables/lake/sales/orders"
START = NOW - 30 * HOUR
SLOW = NOW - 3 * HOUR
SPAN = f"from={(NOW - 6 * HOUR) // 1000}&to={NOW // 1000}"


def burst(*, guilty: bool = True) -> MemoryEngine:
    """Ordinary commits every 40 minutes, and one of 50,000 files two minutes before the slow runs."""
    rng = np.random.default_rng(4)
    found, log, parent = [], [], None
    times = [(START + n * 40 * MINUTE + 7 * MINUTE, 10) for n in range(44)]
    if guilty:
        times.append((SLOW - 2 * MINUTE, 50_000))
    for n, (at, files) in enumerate(sorted(times)):
        own = BIG if files > 10 else n + 1
        added = files if files > 10 else int(rng.integers(7, 14))
        found.append(row(own, at, 100, parent_id=parent, added_data_files=added, added_bytes=added * 10**6, app_id="a"))
        log.append(moved(own, at))
        parent = own
    return lake(found, log)


def runs(job: str, seconds: float, slow: float, *, table: str = "orders", read: Any = None) -> list[RunFact]:
    """A run every five minutes, those from SLOW on `slow` times as long."""
    rng = np.random.default_rng(len(job))
    told = []
    for n in range(28 * 12):
        at = START + 2 * HOUR + n * 5 * MINUTE
        took = seconds * (slow if at >= SLOW else 1) * float(np.exp(0.04 * rng.standard_normal()))
        touched = RunTable(
            catalog="lake",
            namespace="sales",
            table=table,
            role="reads",
            read_snapshot_id=read(at) if read else None,
        )
        end = at + round(took * 1_000_000)
        told.append(
            RunFact(
                run_id=f"{job}-{n}",
                status="ok",
                job_name=job,
                started_at=at,
                ended_at=end,
                at=end,
                observed_at=NOW,
                tables=[touched],
            )
        )
    return told


async def asked(made: ServerServices, path: str, body: dict[str, Any] | None = None) -> Any:
    async with client(made) as http:
        return await (http.get(path) if body is None else http.post(path, json=body))


def told(engine: MemoryEngine, *facts: list[RunFact]) -> ServerServices:
    made = parts(engine)
    for each in facts:
        asyncio.run(made.runs.accept(each))
    return made


def get(made: ServerServices, query: str = SPAN) -> dict[str, Any]:
    answer = asyncio.run(asked(made, f"{TABLE}/explain?{query}"))
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_the_burst_before_the_slow_runs_is_named_and_shown() -> None:
    found = get(told(burst(), runs("churn", 60, 2.5)))
    said = found["explanation"]
    assert (found["job"], found["tables"], found["controls"]) == ("churn", ["lake.sales.orders"], 0)
    assert said["blamed"] == [str(BIG)]
    assert said["confidence"] == "strong"
    assert said["changes"][0]["onset"] == SLOW // 1000
    assert (said["hypotheses"][0]["grade"], said["hypotheses"][0]["lag_seconds"]) == ("declared", 120)
    assert found["suspects"][0]["snapshot_id"] == str(BIG)
    assert found["suspects"][0]["added_data_files"] == 50_000
    assert any("cannot be distinguished" in note for note in found["notes"])
    assert found["around"][0]["low_seconds"] < 90 < found["around"][0]["high_seconds"]
    assert found["queries"]["sql"].startswith("SELECT committed_at")


def test_without_the_guilty_commit_no_commit_explains_it() -> None:
    said = get(told(burst(guilty=False), runs("churn", 60, 2.5)))["explanation"]
    assert said["blamed"] == []
    assert said["hypotheses"][0]["kind"] == "none"
    assert said["hypotheses"][0]["posterior"] >= 0.5
    assert said["verdict"].startswith("No commit explains")


def test_a_slowdown_of_other_jobs_too_is_infrastructure() -> None:
    others = [runs(f"other-{n}" + "x" * n, 100, 2.5, table=f"t{n}") for n in range(3)]
    found = get(told(burst(), runs("churn", 60, 2.5), *others))
    assert found["controls"] == 3
    assert (found["explanation"]["blamed"], found["explanation"]["hypotheses"][0]["kind"]) == ([], "infrastructure")


def test_the_snapshots_that_runs_read_decide_between_commits() -> None:
    engine = burst()
    by_time = sorted((int(r["committed_at"]), int(r["snapshot_id"])) for r in _rows(engine))

    def read(at: int) -> int:
        return [snapshot for committed, snapshot in by_time if committed <= at][-1]

    found = get(told(engine, runs("churn", 60, 2.5, read=read)))["explanation"]
    assert found["blamed"] == [str(BIG)]
    assert found["hypotheses"][0]["grade"] == "exact"
    assert [each["commit_id"] for each in found["hypotheses"] if each["kind"] == "commit"] == [str(BIG)]


@pytest.mark.parametrize(("silent", "grade"), [(SLOW, "declared"), (SLOW - 8 * HOUR, "exact")])
def test_what_a_run_read_is_known_unless_a_run_before_it_did_not_report(silent: int, grade: str) -> None:
    engine = burst()
    by_time = sorted((int(r["committed_at"]), int(r["snapshot_id"])) for r in _rows(engine))

    def read(at: int) -> int | None:
        """Two runs do not report; if they are the first slow ones, the next one did not read the burst first."""
        if silent <= at < silent + 10 * MINUTE:
            return None
        return [snapshot for committed, snapshot in by_time if committed <= at][-1]

    found = get(told(engine, runs("churn", 60, 2.5, read=read)))["explanation"]
    assert found["blamed"] == [str(BIG)]
    assert found["hypotheses"][0]["grade"] == grade


def _rows(engine: MemoryEngine) -> list[dict[str, Any]]:
    from limnograph.ports.query_engine import MetaQuery

    return engine.select(MetaQuery(table="snapshots")).to_dicts()


def test_while_no_run_started_after_the_burst_its_effect_is_not_known_yet() -> None:
    early = [run for run in runs("churn", 60, 1.0) if run.started_at is not None and run.started_at < SLOW - 3 * MINUTE]
    last = max(run.started_at or 0 for run in early) // 1000
    found = get(told(burst(), early))
    assert found["explanation"]["changes"] == []
    assert found["explanation"]["verdict"].startswith("Not known yet: no run of churn started after the commit at ")
    assert found["pending"]["last_run"] == last
    assert found["pending"]["commit_id"] == str(BIG)
    assert found["pending"]["commits"] >= 1
    assert get(told(burst(), runs("churn", 60, 1.0)))["pending"] is None


def test_a_table_without_a_job_explains_how_to_add_one() -> None:
    found = get(told(burst()))
    assert (found["job"], found["explanation"]["blamed"]) == (None, [])
    assert found["explanation"]["verdict"].startswith("No job is known for this table")


def test_while_metrics_fail_only_pushed_runs_are_explained_with_a_note_of_what_is_missing() -> None:
    failing = MemoryMetrics("prometheus", {})
    failing.failure = SourceUnavailable("prometheus", "connection refused")
    silent = parts(burst(), failing)
    answer = asyncio.run(asked(silent, f"{TABLE}/explain?{SPAN}"))
    assert (answer.status_code, answer.json()["type"]) == (503, "source-unavailable")
    asyncio.run(silent.runs.accept(runs("churn", 60, 2.5)))
    found = get(silent)
    assert found["explanation"]["blamed"] == [str(BIG)]
    assert any("Prometheus did not respond" in note for note in found["notes"])


def test_few_runs_are_too_little_data() -> None:
    found = get(told(burst(), runs("churn", 60, 2.5)[-6:]))["explanation"]
    assert found["verdict"].startswith("Not enough data")


def test_an_unknown_table_is_not_found() -> None:
    answer = asyncio.run(asked(parts(burst()), "/api/v1/tables/lake/sales/nothing/explain"))
    assert answer.status_code == 404


def test_a_label_is_stored_and_shown_and_the_newest_one_counts() -> None:
    clock = FixedClock()
    made = parts(burst(), clock=clock)
    asyncio.run(made.runs.accept(runs("churn", 60, 2.5)))
    body = {"snapshot_id": str(BIG), "from": SLOW // 1000, "to": NOW // 1000, "job_name": "churn"}
    for kind in ("rejected", "confirmed"):
        answer = asyncio.run(asked(made, f"{TABLE}/labels", {**body, "kind": kind, "comment": "seen"}))
        assert answer.status_code == 202
        clock.micros += 1
    labels = get(made)["labels"]
    assert [(each["kind"], each["snapshot_id"], each["author"]) for each in labels] == [
        ("confirmed", str(BIG), "local")
    ]
    assert get(made, f"from=1000&to={START // 1000}")["labels"] == []


def test_a_rejected_commit_is_not_blamed_and_a_confirmed_one_caused_it_even_after_a_restart() -> None:
    engine, inbox, clock = burst(), MemoryInbox(), FixedClock()
    made = build_services(ServerOptions(engine, inbox, clock))
    made.store.refresh()
    asyncio.run(made.runs.accept(runs("churn", 60, 2.5)))
    body = {"snapshot_id": str(BIG), "from": SLOW // 1000, "to": NOW // 1000, "job_name": "churn"}
    before = get(made)["explanation"]["hypotheses"][0]["posterior"]
    for kind, blamed, verdict in (
        ("rejected", [], "No commit explains"),
        ("confirmed", [str(BIG)], "Caused by commit"),
    ):
        asyncio.run(asked(made, f"{TABLE}/labels", {**body, "kind": kind}))
        clock.micros += 1
        made = build_services(ServerOptions(engine, inbox, clock))  # another process
        made.store.refresh()
        made.runs.restore()
        found = get(made)["explanation"]
        assert (found["blamed"], found["verdict"][: len(verdict)]) == (blamed, verdict)
        burst_of = next(each for each in found["hypotheses"] if each.get("commit_id") == str(BIG))
        assert burst_of["unlabelled"] == pytest.approx(before, abs=0.01)
    assert "confirmed by local" in found["verdict"]


def test_labels_on_earlier_commits_of_the_kind_are_shown_with_a_suspect() -> None:
    engine = burst()
    made = told(engine, runs("churn", 60, 2.5))
    usual = next(str(each["snapshot_id"]) for each in _rows(engine) if each["snapshot_id"] != BIG)
    body = {"kind": "rejected", "snapshot_id": usual, "from": START // 1000, "to": SLOW // 1000, "job_name": "churn"}
    before = get(made)["explanation"]["hypotheses"][0]["posterior"]
    asyncio.run(asked(made, f"{TABLE}/labels", body))
    suspect = get(made)["explanation"]["hypotheses"][0]
    assert suspect["similar"]["rejected"] == 1
    assert suspect["posterior"] < before
    assert any("rejected 1" in each["text"] for each in suspect["evidence"])


def test_hanging_metrics_delay_the_page_by_its_deadline_at_most() -> None:
    class Hanging(MemoryMetrics):
        async def range(self, query: RangeQuery) -> Matrix:
            await asyncio.sleep(60)
            return await super().range(query)

    made = parts(burst(), Hanging("prometheus", {}))
    asyncio.run(made.runs.accept(runs("churn", 60, 2.5)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("limnograph.services.explain.page.METRICS_S", 0.2)
        found = get(made)
    assert found["explanation"]["blamed"] == [str(BIG)]
    assert any("changes in other jobs are unknown" in note for note in found["notes"])


def test_unreadable_labels_are_reported_missing_and_nothing_else_is() -> None:
    ends = threading.Event()

    class Hanging(MemoryEngine):
        def select(self, query: MetaQuery) -> pl.DataFrame:
            if query.table == "labels":
                ends.wait(30)
            return super().select(query)

    engine = Hanging()
    vars(engine).update(vars(burst()))
    found = get(told(engine, runs("churn", 60, 2.5)))
    ends.set()
    assert found["explanation"]["blamed"] == [str(BIG)]
    assert UNHEARD in found["notes"]


def measured(promql: str, level: float, slow: float) -> tuple[MemoryMetrics, int]:
    """A source that answers a query of the settings: a value at the end of a run each five minutes."""
    rng = np.random.default_rng(7)
    times = [START + 2 * HOUR + n * 5 * MINUTE for n in range(28 * 12)]
    values = [level * (slow if at >= SLOW else 1) * float(np.exp(0.03 * rng.standard_normal())) for at in times]
    ends = [at // 1000 + (150_000 if at >= SLOW else 60_000) for at in times]
    return MemoryMetrics("main", {promql: [Series({}, ends, values)]}), len(times)


def test_a_job_that_had_more_to_do_is_explained_by_its_load() -> None:
    source, _ = measured("rows_read", 1e6, 2.5)
    configured = ConfiguredJob(name="churn", reads=("lake.sales.*",), load="rows_read")
    made = parts(burst(guilty=False), source, configured=(configured,))
    asyncio.run(made.runs.accept(runs("churn", 60, 2.5)))
    found = get(made)
    said = found["explanation"]
    assert (said["hypotheses"][0]["kind"], said["blamed"]) == ("load", [])
    load = next(each for each in found["around"][0]["competing"] if each["kind"] == "load")
    assert 2 < load["ratio"] < 3


def test_a_job_that_only_a_query_of_the_settings_measures_is_explained_too() -> None:
    source, count = measured("seconds", 60, 2.5)
    configured = ConfiguredJob(name="churn", reads=("lake.sales.*",), promql="seconds")
    found = get(parts(burst(), source, configured=(configured,)))
    assert found["explanation"]["blamed"] == [str(BIG)]
    assert found["runs"] > count / 2


def test_a_load_without_metrics_is_reported_as_missing() -> None:
    source, _ = measured("rows_read", 1e6, 2.5)
    source.failure = SourceUnavailable("main", "connection refused")
    configured = ConfiguredJob(name="churn", reads=("lake.sales.*",), load="rows_read")
    made = parts(burst(), source, configured=(configured,))
    asyncio.run(made.runs.accept(runs("churn", 60, 2.5)))
    found = get(made)
    assert found["explanation"]["blamed"] == [str(BIG)]
    assert any("the job's load is unknown" in note for note in found["notes"])


def test_resource_signals_of_the_job_are_shown_with_the_verdict_and_have_no_weight() -> None:
    """CPU doubles with the job; executors leave four minutes before it; nobody tells what it spilled."""
    times = [(NOW - 30 * HOUR + n * MINUTE) // 1000 for n in range(30 * 60)]
    cpu = Series({}, times, [0.9 if at * 1000 >= SLOW else 0.3 for at in times])
    workers = Series({}, times, [4.0 if at * 1000 >= SLOW - 4 * MINUTE else 8.0 for at in times])
    configured = ConfiguredJob(name="churn", reads=("lake.sales.*",), cpu="cpu", executors="workers")
    source = MemoryMetrics("main", {"cpu": [cpu], "workers": [workers]})
    made, plain = parts(burst(), source, configured=(configured,)), parts(burst())
    for each in (made, plain):
        asyncio.run(each.runs.accept(runs("churn", 60, 2.5)))
    found, bare = get(made), get(plain)
    used = {each["kind"]: each for each in found["around"][0]["competing"]}
    assert (used["cpu"]["before"], used["cpu"]["after"], used["cpu"]["unit"]) == (0.3, 0.9, "cores")
    assert (used["executors"]["before"], used["executors"]["after"]) == (8, 4)
    assert SLOW - 5 * MINUTE < used["executors"]["at"] * 1000 < SLOW
    assert (used["spill"]["series"], used["spill"]["ratio"]) == (0, None)
    [first, *_] = found["explanation"]["hypotheses"]
    assert any("executors went from 8 to 4" in each["text"] for each in first["evidence"] if each["part"] == "signal")
    assert not any("CPU" in each["text"] for each in first["evidence"])
    assert first["posterior"] == bare["explanation"]["hypotheses"][0]["posterior"]
    assert found["explanation"]["blamed"] == [str(BIG)]


def test_resource_signals_are_unknown_with_a_reason_while_metrics_do_not_respond() -> None:
    source = MemoryMetrics("main", {})
    source.failure = SourceUnavailable("main", "connection refused")
    configured = ConfiguredJob(name="churn", reads=("lake.sales.*",), cpu="cpu")
    made = parts(burst(), source, configured=(configured,))
    asyncio.run(made.runs.accept(runs("churn", 60, 2.5)))
    used = {each["kind"]: each for each in get(made)["around"][0]["competing"]}
    assert (used["cpu"]["series"], used["cpu"]["ratio"]) == (0, None)
    assert "connection refused" in used["cpu"]["problem"]


@pytest.mark.parametrize("guilty", [True, False])
def test_the_page_states_the_posterior_threshold_of_its_term_of_confidence(*, guilty: bool) -> None:
    found = get(told(burst(guilty=guilty), runs("churn", 60, 2.5)))
    commits = [each["posterior"] for each in found["explanation"]["hypotheses"] if each["kind"] == "commit"]
    said = [word for word, least in found["sure_from"].items() if max(commits) >= least]
    assert next(iter(said), "none") == found["explanation"]["confidence"]
    assert bool(found["explanation"]["blamed"]) == (max(commits) >= found["sure_from"]["possible"])


def test_labels_of_the_meta_table_are_shown_once_with_those_of_the_inbox() -> None:
    engine = burst()
    fact = LabelFact(event_id="e", at=NOW, kind="rejected", table_uuid=UUID, snapshot_id=BIG)
    engine.roll("labels", pl.DataFrame([msgspec.to_builtins(fact)], infer_schema_length=None))
    assert [each["kind"] for each in get(told(engine, runs("churn", 60, 2.5)))["labels"]] == ["rejected"]


def test_a_malformed_label_names_its_field() -> None:
    body = {"kind": "confirmed", "snapshot_id": str(BIG), "from": 5, "to": 4}
    answer = asyncio.run(asked(parts(burst()), f"{TABLE}/labels", body))
    assert (answer.status_code, answer.json()["field"]) == (400, "to")
    unknown = asyncio.run(asked(parts(burst()), f"{TABLE}/labels", {**body, "kind": "perhaps"}))
    assert unknown.status_code == 400


def test_the_baseline_is_four_times_the_range_before_it_and_differences_are_listed() -> None:
    found = get(told(burst(), runs("churn", 60, 2.5)), f"from={(SLOW - HOUR) // 1000}&to={NOW // 1000}")
    baseline = found["baseline"]
    assert (baseline["kind"], baseline["to"]) == ("before", (SLOW - HOUR) // 1000)
    assert baseline["to"] - baseline["from"] == 4 * (found["to"] - found["from"])
    assert found["since"] == baseline["from"]
    assert (found["selected"]["runs"], baseline["runs"]) == (48, 16 * 12)
    assert found["selected"]["median_seconds"] > 2 * baseline["median_seconds"]
    assert found["differences"][0]["part"] == "files"
    assert found["differences"][0]["selected"] > 100 * found["differences"][0]["baseline"]


def test_a_range_is_compared_with_another_day_or_a_given_range() -> None:
    made, day = told(burst(), runs("churn", 60, 2.5)), 24 * 3_600_000
    start, end = (NOW - 2 * HOUR) // 1000, NOW // 1000
    span = f"from={start}&to={end}"
    yesterday = get(made, f"{span}&baseline=yesterday")
    assert (yesterday["baseline"]["from"], yesterday["baseline"]["to"]) == (start - day, end - day)
    assert yesterday["since"] == start - day
    week = get(made, f"{span}&baseline=week")["baseline"]
    assert (week["from"], week["to"], week["runs"], week["median_seconds"]) == (start - 7 * day, end - 7 * day, 0, None)
    own = get(made, f"{span}&baseline_from={start - day // 2}&baseline_to={start - day // 4}")["baseline"]
    assert (own["kind"], own["from"], own["to"]) == ("custom", start - day // 2, start - day // 4)


def test_an_impossible_baseline_is_refused_by_name() -> None:
    made = told(burst())
    for query, field in (
        ("baseline=custom", "baseline"),
        ("baseline=never", "baseline"),
        ("baseline_to=5", "baseline_from"),
        (f"baseline_from=0&baseline_to={NOW // 1000}", "baseline_to"),
        ("baseline_from=0&baseline_to=5", "baseline_from"),
        (f"baseline=week&from={(NOW - 40 * 24 * HOUR) // 1000}", "baseline"),
    ):
        answer = asyncio.run(asked(made, f"{TABLE}/explain?{SPAN if 'from=' not in query[13:] else ''}&{query}"))
        assert (query, answer.status_code, answer.json()["field"]) == (query, 400, field)


def test_a_withdrawn_label_is_no_longer_shown_and_that_of_another_job_stays() -> None:
    clock = FixedClock()
    made = parts(burst(), clock=clock)
    for job in ("churn", "other"):
        asyncio.run(made.runs.accept(runs(job, 60, 2.5)))
    body = {"snapshot_id": str(BIG), "from": SLOW // 1000, "to": NOW // 1000}
    for job, kind in (("churn", "confirmed"), ("other", "rejected"), ("churn", "withdrawn")):
        answer = asyncio.run(asked(made, f"{TABLE}/labels", {**body, "job_name": job, "kind": kind}))
        assert answer.status_code == 202
        clock.micros += 1
    assert get(made, f"{SPAN}&job=churn")["labels"] == []
    assert [each["kind"] for each in get(made, f"{SPAN}&job=other")["labels"]] == ["rejected"]
