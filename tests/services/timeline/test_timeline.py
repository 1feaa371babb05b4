"""Lanes: states that hold, gaps that stay gaps, sources that fail alone."""

import asyncio
from typing import Any

import msgspec
import pytest

from limnograph.adapters.memory.metrics_source import MemoryMetrics
from limnograph.adapters.memory.query_engine import MemoryEngine
from limnograph.domain.answers.lane_specs import LANES
from limnograph.domain.errors import NotFound, SourceTimeout, SourceUnavailable
from limnograph.domain.ids import TableName
from limnograph.domain.metrics.series import Series
from limnograph.domain.time import TimeRange
from limnograph.services.jobs.discovery import ConfiguredJob
from limnograph.services.sources import page_metrics, templates
from limnograph.services.table.objectives import FreshnessObjectives
from limnograph.services.timeline.pending import selection
from serving_kit import BIG, HOUR, MINUTE, NOW, SECOND, FixedClock, change, lake, moved, parts, row, schema

NAME = TableName("lake", "sales", "orders")
SPAN = TimeRange.parse((NOW - 6 * HOUR) // 1000, NOW // 1000, 60)
CHURN = ConfiguredJob(name="churn", reads=("lake.sales.*",))


def ask(made, lanes=LANES, span=SPAN, job=None) -> dict[str, Any]:
    answer = asyncio.run(made.backend.timelines.answer(NAME, span, tuple(lanes), job, None))
    found = msgspec.json.decode(msgspec.json.encode(answer))
    return {**found, "lanes": {lane["id"]: lane for lane in found["lanes"]}}


def at(lane: list[Any], micros: int) -> Any:
    return lane[(micros // 1000 - SPAN.start) // 60_000]


def story():
    burst = NOW - 2 * HOUR + 12 * SECOND
    rows = [row(1, NOW - 8 * HOUR, 1_202), row(BIG, burst, 51_202, added_data_files=50_000)]
    return lake(rows, [moved(1, NOW - 8 * HOUR), moved(BIG, burst)])


def test_a_state_steps_at_its_commit_and_holds() -> None:
    values = ask(parts(story()))["lanes"]["data_files"]["v"]
    assert at(values, NOW - 2 * HOUR) == 1_202
    assert at(values, NOW - 2 * HOUR + MINUTE) == 51_202
    assert values[0] == 1_202
    assert values[-1] == 51_202


def test_a_spike_between_two_points_survives_in_the_extremes() -> None:
    times = [NOW - 8 * HOUR, NOW - 90 * MINUTE + SECOND, NOW - 90 * MINUTE + 20 * SECOND]
    engine = lake([row(i, t, files) for i, (t, files) in enumerate(zip(times, [10, 9_000, 11], strict=True))])
    lane = ask(parts(engine))["lanes"]["data_files"]
    assert 9_000 not in lane["v"]
    assert max(v for v in lane["max"] if v is not None) == 9_000


def test_unknown_totals_are_gaps_and_never_zero() -> None:
    unknown = row(2, NOW - 3 * HOUR, None, status="partial", problems=["manifest_list_missing"])
    engine = lake([row(1, NOW - 8 * HOUR, 10, total_bytes=5), unknown, row(3, NOW - HOUR, 12, total_bytes=6)])
    lanes = ask(parts(engine))["lanes"]
    for name, lane in lanes.items():
        for key in ("v", "min", "max", "lo", "mid", "hi"):
            if name != "freshness":
                assert 0 not in (lane.get(key) or []), (name, key)
    assert at(lanes["data_files"]["v"], NOW - 2 * HOUR) is None
    assert at(lanes["data_files"]["v"], NOW - 4 * HOUR) == 10
    assert at(lanes["data_files"]["v"], NOW - 30 * MINUTE) == 12
    assert set(lanes["delete_files"]["v"]) == {None}
    assert [event["added_data_files"] for event in lanes["commits"]["events"]] == [None, None]


def test_lanes_follow_a_rollback_of_main() -> None:
    log = [moved(1, NOW - 8 * HOUR), moved(2, NOW - 4 * HOUR), moved(1, NOW - HOUR)]
    engine = lake([row(1, NOW - 8 * HOUR, 10), row(2, NOW - 4 * HOUR, 999, parent_id=1)], log)
    lanes = ask(parts(engine))["lanes"]
    assert at(lanes["data_files"]["v"], NOW - 2 * HOUR) == 999
    assert at(lanes["data_files"]["v"], NOW - 10 * MINUTE) == 10
    assert lanes["commits"]["events"][0]["on_main"] is False


def test_right_of_the_watermark_nothing_is_claimed() -> None:
    known = NOW - HOUR
    engine = lake([row(1, NOW - 8 * HOUR, 10, observed_at=known)])
    found = ask(parts(engine))
    assert found["watermark"] == known // 1000
    assert at(found["lanes"]["data_files"]["v"], known) == 10
    assert at(found["lanes"]["data_files"]["v"], known + MINUTE) is None
    assert at(found["lanes"]["freshness"]["v"], known + MINUTE) is None


def test_freshness_rises_from_zero_at_every_commit() -> None:
    values = ask(parts(story()))["lanes"]["freshness"]["v"]
    assert at(values, NOW - 2 * HOUR) == 6 * 3600
    assert at(values, NOW - 2 * HOUR + MINUTE) == 48


def test_the_staleness_threshold_is_a_rule_line_once_the_usual_gap_is_known() -> None:
    def target(times: list[int]) -> Any:
        rows = [row(i + 1, at) for i, at in enumerate(times)]
        return ask(parts(lake(rows, [moved(i + 1, at) for i, at in enumerate(times)])))["lanes"]["freshness"]["target"]

    assert target([NOW - i * HOUR for i in range(8, 2, -1)]) == 3 * 3_600, "three times the usual distance"
    assert target([NOW - i * MINUTE for i in range(8, 2, -1)]) == 3_600, "an hour at least"
    assert target([NOW - 2 * HOUR, NOW - HOUR]) is None


def test_the_objective_of_the_settings_is_the_rule_line_even_without_a_usual_gap() -> None:
    promised = FreshnessObjectives([("lake.hr.*", 60.0), ("lake.sales.*", 900.0), ("**", 5.0)])
    lane = ask(parts(story(), objectives=promised))["lanes"]["freshness"]
    assert (lane["target"], lane["objective"]) == (900.0, True)
    usual = ask(parts(story()))["lanes"]["freshness"]
    assert (usual["target"], usual["objective"]) == (None, False)
    assert promised(TableName("lake", "web", "clicks")) == 5.0
    assert FreshnessObjectives()(NAME) is None


def test_schema_versions_describe_changes_by_field_id() -> None:
    log = [
        schema(0, NOW - 9 * HOUR, (1, "uid", "int"), (2, "tmp", "string")),
        change("spec", NOW - 9 * HOUR, "0", detail='{"spec-id":0,"fields":[]}'),
        schema(1, NOW - 3 * HOUR, (1, "user_id", "long"), (3, "note", "string"), before=0),
    ]
    bars = ask(parts(lake([row(1, NOW - 8 * HOUR)], log)))["lanes"]["schema"]["bars"]
    assert [bar["label"] for bar in bars] == ["s0 · p0", "s1 · p0"]
    assert bars[0]["end"] == bars[1]["start"] == (NOW - 3 * HOUR) // 1000
    assert bars[1]["detail"] == "added note string; removed tmp; renamed uid to user_id; user_id: int to long"


def test_file_sizes_are_a_band_with_the_target() -> None:
    sized = row(1, NOW - 8 * HOUR, 5, file_size_p10=1, file_size_p50=2, file_size_p90=3, target_file_bytes=128)
    lane = ask(parts(lake([sized])))["lanes"]["file_size"]
    assert (lane["lo"][0], lane["mid"][0], lane["hi"][0], lane["target"]) == (1, 2, 3, 128)


def test_lanes_that_are_not_computed_yet_are_absent() -> None:
    lanes = ask(parts(story()))["lanes"]
    assert lanes["skew"]["status"] == lanes["debt"]["status"] == lanes["alerts"]["status"] == "absent"


def test_lanes_come_in_the_order_of_the_page_and_share_the_axis() -> None:
    found = ask(parts(story()))
    assert tuple(found["lanes"]) == LANES
    assert len(found["t"]) == 360
    assert {len(lane["v"]) for lane in found["lanes"].values() if "v" in lane} == {360}


def test_an_unknown_table_is_an_error_of_the_whole_page() -> None:
    made = parts(story())
    with pytest.raises(NotFound):
        asyncio.run(made.backend.timelines.answer(TableName("lake", "x", "y"), SPAN, ("data_files",), None, None))


def duration_series() -> dict[str, list[Series]]:
    times = list(range(SPAN.start, SPAN.end, 60_000))
    slow = (NOW - 2 * HOUR) // 1000
    values = [160.0 if t > slow else 52.0 for t in times]
    values[5] = float("nan")
    reader = {**templates.table_matchers(NAME), "job_name": "churn", "role": "reads"}
    labels = [{"__name__": templates.DURATION}, {templates.STAT: "min"}, {templates.STAT: "max"}]
    series = [Series({**reader, **one}, times, values) for one in labels]
    return {page_text(): series, page_text(alerts=True): series}


def page_text(job: str | None = None, *, alerts: bool = False) -> str:
    """The one question of a page of SPAN, with the lane of alerts or without."""
    matchers, also = templates.table_matchers(NAME), (selection(NAME),) if alerts else ()
    labels = {**matchers, "job_name": job} if job else matchers
    return page_metrics.question(labels, SPAN, NOW // 1000, 15, also).promql


def test_job_duration_shares_the_axis_and_nan_is_a_gap() -> None:
    public = {"main": "https://prometheus.example"}
    made = parts(story(), MemoryMetrics("main", duration_series()), configured=(CHURN,), graphs=public)
    lane = ask(made)["lanes"]["job_duration"]
    assert (lane["status"], lane["label"]) == ("ok", "churn")
    assert lane["query"]["prometheus"] == public["main"]
    assert at(lane["mid"], NOW - 2 * HOUR) == 52
    assert at(lane["mid"], NOW - 2 * HOUR + MINUTE) == 160
    assert lane["mid"][5] is None
    assert "spark_job_duration_seconds" in lane["query"]["promql"]


def test_the_median_of_the_settings_is_drawn_with_the_line_and_its_failure_affects_only_itself() -> None:
    job = ConfiguredJob(name="churn", reads=CHURN.reads, promql="p95", median="p50")
    times = list(range(SPAN.start, SPAN.end, 60_000))
    told = {text: [Series({}, times, [value] * len(times))] for text, value in (("p95", 160.0), ("p50", 52.0))}

    def lane(series: dict[str, list[Series]]) -> Any:
        return ask(parts(story(), MemoryMetrics("main", series), configured=(job,)))["lanes"]["job_duration"]

    both, one = lane(told), lane({"p95": told["p95"]})
    assert (both["status"], both["mid"][7], both["median"][7]) == ("ok", 160, 52)
    assert (one["status"], one["mid"][7], one["median"]) == ("ok", 160, None)


def test_with_several_servers_none_is_linked_unless_the_settings_name_the_job_s() -> None:
    def linked(job: ConfiguredJob) -> Any:
        sources = [MemoryMetrics("main", duration_series()), MemoryMetrics("other", {})]
        graphs = {"main": "https://one.example", "other": "https://two.example"}
        lane = ask(parts(story(), sources, configured=(job,), graphs=graphs))["lanes"]["job_duration"]
        return lane["query"].get("prometheus")

    assert linked(CHURN) is None
    assert linked(ConfiguredJob(name="churn", reads=CHURN.reads, prometheus="main")) == "https://one.example"


def test_unavailable_metrics_do_not_affect_metadata_lanes() -> None:
    source = MemoryMetrics("main", {})
    source.failure = SourceTimeout("main", "no complete response within 5 s")
    lanes = ask(parts(story(), source, configured=(CHURN,)))["lanes"]
    assert lanes["job_duration"]["status"] == "error"
    assert lanes["job_duration"]["problem"]["type"] == "source-timeout"
    assert lanes["data_files"]["status"] == "ok"


def test_unavailable_metadata_does_not_affect_metric_lanes() -> None:
    engine = MemoryEngine()
    engine.failure = SourceUnavailable("meta", "catalog is down")
    lanes = ask(parts(engine, MemoryMetrics("main", duration_series()), configured=(CHURN,)))["lanes"]
    assert lanes["job_duration"]["status"] == "ok"
    assert lanes["data_files"]["status"] == "error"
    assert set(lanes["data_files"]["v"]) == {None}


def test_metadata_that_failed_after_it_was_read_is_stale() -> None:
    engine = story()
    made = parts(engine)
    engine.failure = SourceUnavailable("meta", "catalog is down")
    made.store.refresh()
    lane = ask(made)["lanes"]["data_files"]
    assert (lane["status"], lane["v"][0]) == ("stale", 1_202)


def test_when_no_source_responds_the_whole_page_is_an_error() -> None:
    engine = MemoryEngine()
    engine.failure = SourceUnavailable("meta", "catalog is down")
    source = MemoryMetrics("main", {})
    source.failure = SourceTimeout("main", "late")
    with pytest.raises(SourceUnavailable):
        ask(parts(engine, source, configured=(CHURN,)))


def test_an_older_range_is_read_cold_and_joined_with_the_hot_one() -> None:
    times = [NOW - hours * HOUR for hours in range(100, 0, -1)]
    engine = lake([row(i + 1, t, i) for i, t in enumerate(times)], [moved(i + 1, t) for i, t in enumerate(times)])
    span = TimeRange.parse((NOW - 60 * HOUR) // 1000, NOW // 1000, 3600)
    lane = ask(parts(engine), span=span)["lanes"]["data_files"]
    assert lane["v"] == list(range(40, 100))


def test_unreadable_cold_rows_make_the_lane_partial() -> None:
    engine = story()
    made = parts(engine)
    engine.failure = SourceUnavailable("meta", "catalog is down")
    span = TimeRange.parse((NOW - 60 * HOUR) // 1000, NOW // 1000, 3600)
    lane = ask(made, span=span)["lanes"]["data_files"]
    assert (lane["status"], lane["v"][-1]) == ("partial", 51_202)


def test_runs_that_were_pushed_are_bars() -> None:
    made = parts(story())
    body = {
        "run_id": "r1",
        "job_name": "churn",
        "status": "ok",
        "started_at": NOW - HOUR,
        "ended_at": NOW - HOUR + 52 * SECOND,
        "tables": [{"catalog": "lake", "namespace": "sales", "table": "orders", "role": "reads"}],
        "observed_at": NOW,
    }
    from limnograph.domain.facts.events import RunFact

    asyncio.run(made.runs.accept([msgspec.convert(body, RunFact)]))
    lane = ask(made)["lanes"]["job_runs"]
    assert [(bar["label"], bar["state"], bar["detail"]) for bar in lane["bars"]] == [("churn", "ok", "52 s")]
    assert lane["source"] == "runs"


def test_a_commit_from_the_watcher_is_marked_provisional() -> None:
    made = parts(story(), clock=FixedClock())
    from limnograph.services.lake.lake import Facts

    made.store.apply(Facts([row(7, NOW - 30 * SECOND, 51_300, parent_id=BIG)], [moved(7, NOW - 30 * SECOND)]))
    events = ask(made)["lanes"]["commits"]["events"]
    assert [(e["snapshot_id"], e["provisional"]) for e in events] == [(str(BIG), False), ("7", True)]


def test_an_unreadable_table_hatches_only_its_own_lanes() -> None:
    other = {"table_uuid": "other", "table": "broken"}
    made = parts(lake([row(1, NOW - 8 * HOUR, 10), row(2, NOW - 8 * HOUR, 20, **other)]))
    made.store.probed(NOW - HOUR, ["lake"], [])
    made.store.probed(NOW, ["lake"], ["lake.sales.broken"])
    assert at(ask(made)["lanes"]["data_files"]["v"], NOW - MINUTE) == 10
    broken = asyncio.run(
        made.backend.timelines.answer(TableName("lake", "sales", "broken"), SPAN, ("data_files",), None, None)
    )
    assert broken.watermark == (NOW - HOUR) // 1000
    assert at(broken.lanes[0].v, NOW - 90 * MINUTE) == 20
    assert at(broken.lanes[0].v, NOW - MINUTE) is None


def test_the_sql_to_copy_names_the_meta_tables_of_the_settings() -> None:
    sql = ask(parts(story(), meta="pond.observed"))["lanes"]["data_files"]["query"]["sql"]
    assert " FROM pond.observed.snapshots WHERE " in sql


def test_a_job_that_nothing_links_to_the_table_is_absent() -> None:
    lanes = ask(parts(story(), MemoryMetrics("main", {})), job="nobody")["lanes"]
    assert (lanes["job_duration"]["status"], lanes["job_runs"]["status"]) == ("absent", "absent")


def seen_runs() -> MemoryMetrics:
    """Two runs of `churn` in the metrics, an hour and half an hour ago, of 52 s each."""
    matchers = templates.table_matchers(NAME)
    query = templates.finished_runs(matchers, 15)
    labels = {"job_name": "churn", "application_id": "app-1", "role": "reads"}
    ends = [NOW - HOUR + 52 * SECOND, NOW - 30 * MINUTE]
    times = [end // 1000 + 5_000 for end in ends]
    return MemoryMetrics(
        "main",
        {
            query: [
                Series({**labels, templates.STAT: "finished"}, times, [end / SECOND for end in ends]),
                Series({**labels, templates.STAT: "duration"}, times, [52.0, 52.0]),
            ]
        },
    )


def pushed(made) -> None:
    from limnograph.domain.facts.events import RunFact, RunTable

    run = RunFact(
        run_id="r1",
        job_name="churn",
        status="ok",
        application_id="app-1",
        started_at=NOW - HOUR,
        ended_at=NOW - HOUR + 52 * SECOND + 400,
        tables=[RunTable(catalog="lake", namespace="sales", table="orders", role="reads")],
        observed_at=NOW,
    )
    asyncio.run(made.runs.accept([run]))


def test_one_pushed_run_does_not_hide_runs_known_from_metrics() -> None:
    made = parts(story(), seen_runs())
    pushed(made)
    found = asyncio.run(made.jobs.runs_between(NAME, None, SPAN.start, SPAN.end))
    assert [run.ended_at for run in found] == [NOW - HOUR + 52 * SECOND + 400, NOW - 30 * MINUTE]


def test_pushed_runs_remain_when_metrics_are_down_and_the_lane_is_partial() -> None:
    source = seen_runs()
    made = parts(story(), source)
    pushed(made)
    source.failure = SourceTimeout("main", "late")
    lane = ask(made)["lanes"]["job_runs"]
    assert (lane["status"], len(lane["bars"])) == ("partial", 1)
