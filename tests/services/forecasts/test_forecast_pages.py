"""Pages of forecasts on the whole application, the finding `at_risk`, and the server's numbers."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from finding_world import DAY, HOUR, MINUTE, NOW, World
from limnograph.domain.advice.prices import Prices
from limnograph.domain.errors import SourceUnavailable
from limnograph.domain.facts.forecasts import TOTAL_BYTES, ForecastFact
from limnograph.services.findings.sentences import sentence_of
from limnograph.wiring.server import ServerServices
from limnograph.wiring.server_metrics import own_metrics
from serving_kit import UUID, client, parts

AS_OF = NOW - 2 * HOUR
ROUTE = "/api/v1/tables/lake/sales/orders/forecast"


def told(metric: str = "small_files", hours: int = 168, **fields: Any) -> ForecastFact:
    given = {
        "table_uuid": UUID,
        "metric": metric,
        "as_of": AS_OF,
        "hours": hours,
        "threshold": 1_000.0,
        "level": 600.0,
        "p10": 700.0,
        "p50": 1_100.0 + hours,
        "p90": 1_500.0,
        "p_cross": 0.7,
        "p_cross_if_maintained": 0.1,
        "driver": "small_files",
        "model": "bootstrap",
        "alert": False,
    }
    return ForecastFact(**(given | fields))


def warned(**fields: Any) -> ForecastFact:
    return told(**({"alert": True, "warned_at": AS_OF - DAY, "crosses_from": NOW, "crosses_to": NOW + DAY} | fields))


def served(world: World, *facts: ForecastFact, **options: Any) -> ServerServices:
    world.engine.append([], [], forecasts=facts)
    return parts(world.engine, clock=world.clock, inbox=world.inbox, **options)


def four(world: World, **options: Any) -> ServerServices:
    """One metric in each state, and the bytes."""
    size = told(TOTAL_BYTES, 720, threshold=None, level=2.0**30, p10=2.0**30, p50=2.0**31, p90=2.0**32, p_cross=None)
    return served(
        world,
        told(as_of=AS_OF - DAY, p_cross=0.9),
        warned(),
        warned(hours=24, p_cross=0.2),
        told("manifests", level=1_000.0, p_cross=None),
        told("live_snapshots", abstained="short_history"),
        told("metadata_bytes", p_cross=0.1),
        size,
        **options,
    )


async def got(server: ServerServices, path: str) -> Any:
    async with client(server) as http:
        answer = await http.get(path)
        assert answer.status_code == 200, answer.text
        return answer.json()


def test_the_list_names_those_at_risk_first_and_counts_all() -> None:
    page = asyncio.run(got(four(World()), "/api/v1/forecasts"))
    assert [(row["metric"], row["state"]) for row in page["rows"]] == [
        ("small_files", "at_risk"),
        ("manifests", "red"),
        ("live_snapshots", "cannot_say"),
    ]
    assert page["counts"] == {"at_risk": 1, "red": 1, "cannot_say": 1, "not_at_risk": 1}
    (row, *_) = page["rows"]
    assert (row["hours"], row["p_cross"], row["as_of"]) == (168, 0.7, AS_OF // 1000)  # the newest, over seven days
    assert (row["table"], row["crosses_from"], row["abstained"]) == ("orders", NOW // 1000, None)
    assert (page["budget"], page["model"], page["as_of"]) == (10, "bootstrap", AS_OF // 1000)
    assert (page["track_record"]["warnings"], page["track_record"]["pending"]) == (1, 1)


def test_a_page_continues_where_the_last_one_ended_and_filters_hold() -> None:
    server = four(World())

    async def read() -> tuple[Any, Any, Any, Any]:
        async with client(server) as http:
            first = (await http.get("/api/v1/forecasts?limit=1")).json()
            second = (await http.get(f"/api/v1/forecasts?limit=1&cursor={first['next_cursor']}")).json()
            only = (await http.get("/api/v1/forecasts?state=not_at_risk&table=lake.sales.orders")).json()
            return first, second, only, await http.get("/api/v1/forecasts?state=later")

    first, second, only, refused = asyncio.run(read())
    assert [page["rows"][0]["state"] for page in (first, second)] == ["at_risk", "red"]
    assert [row["metric"] for row in only["rows"]] == ["metadata_bytes"]
    assert refused.status_code == 400


def test_a_table_has_fans_from_what_was_observed_last_to_the_horizon() -> None:
    page = asyncio.run(got(four(World()), ROUTE))
    fans = {fan["metric"]: fan for fan in page["fans"]}
    assert [point["at"] for point in fans["small_files"]["points"]] == [
        (AS_OF + hours * HOUR) // 1000 for hours in (0, 24, 168)
    ]
    assert fans["small_files"]["points"][0]["p50"] == 600.0
    assert "live_snapshots" not in fans  # no interval for what cannot be said
    assert fans["manifests"]["lane"] == "manifests"


@pytest.mark.parametrize(("prices", "cost"), [(Prices(), None), (Prices(is_default=False, currency="EUR"), 0.046)])
def test_bytes_have_a_cost_where_prices_are_configured(prices: Prices, cost: float | None) -> None:
    size = asyncio.run(got(four(World(), prices=prices), ROUTE))["bytes"]
    assert (size["hours"], size["bytes_now"], size["bytes_p50"], size["tables"]) == (720, 2**30, 2**31, 1)
    assert size["cost_p50"] == cost
    assert size["currency"] == (None if cost is None else "EUR")


def test_before_the_first_forecast_there_is_a_page_without_rows() -> None:
    world = World()
    page = asyncio.run(got(served(world), "/api/v1/forecasts"))
    assert (page["rows"], page["as_of"], page["bytes"]["bytes_now"]) == ([], None, None)
    assert asyncio.run(got(served(world), ROUTE))["rows"] == []


def test_a_store_that_does_not_respond_leaves_a_note() -> None:
    world = World()
    server = four(world)
    world.engine.failure = SourceUnavailable("meta", "is away")
    page = asyncio.run(got(server, "/api/v1/forecasts"))
    assert page["rows"] == []
    assert "is away" in page["notes"][0]


def test_new_forecasts_are_read_within_a_minute_and_old_ones_are_not_listed() -> None:
    world = World()
    server = four(world)
    assert server.forecasts.board().by_table[UUID][0].shown.as_of == AS_OF
    world.engine.append([], [], forecasts=[told(as_of=AS_OF + HOUR, p_cross=0.1)])
    assert server.forecasts.board().as_of == AS_OF
    world.clock.micros += 2 * MINUTE
    assert server.forecasts.board().as_of == AS_OF + HOUR
    world.clock.micros += 9 * DAY
    assert not server.forecasts.board().by_table


def test_a_warning_is_a_finding_until_it_ends() -> None:
    world = World()
    server = four(world)

    def observed() -> list[Any]:
        asyncio.run(server.observers.observe(server.evaluator))
        return [fact for fact in server.evaluator.evaluate() if fact.code == "at_risk"]

    (opened,) = observed()
    assert (opened.subject, opened.state, opened.severity) == ("small_files", "open", "warning")
    assert opened.opened_at == AS_OF - DAY
    shown = server.backend.findings.shown(opened, [opened])
    assert sentence_of(shown) == (
        "small files will probably reach 1,000 within 7 days (7 of 10); with maintenance now: 1 of 10"
    )
    assert asyncio.run(got(server, ROUTE))["rows"][0]["finding_id"] == opened.finding_id
    assert own_metrics(server)["limnograph_forecast_tables_at_risk"] == 1
    world.engine.append([], [], forecasts=[told(as_of=AS_OF + HOUR, p_cross=0.2)])
    world.later(2 * HOUR, server=server)
    (closed,) = observed()
    assert (closed.finding_id, closed.state) == (opened.finding_id, "closed")
