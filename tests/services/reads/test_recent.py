"""Recent reads of every table: on `/metrics`, in the fleet's rows, as its filters and its order."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from limnograph.adapters.memory.query_engine import MemoryEngine
from limnograph.api.metrics.reads_exposition import ReadsExposition
from limnograph.domain.facts.events import ReportFact
from limnograph.domain.ids import TableName
from limnograph.services.reads.recent import TableReadNumbers
from limnograph.wiring.server import ServerServices
from limnograph.wiring.server_metrics import table_reads
from serving_kit import HOUR, MINUTE, NOW, FixedClock, change, client, lake, moved, parts, row, schema

SPEC = {"fields": [{"source-id": 1, "name": "day", "transform": "day"}]}
SLOW, FAST, UNREAD = "orders", "items", "quiet"


def scan(number: int, table: str, at: int = NOW - 5 * MINUTE, **columns: Any) -> ReportFact:
    name = {"catalog": "lake", "namespace": "sales", "table": table, "kind": "scan", "engine": "spark"}
    return ReportFact(event_id=f"e{table}{number}", at=at, **(name | columns))


def filled(*reports: ReportFact) -> MemoryEngine:
    """Three tables; the first is partitioned by day(at)."""
    rows, changes = [], []
    for table in (SLOW, FAST, UNREAD):
        name = {"table_uuid": f"u-{table}", "table": table}
        rows.append(row(1, NOW - 5 * HOUR, 100, **name))
        changes += [moved(1, NOW - 5 * HOUR, **name), change("named", NOW - 9 * HOUR, "x", subject=table, **name)]
    columns = schema(0, NOW - 9 * HOUR, (1, "at", "timestamptz"), (2, "region", "string"))
    changes += [
        change(columns.kind, columns.at, "0", detail=columns.detail, table_uuid="u-orders"),
        change("spec", NOW - 9 * HOUR, "0", detail=json.dumps(SPEC), table_uuid="u-orders"),
    ]
    engine = lake(rows, changes)
    engine.append([], [], reports=list(reports))
    return engine


REPORTS = (
    *(scan(number, SLOW, duration_seconds=2.0, filter_columns=["region"]) for number in range(3)),
    scan(3, SLOW, duration_seconds=2.0, filter_columns=["AT"]),
    scan(4, SLOW, NOW - 3 * HOUR, duration_seconds=9.0, filter_columns=[]),
    *(scan(number, FAST, duration_seconds=0.1, filter_columns=["region"]) for number in range(3)),
    scan(9, FAST, kind="query", wall_seconds=30.0),
)


def read(*reports: ReportFact, clock: FixedClock | None = None) -> ServerServices:
    made = parts(filled(*reports), clock=clock)
    made.read_log.catch_up()
    made.observers.recent.refresh()
    return made


def get(made: ServerServices, path: str) -> Any:
    async def ask() -> Any:
        async with client(made) as http:
            answer = await http.get(path)
            return answer.json()

    return asyncio.run(ask())


def names(page: Any) -> list[str]:
    return [each["table"] for each in page["rows"]]


def test_the_last_hour_is_on_metrics_and_a_table_without_reads_has_no_series() -> None:
    page = ReadsExposition(100).render(table_reads(read(*REPORTS))).decode()
    lines = [line for line in page.splitlines() if not line.startswith("#")]
    labels = 'catalog="lake",table_namespace="sales"'
    assert lines == [
        f'lakehouse_table_planning_p95_seconds{{{labels},table="items"}} 0.1',
        f'lakehouse_table_planning_p95_seconds{{{labels},table="orders"}} 2.0',
        f'lakehouse_table_query_p95_seconds{{{labels},table="items"}} 30.0',
    ]


def test_beyond_the_limit_the_tables_that_are_read_least_are_left_out() -> None:
    numbers = TableReadNumbers(1, 0, 0.5, None, None)
    reads = {TableName("lake", "s", f"t{scans}"): numbers._replace(scans=scans) for scans in range(1, 5)}
    rendered = ReadsExposition(4)
    page = rendered.render(reads).decode()
    assert (page.count("planning_p95_seconds{"), '"t4"' in page, '"t1"' in page) == (2, True, False)
    assert rendered.left_out == 2


def test_rows_of_the_fleet_have_the_reads_of_the_last_day() -> None:
    page = get(read(*REPORTS), "/api/v1/tables?sort=name&dir=asc")
    found = {each["table"]: each["reads"] for each in page["rows"]}
    assert found[UNREAD] is None
    assert found[FAST] == {
        "scans": 3,
        "queries": 1,
        "planning_p95_seconds": pytest.approx(0.1),
        "query_p95_seconds": pytest.approx(30.0),
        "missed_share": None,
    }, "a table without partitions misses none"
    assert (found[SLOW]["scans"], found[SLOW]["missed_share"]) == (5, pytest.approx(4 / 5))
    assert found[SLOW]["planning_p95_seconds"] > 2


def test_slow_planning_and_missed_partitions_are_filters_and_orders() -> None:
    made = read(*REPORTS)
    assert names(get(made, "/api/v1/tables?planning=1")) == [SLOW]
    assert names(get(made, "/api/v1/tables?planning=0.05&sort=planning_p95")) == [SLOW, FAST]
    assert names(get(made, "/api/v1/tables?missed=0.79")) == [SLOW]
    assert names(get(made, "/api/v1/tables?missed=0.8")) == []
    assert names(get(made, "/api/v1/tables?sort=missed_share&dir=asc")) == [SLOW, FAST, UNREAD]
    assert get(made, "/api/v1/tables/facets?planning=1")["total"] == 1
    first = get(made, "/api/v1/tables?planning=0.05&sort=planning_p95&limit=1")
    assert names(get(made, f"/api/v1/tables?cursor={first['next_cursor']}&limit=1")) == [FAST]


@pytest.mark.parametrize("bad", ["planning=-1", "planning=3601", "missed=1.1"])
def test_limits_outside_their_range_are_refused(bad: str) -> None:
    assert get(read(), f"/api/v1/tables?{bad}")["status"] == 400


def test_before_reports_were_read_a_filter_by_them_is_an_error_and_not_an_empty_page() -> None:
    made = parts(filled())
    made.observers.recent.refresh()
    assert get(made, "/api/v1/tables?planning=1")["status"] == 503
    assert get(made, "/api/v1/tables")["rows"][0]["reads"] is None


def test_numbers_are_computed_once_a_minute_and_change_the_versions_of_pages_only_then() -> None:
    clock = FixedClock()
    made = read(*REPORTS, clock=clock)
    before = made.backend.versions.of(None)
    made.observers.recent.refresh()
    assert made.backend.versions.of(None) == before
    clock.micros += 2 * HOUR
    made.observers.recent.refresh()
    assert made.observers.recent.numbers.hour == {}
    assert made.backend.versions.of(None) != before
