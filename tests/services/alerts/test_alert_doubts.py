"""Alerts whose end nobody told: unknown since the last word of them, never resolved by guess; a word, and they fire."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from limnograph.adapters.memory.metrics_source import MemoryMetrics
from limnograph.domain.answers.alerts import Muted
from limnograph.domain.errors import SourceUnavailable
from limnograph.domain.inbound.alert_labels import fingerprint
from limnograph.domain.metrics.series import Series
from limnograph.ports.active_alerts import ActiveAlert
from limnograph.services.alerts.staleness import GRACE, QUIET
from limnograph.wiring.server import ServerServices
from serving_kit import HOUR, MINUTE, NOW, SECOND, client, lake, moved, parts, row

LABELS = {"alertname": "SmallFileProliferation", "catalog": "lake", "table_namespace": "sales", "table": "orders"}
MARK = fingerprint(LABELS)
FIRED = NOW - MINUTE


class Manager:
    """An Alertmanager that has the alert, silenced or not, until it forgets it, or does not answer."""

    def __init__(self, *, has: bool = True, muted: Muted | None = None) -> None:
        self.has, self.muted, self.away = has, muted, False

    def matching(self, _labels: Mapping[str, str]) -> list[ActiveAlert]:
        if self.away:
            raise SourceUnavailable("alertmanager", "away")
        return [ActiveAlert(MARK, LABELS, FIRED, self.muted)] * self.has


class Prometheus(MemoryMetrics):
    """One that has the alert until it forgets it."""

    has = True

    async def range(self, query: Any) -> Any:
        firing = Series({"__name__": "ALERTS", "alertstate": "firing", **LABELS}, [query.start], [1.0])
        self._answers = {'ALERTS{alertstate="firing"}': [firing] * self.has}
        return await super().range(query)


def world(**given: Any) -> ServerServices:
    return parts(lake([row(1, NOW - 5 * HOUR, 10)], [moved(1, NOW - 5 * HOUR)]), **given)


def body(status: str = "firing", **fields: Any) -> bytes:
    started = datetime.fromtimestamp(FIRED / SECOND, UTC).isoformat()
    one = {"status": status, "labels": LABELS, "startsAt": started}
    return json.dumps({"alerts": [one], **fields}).encode()


def told(made: ServerServices, content: bytes | None = None) -> None:
    async def post() -> None:
        async with client(made) as http:
            assert (await http.post("/api/v1/alertmanager", content=content or body())).status_code == 202

    asyncio.run(post())


def after(made: ServerServices, *micros: int) -> None:
    """Time passes, and each time it is looked."""
    for step in micros:
        made.backend.clock.micros += step
        asyncio.run(made.staleness.check())


def get(made: ServerServices, path: str) -> Any:
    async def ask() -> Any:
        async with client(made) as http:
            return (await http.get("/api/v1" + path)).json()

    return asyncio.run(ask())


def state(made: ServerServices) -> tuple[str, int | None]:
    alert = get(made, f"/alerts/{MARK}")["alert"]
    return alert["state"], alert["heard_at"]


def test_an_alert_that_both_sources_forgot_is_unknown_since_they_last_returned_it() -> None:
    manager, prometheus = Manager(), Prometheus("main", {})
    made = world(active=manager, source=prometheus)
    told(made)
    after(made, MINUTE, 2 * HOUR)
    assert state(made) == ("firing", None)
    manager.has = prometheus.has = False
    after(made, MINUTE, GRACE)
    assert state(made) == ("unknown", (NOW + MINUTE + 2 * HOUR) // 1000)
    page = get(made, "/alerts")
    assert (page["firing"], page["resolved"], page["unknown"]) == (0, 0, 1)
    assert [one["state"] for one in get(made, "/alerts?state=unknown")["rows"]] == ["unknown"]
    span = f"from={(NOW - HOUR) // 1000}&to={(NOW + 6 * HOUR) // 1000}"
    lane = get(made, f"/tables/lake/sales/orders/timeline?lanes=alerts&{span}")["lanes"][0]
    assert [(bar["state"], bar["end"]) for bar in lane["bars"]] == [("unknown", (NOW + MINUTE + 2 * HOUR) // 1000)]
    assert [one["status"] for one in get(made, f"/alerts/{MARK}")["transitions"]] == ["firing"]


def test_the_status_shows_the_outcome_of_queries_to_alertmanager() -> None:
    def told_of() -> Any:
        return next((one for one in get(made, "/status")["sources"] if one["kind"] == "alertmanager"), None)

    made = world()
    assert told_of() is None, "not configured"
    manager = Manager()
    made = world(active=manager)
    assert (told_of()["status"], told_of()["age_s"]) == ("ok", None)
    assert told_of()["detail"] == "queried only while an alert is open"
    told(made)
    after(made, MINUTE)
    made.backend.clock.micros += 30 * SECOND
    assert (told_of()["status"], told_of()["age_s"], told_of()["detail"]) == ("ok", 30.0, None)
    manager.away = True
    after(made, MINUTE)
    assert told_of()["status"] == "error"
    assert told_of()["age_s"] == 90.0
    assert "away" in told_of()["detail"]


@pytest.mark.parametrize("which", ["alertmanager", "prometheus"])
def test_one_source_that_still_returns_it_is_enough(which: str) -> None:
    manager, prometheus = Manager(has=which == "alertmanager"), Prometheus("main", {})
    prometheus.has = which == "prometheus"
    made = world(active=manager, source=prometheus)
    told(made)
    after(made, HOUR, HOUR)
    assert state(made) == ("firing", None)


def test_an_unresponsive_source_proves_nothing() -> None:
    manager, prometheus = Manager(), Prometheus("main", {})
    made = world(active=manager, source=prometheus)
    told(made)
    manager.away, prometheus.has = True, False
    after(made, HOUR, HOUR)
    assert state(made) == ("firing", None)


def test_a_new_webhook_makes_it_fire_again_and_an_end_resolves_it() -> None:
    made = world(active=Manager(has=False))
    told(made)
    after(made, GRACE + SECOND)
    assert state(made)[0] == "unknown"
    told(made)  # Alertmanager repeats itself
    after(made, SECOND)
    assert state(made) == ("firing", None)
    after(made, GRACE + SECOND)
    assert state(made)[0] == "unknown"
    told(made, body("resolved"))
    assert state(made) == ("resolved", None)


@pytest.mark.parametrize("fields", [{}, {"orgId": 1}])
def test_without_a_source_to_query_an_alert_is_stale_after_a_day_as_are_those_of_grafana(
    fields: dict[str, int],
) -> None:
    made = world(active=Manager(has=False)) if fields else world()
    told(made, body(**fields))
    after(made, QUIET)
    assert state(made) == ("firing", None)
    after(made, SECOND)
    assert state(made) == ("unknown", NOW // 1000)


def test_a_server_that_just_started_does_not_count_earlier_silence() -> None:
    made = world()
    told(made)
    again = world()
    again.alerts._inbox = made.options.inbox
    again.backend.clock.micros = NOW + 3 * QUIET
    again.staleness._begun = again.backend.clock.now()
    again.alerts.catch_up()
    after(again, QUIET)
    assert state(again) == ("firing", None)
    after(again, SECOND)
    assert state(again) == ("unknown", NOW // 1000)


def test_a_silence_is_shown_and_sent_to_streams() -> None:
    manager = Manager(muted="silenced")
    made = world(active=manager)
    told(made)
    before = made.backend.live.published
    after(made, MINUTE)
    assert get(made, "/alerts")["rows"][0]["muted"] == "silenced"
    assert made.backend.live.published == before + 1
    after(made, MINUTE)
    assert made.backend.live.published == before + 1
    manager.muted = None
    after(made, MINUTE)
    assert get(made, "/alerts")["rows"][0]["muted"] is None
