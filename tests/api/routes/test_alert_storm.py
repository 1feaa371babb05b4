"""Ten thousand alerts at once on the SQLite inbox: the queue is bounded, and what was accepted is in the meta table."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from limnograph.adapters.inbox.store import SqlInbox
from limnograph.adapters.meta.schema import arrow_table
from limnograph.domain.facts.meta_tables import ALERTS
from limnograph.domain.inbound.alert_labels import fingerprint
from limnograph.services.alerts import registry as limits
from limnograph.services.pipeline.drain import Drain
from limnograph.wiring.server import ServerServices, build_services
from limnograph.wiring.server_options import ServerOptions
from memory_meta import MemoryMetaStore
from serving_kit import HOUR, MINUTE, NOW, SECOND, FixedClock, client, lake, moved, row

if TYPE_CHECKING:
    import httpx

    from limnograph.ports.inbox import InboxItem

STORM, OF_A_BODY = 10_000, 100
BURST = NOW - HOUR


class Measured(SqlInbox):
    """Counts how many bodies it is storing at the same time."""

    storing = most = 0

    def put(self, items: list[InboxItem]) -> int:
        self.storing += 1
        self.most = max(self.most, self.storing)
        try:
            return super().put(items)
        finally:
            self.storing -= 1


def labels(number: int) -> dict[str, str]:
    named = {"catalog": "lake", "table_namespace": "sales", "table": "orders"}
    return {"alertname": "SmallFileProliferation", **named, "shard": str(number)}


def bodies() -> list[bytes]:
    since = datetime.fromtimestamp((BURST + MINUTE) / SECOND, UTC).isoformat()
    alerts = [{"status": "firing", "labels": labels(number), "startsAt": since} for number in range(STORM)]
    return [json.dumps({"alerts": alerts[at : at + OF_A_BODY]}).encode() for at in range(0, STORM, OF_A_BODY)]


def server(url: str) -> ServerServices:
    rows = [row(1, NOW - 5 * HOUR, 10), row(2, BURST, 50_010, parent_id=1, added_data_files=50_000)]
    engine = lake(rows, [moved(1, NOW - 5 * HOUR), moved(2, BURST)])
    made = build_services(ServerOptions(engine, Measured(url), FixedClock()))
    made.store.refresh()
    return made


async def tell(http: httpx.AsyncClient, body: bytes, told: list[int]) -> int:
    """As Alertmanager does: again, as long as it is asked to come back. Returns how many were accepted as new."""
    while True:
        answer = await http.post("/api/v1/alertmanager", content=body)
        told.append(answer.status_code)
        if answer.status_code != 503:
            return int(answer.json()["accepted"])
        assert int(answer.headers["retry-after"]) > 0
        await asyncio.sleep(0.05)


async def storm(made: ServerServices, sent: list[bytes], told: list[int]) -> int:
    async with client(made) as http:
        return sum(await asyncio.gather(*(tell(http, body, told) for body in sent)))


def asked(made: ServerServices, path: str) -> Any:
    async def ask() -> httpx.Response:
        async with client(made) as http:
            return await http.get(path)

    return asyncio.run(ask()).json()


def drained(url: str) -> MemoryMetaStore:
    store, inbox = MemoryMetaStore(), SqlInbox(url)
    drain = Drain(inbox, store, FixedClock(), arrow_table)
    while inbox.waiting(("alert",), 1):
        drain.run()
    return store


def test_of_ten_thousand_alerts_every_accepted_one_reaches_the_meta_table_once_and_joins_its_commit(
    tmp_path: Path,
) -> None:
    url = f"sqlite:///{tmp_path}/inbox.db"
    made, told = server(url), []
    sent = bodies()
    # Some of it twice, as two Alertmanagers of a cluster tell it.
    assert asyncio.run(storm(made, [*sent, *sent[:10]], told)) == STORM
    assert set(told) <= {202, 503}
    assert 1 <= made.options.inbox.most <= limits.MOST_STORING

    rows = drained(url).rows(ALERTS).to_pylist()
    assert len(rows) == STORM
    assert {one["fingerprint"] for one in rows} == {fingerprint(labels(number)) for number in range(STORM)}
    assert {(one["catalog"], one["namespace"], one["table"]) for one in rows} == {("lake", "sales", "orders")}

    again = server(url)
    again.alerts.catch_up()
    assert asked(again, "/api/v1/alerts?limit=1")["firing"] == STORM
    incident = asked(again, f"/api/v1/alerts/{fingerprint(labels(STORM - 1))}")
    culprit = incident["commits"][0]
    assert culprit["snapshot_id"] == "2"
    assert culprit["t"] <= incident["alert"]["starts_at"]


def test_a_full_queue_accepts_nothing_until_the_pipeline_has_drained_it(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/inbox.db"
    made, told = server(url), []
    made.alerts._most_waiting = 250
    sent = bodies()[:3]
    assert asyncio.run(storm(made, sent[:2], told)) == 200
    assert asyncio.run(_answer(made, sent[2])) == 503
    assert len(SqlInbox(url).items("alert")) == 200
    assert drained(url).rows(ALERTS).num_rows == 200
    made.alerts.catch_up()
    assert asyncio.run(_answer(made, sent[2])) == 202


async def _answer(made: ServerServices, body: bytes) -> int:
    async with client(made) as http:
        return (await http.post("/api/v1/alertmanager", content=body)).status_code
