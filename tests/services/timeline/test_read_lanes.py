"""Lanes of reads: a value for each span with a read, null elsewhere, absent without any, an error of its own."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from limnograph.adapters.memory.query_engine import MemoryEngine
from limnograph.domain.errors import SourceUnavailable
from limnograph.domain.facts.events import ReportFact
from limnograph.domain.time import TimeRange
from limnograph.services.rollups.fold import DAY
from limnograph.services.timeline.reads import VALUES, width_of
from serving_kit import BIG, HOUR, NOW, client, lake, moved, parts, row

MS = 1_000
LANES = ",".join(VALUES)


def scan(number: int, at: int, seconds: float, opened: int) -> ReportFact:
    return ReportFact(
        event_id=f"e{number}",
        kind="scan",
        at=at,
        catalog="lake",
        namespace="sales",
        table="orders",
        snapshot_id=BIG,
        duration_seconds=seconds,
        result_data_files=opened,
        result_delete_files=opened // 2,
    )


def filled(*reports: ReportFact) -> MemoryEngine:
    engine = lake([row(BIG, NOW - 9 * HOUR, 100, overlap_depth_max=6)], [moved(BIG, NOW - 9 * HOUR)])
    engine.append([], [], reports=reports)
    return engine


def lanes(engine: MemoryEngine, start: int, *, lanes: str = LANES, broken: bool = False) -> dict[str, Any]:
    made = parts(engine)
    made.read_log.catch_up()
    if broken:
        engine.failure = SourceUnavailable("meta", "down")

    async def ask() -> Any:
        async with client(made) as http:
            path = "/api/v1/tables/lake/sales/orders/timeline"
            answer = await http.get(f"{path}?from={start // MS}&to={NOW // MS}&step=3600&lanes={lanes}")
            assert answer.status_code == 200, answer.text
            return answer.json()

    return {lane["id"]: lane for lane in asyncio.run(ask())["lanes"]}


def test_each_hour_with_scans_has_their_numbers_and_the_others_none() -> None:
    start = NOW - NOW % HOUR - 4 * HOUR
    found = lanes(filled(scan(1, start + 5, 0.5, 20), scan(2, start + 6, 0.5, 40)), start)
    assert found["planning"]["v"][:2] == [0.5, None]
    assert found["skipped_share"]["v"][0] == pytest.approx(0.7)
    assert found["read_amplification"]["v"][0] == 0.5
    assert [found[lane]["status"] for lane in VALUES] == ["ok", "absent", "ok", "ok"]


def test_without_reports_the_lanes_are_absent() -> None:
    assert {lane["status"] for lane in lanes(filled(), NOW - 4 * HOUR).values()} == {"absent"}


def test_the_overlap_depth_is_that_of_the_commit_that_main_points_at() -> None:
    found = lanes(filled(), NOW - 12 * HOUR, lanes="overlap")["overlap"]
    assert (found["status"], found["v"][0], found["v"][-1]) == ("ok", None, 6)


def test_a_range_that_the_meta_tables_cannot_answer_is_an_error_of_these_lanes_only() -> None:
    found = lanes(filled(), NOW - 5 * DAY, lanes=f"commits,{LANES}", broken=True)
    assert {found[lane]["status"] for lane in VALUES} == {"error"}


@pytest.mark.parametrize(
    ("days", "step_s", "exact", "hours"), [(1, 60, True, 0.25), (1, 7200, True, 6), (30, 60, False, 24)]
)
def test_a_span_is_at_least_a_step_and_there_are_at_most_a_hundred(
    days: int, step_s: int, exact: bool, hours: float
) -> None:
    span = TimeRange((NOW - days * DAY) // MS, NOW // MS, step_s)
    assert width_of(span, exact=exact) == hours * HOUR
