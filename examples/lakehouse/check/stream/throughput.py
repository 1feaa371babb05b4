"""Records a second of the stream, with and without reports to Limnograph: the same records of Kafka, read again.

Limnograph's server runs during all of it and receives the reports. Its pipeline rests: it reads whatever was committed,
with reports or without, and on two cores it would compete with the driver now and then. The figure depends on what else
the machine does, so that the scenario fails only if reports cost more than the limit and more than the runs of one kind
differ among themselves. Two figures depend on it less: processor time, and the time that batches wait for reports.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from lakehouse.check.scenario import ScenarioLog
from lakehouse.check.stream.truth import CUSTOMERS, catch_up, keeper, traffic
from lakehouse.check.world import ScenarioWorld
from lakehouse.parts.streaming import DRIVER, PIPELINE

RUNS, A_BATCH, LEAST_CHANGES = 3, 600, 2400
QUERY = "changes"
OBSERVED, ALONE = "observed", "alone"
MOST_IMPACT = 0.05


class DriverWork(NamedTuple):
    """Records of the query of changes, the seconds of all its batches and those that they waited for reports, and
    processor seconds of the driver.
    """

    records: int
    seconds: float
    processor_s: float | None
    reports_s: float = 0.0


class ReportCost(NamedTuple):
    """`impact`: share of the middle rate that reports cost; `noise`: the largest spread of the runs of one kind, as a
    share of their middle one.
    """

    impact: float
    noise: float

    @property
    def is_too_much(self) -> bool:
        """Whether reports cost more than the limit, whatever else happened on the machine."""
        return self.impact > MOST_IMPACT + self.noise

    @property
    def verdict(self) -> str:
        limit = f"{MOST_IMPACT:.0%}"
        if self.is_too_much:
            return f"more than {limit}"
        if self.noise <= MOST_IMPACT and self.impact <= MOST_IMPACT:
            return f"at most {limit}"
        return f"not known: runs of one kind differ by {self.noise:.0%}"


class ObservedThroughput:
    """Three runs each, in turn. A run writes tables of its own, from the first record on."""

    def __init__(self, world: ScenarioWorld) -> None:
        self._world = world

    def happen(self, log: ScenarioLog) -> None:
        """The stream itself and the pipeline rest meanwhile."""
        self._fill()
        works: dict[str, list[DriverWork]] = {OBSERVED: [], ALONE: []}
        with keeper(self._world).resting(DRIVER), keeper(self._world).resting(PIPELINE):
            for number in range(RUNS):
                # Each kind is the first of a pair in turn: a machine may become slower or faster.
                for kind in (OBSERVED, ALONE) if number % 2 == 0 else (ALONE, OBSERVED):
                    more = () if kind == OBSERVED else ("--server", "")
                    works[kind].append(self._run(f"load_{kind}_{number}", *more))
        records = {work.records for found in works.values() for work in found}
        log.equal("every run read the same records", len(records), 1)
        rates = {kind: [round(work.records / work.seconds, 1) for work in found] for kind, found in works.items()}
        cost = cost_of(rates)
        used = {kind: [work.processor_s for work in found] for kind, found in works.items()}
        log.figures.update(
            records=records.pop(),
            records_per_second=rates,
            impact_percent=round(100 * cost.impact, 1),
            noise_percent=round(100 * cost.noise, 1),
            verdict=cost.verdict,
            driver_processor_s=used,
        )
        waited = sorted(work.reports_s / work.seconds for work in works[OBSERVED])
        log.figures["reports_percent"] = [round(100 * share, 1) for share in waited]
        log.claim("reports to Limnograph cost at most 5 %, or no more than runs differ", not cost.is_too_much, rates)
        log.claim("batches wait at most 5 % of their time for reports", waited[RUNS // 2] <= MOST_IMPACT, waited)

    def _fill(self) -> None:
        """Changes for several batches, if no scenario before has made them."""
        with traffic(self._world):
            time.sleep(1)
        shop = self._world.medallion.shop
        while (missing := LEAST_CHANGES - catch_up(self._world).changes[0]) > 0:
            shop.trade(missing, CUSTOMERS)

    def _run(self, name: str, *more: str) -> DriverWork:
        stream = keeper(self._world)
        stream.drain("--into", f"lake.{name}", "--most", str(A_BATCH), *more, name=name)
        return work_of(stream.log_of(name))

    def observe(self, log: ScenarioLog) -> None:
        """The observed runs are jobs of the table that they wrote, the others are not."""
        for kind, wanted in ((OBSERVED, "stream.changes"), (ALONE, None)):
            table = f"lake.load_{kind}_0.orders"
            page = self._world.observer.commit(table, self._world.lake.snapshot(table))
            log.claim(f"the commit of the run {kind} has a page", page, table)
            log.equal(f"and names the job of the run {kind}", page.get("written_by_job"), wanted)


def cost_of(rates: Mapping[str, Sequence[float]]) -> ReportCost:
    """What reports cost, by the middle run of each kind."""
    middle = {kind: sorted(found)[len(found) // 2] for kind, found in rates.items()}
    noise = max((max(found) - min(found)) / middle[kind] for kind, found in rates.items())
    return ReportCost(1 - middle[OBSERVED] / middle[ALONE], noise)


def work_of(log: str) -> DriverWork:
    """What a driver said of its queries when it had ended them."""
    lines = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
    mine = [each for each in lines if each.get("query") == QUERY]
    used, waited = ([each[key] for each in lines if key in each] for key in ("processor_s", "reports_s"))
    rows, spent = sum(each["rows"] for each in mine), sum(each["ms"] for each in mine) / 1000
    return DriverWork(rows, spent, used[-1] if used else None, waited[-1] if waited else 0.0)
