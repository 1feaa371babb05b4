"""Times that alerts waited before they fired: hatched bars of the lane, as Prometheus has them, and none without it."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from limnograph.adapters.memory.metrics_source import MemoryMetrics
from limnograph.domain.errors import SourceTimeout
from limnograph.domain.ids import TableName
from limnograph.domain.metrics.series import Series
from limnograph.domain.time import TimeRange
from limnograph.services.sources import page_metrics, templates
from limnograph.services.timeline.pending import selection
from serving_kit import HOUR, MINUTE, NOW, SECOND, client, lake, moved, parts, row

ORDERS = TableName("lake", "sales", "orders")
RULE = {"alertname": "LakehouseCompactionBacklog", "catalog": "lake", "table_namespace": "sales", "table": "orders"}
START, END, STEP = NOW - 2 * HOUR, NOW, MINUTE
SINCE, FIRED = NOW - 80 * MINUTE, NOW - 50 * MINUTE
"""The rule waits for half an hour."""


def ms(micros: int) -> int:
    return micros // 1000


def states(since: int, first: int, last: int, state: str = "pending", every: int = STEP, **labels: str) -> list[Series]:
    """What Prometheus has of a rule that is true since then, at each minute from `first` to `last`."""
    times = list(range(ms(first), ms(last) + 1, ms(every)))
    own = {**RULE, **labels}
    return [
        Series({"__name__": "ALERTS", "alertstate": state, **own}, times, [1.0] * len(times)),
        Series({"__name__": "ALERTS_FOR_STATE", **own}, times, [since / SECOND] * len(times)),
    ]


def body(at: int, **labels: str) -> bytes:
    told = {"startsAt": datetime.fromtimestamp(at / SECOND, UTC).isoformat(), "labels": {**RULE, **labels}}
    return json.dumps({"alerts": [{"status": "firing", **told}]}).encode()


def lane(
    series: list[Series] | MemoryMetrics, *told: bytes, start: int = START, end: int = END, lanes: str = "alerts"
) -> Any:
    source = series if isinstance(series, MemoryMetrics) else MemoryMetrics("main", {str(selection(ORDERS)): series})
    made = parts(lake([row(1, NOW - 5 * HOUR, 10)], [moved(1, NOW - 5 * HOUR)]), source=source)

    async def ask() -> Any:
        async with client(made) as http:
            for one in told:
                await http.post("/api/v1/alertmanager", content=one)
            span = f"from={ms(start)}&to={ms(end)}&step={STEP // SECOND}"
            return (await http.get(f"/api/v1/tables/lake/sales/orders/timeline?lanes={lanes}&{span}")).json()

    return asyncio.run(ask())["lanes"][0]


def bars(found: Any) -> list[tuple[int, int | None, str]]:
    return [(bar["start"], bar["end"], bar["state"]) for bar in found["bars"]]


def test_an_alert_is_pending_until_the_instant_it_fires() -> None:
    series = states(SINCE, SINCE, FIRED - MINUTE) + states(SINCE, FIRED, NOW, "firing")
    found = lane(series, body(FIRED + 7 * SECOND, cluster="external"))
    assert bars(found) == [
        (ms(SINCE), ms(FIRED + 7 * SECOND), "pending"),
        (ms(FIRED + 7 * SECOND), None, "firing"),
    ]
    assert {bar["label"] for bar in found["bars"]} == {"LakehouseCompactionBacklog"}
    assert found["status"] == "ok"


def test_a_page_queries_job_lanes_and_alerts_once_and_ignores_samples_of_the_future() -> None:
    span, waited = TimeRange.parse(ms(START), ms(END + HOUR), STEP // SECOND), NOW - 9 * MINUTE
    asked = page_metrics.question(templates.table_matchers(ORDERS), span, ms(NOW), 15, (selection(ORDERS),))
    # Prometheus goes on with an instant vector's last sample for five minutes
    source = MemoryMetrics("main", {asked.promql: states(waited, waited, NOW + 5 * MINUTE, every=15 * SECOND)})
    found = lane(source, end=END + HOUR, lanes="alerts,job_duration")
    assert bars(found) == [(ms(waited), None, "pending")]  # of no other question it has series


def test_an_alert_not_yet_received_is_pending_until_now() -> None:
    found = lane(states(NOW - 9 * MINUTE, NOW - 9 * MINUTE, NOW))
    assert bars(found) == [(ms(NOW - 9 * MINUTE), None, "pending")]
    assert found["status"] == "ok"


def test_a_pending_interval_without_firing_ends_and_the_next_one_is_separate() -> None:
    first, second = NOW - 100 * MINUTE, NOW - 40 * MINUTE
    found = lane(states(first, first, first + 5 * MINUTE) + states(second, second, second + 3 * MINUTE))
    assert bars(found) == [
        (ms(first), ms(first + 5 * MINUTE), "pending"),
        (ms(second), ms(second + 3 * MINUTE), "pending"),
    ]


def test_a_pending_interval_shorter_than_a_step_is_known_from_the_time_the_alert_fired() -> None:
    since = FIRED - 20 * SECOND
    found = lane(states(since, FIRED + MINUTE, NOW, "firing"), body(FIRED))
    assert bars(found) == [(ms(since), ms(FIRED), "pending"), (ms(FIRED), None, "firing")]


def test_a_rule_without_for_has_no_pending_time_and_neither_has_the_next_episode() -> None:
    again = FIRED + 20 * MINUTE
    series = states(FIRED, FIRED, FIRED + 5 * MINUTE, "firing") + states(again, again, NOW, "firing")
    found = lane(series, body(FIRED), body(again))
    assert [state for _, _, state in bars(found)] == ["resolved", "firing"]


def test_a_range_in_the_past_shows_no_alert_as_still_pending() -> None:
    found = lane(states(SINCE, SINCE, FIRED - MINUTE), start=START, end=NOW - HOUR)
    assert bars(found) == [(ms(SINCE), ms(NOW - HOUR), "pending")]


@pytest.mark.parametrize(
    ("labels", "drawn"),
    [
        ({"table_namespace": "ops"}, False),
        ({"catalog": "", "table_namespace": "", "namespace": "monitoring"}, True),
        ({"table": "lake.sales.orders", "catalog": "", "table_namespace": ""}, True),
        ({"catalog": "other"}, False),
    ],
)
def test_only_alerts_of_the_table_are_drawn_among_those_that_share_a_label(
    labels: dict[str, str], *, drawn: bool
) -> None:
    series = [Series({**one.labels, **labels}, one.times, one.values) for one in states(SINCE, SINCE, FIRED)]
    series = [Series({k: v for k, v in one.labels.items() if v}, one.times, one.values) for one in series]
    assert bool(lane(series)["bars"]) is drawn


def test_without_prometheus_the_lane_shows_received_alerts() -> None:
    source = MemoryMetrics("main", {})
    source.failure = SourceTimeout("main", "away")
    found = lane(source, body(FIRED))
    assert bars(found) == [(ms(FIRED), None, "firing")]
    assert found["status"] == "ok"
    assert lane(source)["status"] == "absent"
