"""Every declared lane has one drawing, and what is drawn is what the table of lanes says of it, whatever fails."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from limnograph.adapters.memory.metrics_source import MemoryMetrics
from limnograph.adapters.memory.query_engine import MemoryEngine
from limnograph.domain.answers.lane_specs import LANE_SPECS, LANES, SPEC_OF
from limnograph.domain.errors import SourceTimeout, SourceUnavailable
from limnograph.domain.ids import TableName
from limnograph.domain.time import TimeRange
from limnograph.services.explain import signals as explain_signals
from limnograph.services.jobs.discovery import ConfiguredJob
from limnograph.services.jobs.signals import SIGNALS
from limnograph.services.timeline import lanes, long_range, reads, timeline
from serving_kit import HOUR, NOW, lake, moved, parts, row

NAME = TableName("lake", "sales", "orders")
SPAN = TimeRange.parse((NOW - 6 * HOUR) // 1000, NOW // 1000, 60)
CHURN = ConfiguredJob(name="churn", reads=("lake.sales.*",), cpu="own_cpu", spill="own_spill", executors="own")


def world(*, lake_fails: bool = False, prometheus: str = "answers") -> Any:
    engine = lake([row(1, NOW - 4 * HOUR, 7)], [moved(1, NOW - 4 * HOUR)])
    if lake_fails:
        engine = MemoryEngine()
        engine.failure = SourceUnavailable("meta", "catalog is down")
    if prometheus == "none":
        return parts(engine)
    source = MemoryMetrics("main", {})
    source.failure = SourceTimeout("main", "no answer within 5 s") if prometheus == "fails" else None
    return parts(engine, source, configured=(CHURN,))


def test_every_lane_has_one_drawing_function() -> None:
    assert set(LANES) == timeline.DRAWN_LANES
    assert sorted(
        [*lanes.META_LANES, *timeline.JOB_LANES, *reads.VALUES, "alerts", "attempts", "maintenance", "stream_lag"]
    ) == sorted(LANES)
    with_columns = {spec.id for spec in LANE_SPECS if spec.column}
    assert not with_columns & (set(lanes.DRAWINGS) | set(long_range.DRAWINGS))
    assert set(long_range.DRAWINGS) <= set(lanes.DRAWINGS)


@pytest.mark.parametrize(
    "failing",
    [{}, {"prometheus": "none"}, {"prometheus": "fails"}, {"lake_fails": True}],
    ids=["none", "no prometheus", "prometheus", "lake"],
)
def test_a_response_has_the_declared_kind_unit_and_source(failing) -> None:
    answer = asyncio.run(world(**failing).backend.timelines.answer(NAME, SPAN, LANES, None, None))
    found = msgspec.to_builtins(answer)["lanes"]
    assert [lane["id"] for lane in found] == list(LANES)
    for lane in found:
        spec = SPEC_OF[lane["id"]]
        assert (lane["kind"], lane["unit"], lane["source"]) == (spec.kind, spec.unit, spec.source), spec.id


@pytest.mark.parametrize("lane", LANES)
def test_a_lane_can_be_requested_alone(lane: str) -> None:
    answer = asyncio.run(world().backend.timelines.answer(NAME, SPAN, (lane,), None, None))
    assert [each.id for each in answer.lanes] == [lane]


def test_explain_has_words_for_every_signal() -> None:
    assert set(SIGNALS) == set(explain_signals._NAMES) == set(explain_signals._SLOWS)


def test_sizes_of_commits_of_which_only_the_manifest_list_was_read_are_named_as_unread() -> None:
    shallow, deep = {"tier": "manifest_list"}, {"tier": "entries", "file_size_p50": 4_096, "skew_max_over_median": 2.0}
    tiers = {6: shallow, 5: shallow, 4: deep, 3: {"tier": "summary"}, 2: shallow, 1: deep}
    rows = [row(hour, NOW - hour * HOUR, 7, **tier) for hour, tier in tiers.items()]
    made = parts(lake(rows, [moved(hour, NOW - hour * HOUR) for hour in tiers]))
    wanted = ("file_size", "skew", "data_files")
    answer = asyncio.run(made.backend.timelines.answer(NAME, SPAN, wanted, None, None))
    found = {lane["id"]: lane["unread"] for lane in msgspec.to_builtins(answer)["lanes"]}
    hours = [((NOW - first * HOUR) // 1000, (NOW - last * HOUR) // 1000) for first, last in ((6, 4), (2, 1))]
    assert found == {"file_size": hours, "skew": hours, "data_files": []}
