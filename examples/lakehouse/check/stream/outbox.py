"""The outbox: an event that the shop wrote with its order is a record of a topic of its own, and a row of bronze."""

from __future__ import annotations

import time

from lakehouse.bronze.tables import CDC, EVENTS
from lakehouse.check.observer import awaited
from lakehouse.check.scenario import ScenarioLog
from lakehouse.check.stream.truth import assert_truth, traffic
from lakehouse.check.world import ScenarioWorld
from lakehouse.parts import kafka

TRAFFIC_S = 20.0


class RoutedOutbox:
    """Debezium routes the rows of the outbox by their type of aggregate."""

    def __init__(self, world: ScenarioWorld) -> None:
        self._world = world
        self._snapshot: int | None = None

    def happen(self, log: ScenarioLog) -> None:
        """Orders are placed; their events are in the topic of orders, and in no other."""
        lake = self._world.lake
        with traffic(self._world):
            time.sleep(TRAFFIC_S)
        assert_truth(self._world, log)
        topics = [row[0] for row in lake.sql(f"select distinct source from {EVENTS.name}")]
        log.equal("every event has the topic of its aggregate", topics, [*kafka.EVENT_TOPICS])
        changes = lake.one(f"select count(*) from {CDC.name} where source like '%{kafka.OUTBOX}'")
        log.equal("and is no change of a row besides", changes, 0)
        late = lake.one(f"select count(*) from {EVENTS.name} where created_at is null or created_at > ingested_at")
        log.equal("every event has the time at which the shop wrote it", late, 0)
        self._snapshot = lake.snapshot(EVENTS.name)

    def observe(self, log: ScenarioLog) -> None:
        """The last commit of the events names the job and the epoch of the stream."""
        page = self._world.observer.commit(EVENTS.name, self._snapshot)
        log.claim("the last commit of the events has a page", page, self._snapshot)
        job = awaited(lambda: self._world.observer.commit(EVENTS.name, self._snapshot).get("written_by_job"))
        log.equal("which names the job of the stream", job, "stream.changes")
        stream = page.get("stream") or {}
        log.claim("and its epoch", stream.get("number") is not None, stream)
