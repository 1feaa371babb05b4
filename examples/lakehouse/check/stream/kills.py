"""Exactly once, also when programs die: `kill -9` of the stream's driver, Connect, Kafka and the catalog."""

from __future__ import annotations

import time

from lakehouse.bronze.tables import CDC, CLICKS
from lakehouse.check.scenario import ScenarioLog
from lakehouse.check.stream.truth import assert_truth, keeper, traffic
from lakehouse.check.world import ScenarioWorld
from lakehouse.parts.streaming import BROKER, CATALOG, DRIVER, WORKER

KILLED = (DRIVER, WORKER, BROKER, CATALOG, DRIVER)
BETWEEN_S = 25.0
"""Two batches at least."""


class KilledStream:
    """Nothing is stopped in order, and the traffic goes on."""

    def __init__(self, world: ScenarioWorld) -> None:
        self._world = world

    def happen(self, log: ScenarioLog) -> None:
        """Kill, start again, go on; then count."""
        stream, back = keeper(self._world), []
        with traffic(self._world) as running:
            for name in KILLED:
                self._wait(BETWEEN_S)
                begun = time.monotonic()
                stream.kill(name)
                log.claim(f"{name} is started again", name in stream.revive(), name)
                back.append((name, round(time.monotonic() - begun, 1)))
            self._wait(BETWEEN_S)
            log.figures["operations"] = running.operations
        begun = time.monotonic()
        assert_truth(self._world, log)
        log.figures.update(killed=back, restarts=stream.restarts, caught_up_s=round(time.monotonic() - begun, 1))

    def _wait(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            keeper(self._world).revive()
            time.sleep(1)

    def observe(self, log: ScenarioLog) -> None:
        """Limnograph counts what the engine counts, after all of it."""
        for table in (CDC.name, CLICKS.name):
            snapshot = self._world.lake.snapshot(table)
            rows = self._world.lake.one(f"select count(*) from {table}")
            page = self._world.observer.commit(table, snapshot)
            log.claim(f"the newest commit of {table} has a page", page, snapshot)
            after = {each["metric"]: each["after"] for each in page["diff"]}
            log.equal(f"which has the rows of {table} that Spark counts", after["records"], rows)
