"""The server's beginning: the hot index does not wait for the alerts, and `ready` is told when both were read."""

import asyncio
import threading

from limnograph.adapters.memory.inbox import MemoryInbox
from limnograph.adapters.memory.query_engine import MemoryEngine
from limnograph.wiring.server import Parts
from serving_kit import HOUR, NOW, FixedClock, lake, moved, row


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


def test_tables_are_read_while_the_alerts_are_and_ready_is_both() -> None:
    known = lake([row(1, NOW - HOUR, 5)], [moved(1, NOW - HOUR)])
    engine = AlertsWait(known)
    made = Parts(engine, MemoryInbox(), None, FixedClock())

    async def begins() -> list[bool]:
        async with made.around():
            await until(lambda: made.store.attempted)
            found = [bool(made.store.reading.lake.listed), made.backend.status.ready()]
            engine.let.set()
            await until(made.backend.status.ready)
        return found

    assert asyncio.run(begins()) == [True, False]
