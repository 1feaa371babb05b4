"""Records a second of the stream, with and without Limnograph observing it: the same records of Kafka, read anew."""

from __future__ import annotations

import json
from typing import Any

from lakehouse.check.scenario import ScenarioLog
from lakehouse.check.stream.truth import keeper
from lakehouse.check.world import ScenarioWorld
from lakehouse.parts.streaming import DRIVER

RUNS, MOST = 3, 1000
QUERY = "changes"


class ObservedThroughput:
    """Three runs each, in turn. A run writes tables of its own, from the first record on."""

    def __init__(self, world: ScenarioWorld) -> None:
        self._world = world

    def happen(self, log: ScenarioLog) -> None:
        """The stream itself rests meanwhile."""
        stream = keeper(self._world)
        stream.stop(DRIVER)
        rates: dict[str, list[float]] = {"observed": [], "alone": []}
        records = set()
        for number in range(RUNS):
            for kind, found in rates.items():
                name = f"load_{kind}_{number}"
                options = ("--into", f"lake.{name}", "--most", str(MOST), "--query", QUERY)
                stream.drain(*options, name=name, observed=kind == "observed")
                rows, seconds = _work(stream.log_of(name))
                records.add(rows)
                found.append(round(rows / seconds, 1))
        stream.start(DRIVER)
        log.equal("every run read the same records", len(records), 1)
        middle = {kind: sorted(found)[RUNS // 2] for kind, found in rates.items()}
        log.figures.update(
            records=records.pop(),
            records_per_second=rates,
            impact_percent=round(100 * (1 - middle["observed"] / middle["alone"]), 1),
        )

    def observe(self, log: ScenarioLog) -> None:
        """The observed runs are jobs of the table that they wrote, the others are not."""
        for kind, wanted in (("observed", "stream.changes"), ("alone", None)):
            table = f"lake.load_{kind}_0.orders"
            page: Any = self._world.observer.commit(table, self._world.lake.snapshot(table))
            log.equal(f"the job of the commit of the run {kind}", page.get("written_by_job"), wanted)


def _work(log: str) -> tuple[int, float]:
    """Records, and the seconds of all batches, of the query of changes."""
    lines = [json.loads(line) for line in log.splitlines() if line.startswith('{"query"')]
    mine = [each for each in lines if each["query"] == QUERY]
    return sum(each["rows"] for each in mine), sum(each["ms"]["triggerExecution"] for each in mine) / 1000
