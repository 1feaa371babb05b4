"""Records a second of the stream, with and without reports to Limnograph: the same records of Kafka, read again.

Limnograph's server and pipeline run during all of it, as they would on machines of their own.
"""

from __future__ import annotations

import json

from lakehouse.check.scenario import ScenarioLog
from lakehouse.check.stream.truth import keeper
from lakehouse.check.world import ScenarioWorld
from lakehouse.parts.streaming import DRIVER

RUNS, A_BATCH = 3, 600
QUERY = "changes"
MOST_IMPACT = 0.25
"""A bound for a machine that other programs share; the figure is what counts."""


class ObservedThroughput:
    """Three runs each, in turn. A run writes tables of its own, from the first record on."""

    def __init__(self, world: ScenarioWorld) -> None:
        self._world = world

    def happen(self, log: ScenarioLog) -> None:
        """The stream itself rests meanwhile."""
        stream = keeper(self._world)
        rates: dict[str, list[float]] = {"observed": [], "alone": []}
        records = set()
        with stream.resting(DRIVER):
            for number in range(RUNS):
                for kind, found in rates.items():
                    rows, seconds = self._run(
                        f"load_{kind}_{number}", *(() if kind == "observed" else ("--server", ""))
                    )
                    records.add(rows)
                    found.append(round(rows / seconds, 1))
        log.equal("every run read the same records", len(records), 1)
        middle = {kind: sorted(found)[RUNS // 2] for kind, found in rates.items()}
        impact = 1 - middle["observed"] / middle["alone"]
        log.figures.update(records=records.pop(), records_per_second=rates, impact_percent=round(100 * impact, 1))
        log.claim("reports to Limnograph cost little", impact < MOST_IMPACT, rates)

    def _run(self, name: str, *more: str) -> tuple[int, float]:
        stream = keeper(self._world)
        stream.drain("--into", f"lake.{name}", "--most", str(A_BATCH), *more, name=name)
        return work_of(stream.log_of(name))

    def observe(self, log: ScenarioLog) -> None:
        """The observed runs are jobs of the table that they wrote, the others are not."""
        for kind, wanted in (("observed", "stream.changes"), ("alone", None)):
            table = f"lake.load_{kind}_0.orders"
            page = self._world.observer.commit(table, self._world.lake.snapshot(table))
            log.claim(f"the commit of the run {kind} has a page", page, table)
            log.equal(f"and names the job of the run {kind}", page.get("written_by_job"), wanted)


def work_of(log: str) -> tuple[int, float]:
    """Records, and the seconds of all batches, of the query of changes."""
    lines = [json.loads(line) for line in log.splitlines() if line.startswith('{"query"')]
    mine = [each for each in lines if each["query"] == QUERY]
    return sum(each["rows"] for each in mine), sum(each["ms"] for each in mine) / 1000
