"""The server's beginning: the hot index does not wait for the alerts; readiness waits for both and for the lake."""

import asyncio
import sys
import threading
from typing import Any

from limnograph.adapters.memory.inbox import MemoryInbox
from limnograph.adapters.memory.query_engine import MemoryEngine
from limnograph.domain.watch import CatalogSeen, ProbeRound, Trouble, encode
from limnograph.wiring.server import build_services
from limnograph.wiring.server_options import ServerOptions
from limnograph.wiring.server_runtime import ServerRuntime
from serving_kit import HOUR, NOW, FixedClock, client, lake, moved, row


class AlertsWait(MemoryEngine):
    """An engine that answers about alerts when it is let."""

    def __init__(self, known: MemoryEngine) -> None:
        super().__init__()
        self._known, self.let = known, threading.Event()

    def head(self):
        return self._known.head()

    def select(self, query):
        if query.table == "alerts":
            assert self.let.wait(60)
        return self._known.select(query)


async def until(condition) -> None:
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110 - what it waits for is told in other threads
            await asyncio.sleep(0.01)


def test_tables_and_alerts_are_read_concurrently_and_readiness_needs_both() -> None:
    known = lake([row(1, NOW - HOUR, 5)], [moved(1, NOW - HOUR)])
    engine = AlertsWait(known)
    made = build_services(ServerOptions(engine, MemoryInbox(), FixedClock()))

    async def begins() -> list[bool]:
        async with ServerRuntime(made).running():
            await until(lambda: made.store.attempted)
            found = [bool(made.store.reading.lake.listed), made.backend.status.waiting_for() is None]
            engine.let.set()
            await until(lambda: made.backend.status.waiting_for() is None)
        return found

    assert asyncio.run(begins()) == [True, False]


def assert_catalogs(lake: dict[str, Any], near: dict[str, Any]) -> None:
    assert (lake["status"], lake["age_s"], lake["latency_s"]) == ("error", None, None)
    assert lake["detail"] == "not reachable"
    assert (near["status"], near["latency_s"], near["detail"]) == ("ok", 0.25, "2 tables")
    assert near["age_s"] is not None


def test_a_server_is_ready_once_the_lake_was_checked_and_reports_why_it_is_not(tmp_path) -> None:
    go = tmp_path / "go"
    down = Trouble("catalog", "catalog lake: not reachable")
    seen = [CatalogSeen("lake", 0, None, answers=False, trouble="not reachable"), CatalogSeen("near", 2, 0.25, True)]
    unmatched = ["observe.include[0] 'near.slaes.**'"]
    message = encode(ProbeRound(NOW, 2, troubles=[down], read=["near"], listed=2, catalogs=seen, unmatched=unmatched))
    waits = f"import os, time\nwhile not os.path.exists({str(go)!r}): time.sleep(0.01)\n"
    script = f"{waits}os.write(1, {message!r})\ntime.sleep(60)"
    made = build_services(
        ServerOptions(MemoryEngine(), MemoryInbox(), FixedClock(), watch_command=(sys.executable, "-c", script))
    )

    async def begins() -> None:
        async with ServerRuntime(made).running(), client(made) as http:
            await until(lambda: made.backend.status.waiting_for() == "the first check of the catalogs has not finished")
            answer = await http.get("/readyz")
            assert (answer.status_code, answer.json()["status"]) == (503, "starting")
            assert "first check" in answer.json()["detail"]
            go.touch()
            await until(lambda: made.backend.status.waiting_for() is None)
            assert (await http.get("/readyz")).status_code == 200
            status = (await http.get("/api/v1/status")).json()
            sources = {each.pop("id"): each for each in status["sources"]}
            assert "not reachable" in sources["watcher"]["detail"]
            assert_catalogs(sources["catalog:lake"], sources["catalog:near"])
            assert "'near.slaes.**'" in next(h for h in status["hints"] if h["code"] == "unmatched")["detail"]

    asyncio.run(begins())
