"""The lane of maintenance: absent without an action, a bar with its result otherwise, or a problem."""

from __future__ import annotations

import asyncio
from typing import Any

from limnograph.domain.answers.timeline import BarsLane
from limnograph.domain.errors import SourceUnavailable
from limnograph.domain.ids import TableName
from limnograph.domain.time import MICROS_PER_MS, Micros, Millis, TimeRange
from limnograph.services.plans.actions import AttemptSpan
from limnograph.services.timeline.maintenance import LANE, draw
from serving_kit import HOUR, NOW, lake, parts, row

NAME = TableName("lake", "sales", "orders")
RANGE = TimeRange(Millis(NOW // MICROS_PER_MS - 3_600_000), Millis(NOW // MICROS_PER_MS), 60)


class Log:
    """Answers as an ActionLog does, or fails."""

    def __init__(self, *spans: AttemptSpan, fails: bool = False) -> None:
        self._spans, self._fails = list(spans), fails

    def of_table(self, uuid: str, start: Micros, end: Micros) -> list[AttemptSpan]:
        if self._fails:
            raise SourceUnavailable("meta", "down")
        return self._spans


def drawn(log: Any, *asked: str) -> list[Any]:
    made = parts(lake([row(1, NOW - HOUR, 2)]))
    return asyncio.run(draw(log, made.store, NAME, RANGE, asked))  # type: ignore[arg-type]


def test_it_is_drawn_only_if_it_is_requested_and_absent_without_an_action() -> None:
    assert drawn(Log(), "commits") == []
    for log in (None, Log()):
        (lane,) = drawn(log, LANE)
        assert (lane.status, lane.bars) == ("absent", [])


def test_a_bar_has_the_action_its_result_and_whether_it_failed() -> None:
    start, end = Micros(NOW - HOUR // 2), Micros(NOW - HOUR // 2 + 9_000_000)
    (lane,) = drawn(
        Log(
            AttemptSpan("rewrite_data_files", start, end, "verified", 2_000, 1),
            AttemptSpan("expire_snapshots", start, end, "failed", None, None),
            AttemptSpan("rewrite_manifests", start, None, "running", None, None),
        ),
        LANE,
    )
    assert isinstance(lane, BarsLane)
    assert lane.status == "ok"
    assert [(bar.label, bar.state, bar.detail) for bar in lane.bars] == [
        ("rewrite_data_files", "ok", "verified, 2,000 files became 1"),
        ("expire_snapshots", "failed", "failed"),
        ("rewrite_manifests", "running", "running"),
    ]
    assert lane.bars[0].end == lane.bars[0].begins + 9_000
    assert lane.bars[2].end is None


def test_a_source_that_fails_is_a_problem_of_this_lane_alone() -> None:
    (lane,) = drawn(Log(fails=True), LANE)
    assert lane.status == "error"
    assert lane.problem.detail == "meta: down"
