"""Pitfall 8: a stream and a batch job change the rows of one table; then each has a table of its own."""

from __future__ import annotations

import time
from collections.abc import Callable

from lakehouse.check.scenario import ScenarioLog
from lakehouse.check.stream.truth import ORDERS, assert_truth, keeper, traffic
from lakehouse.check.world import ScenarioWorld
from lakehouse.ingest.stream import CONFLICT, REFUSED
from lakehouse.parts.lake import MERGE_ON_READ, TableLayout
from lakehouse.parts.observed import read_patiently
from lakehouse.parts.streaming import DRIVER
from limnograph.spark_metrics import job_run

REVIEW = TableLayout("lake.silver.order_reviews", "id bigint, status string", "bucket(2, id)", MERGE_ON_READ)
BATCH = "orders.review"
WANTED, LONGEST_S, APART_S = 5, 480.0, 60.0


class StreamBesideBatch:
    """The batch job writes what it read, so that the rows are those of the shop in any order of commits."""

    def __init__(self, world: ScenarioWorld) -> None:
        self._world = world

    def happen(self, log: ScenarioLog) -> None:
        """Until enough commits were refused; then the same work into another table."""
        read_patiently()
        lake, table = self._world.lake, REVIEW.name
        lake.create(REVIEW)
        with traffic(self._world):
            shared = self._work(f"update {ORDERS} set status = status where id % 2 = 0", LONGEST_S, WANTED)
            lake.sql(f"insert into {table} select id, status from {ORDERS}")
            apart = self._work(f"update {table} set status = status where id % 2 = 0", APART_S, None)
        log.claim("commits of one table were refused", sum(shared[:2]) >= WANTED, shared)
        log.equal("apart, none was refused", apart[:2], (0, 0))
        commits = lake.one(f"select count(*) from {table}.snapshots where operation = 'overwrite'")
        log.claim("although the batch job committed", commits > 1, (commits, apart))
        assert_truth(self._world, log)
        log.figures.update(
            one_table={"batch_refused": shared[0], "stream_refused": shared[1], "batch_runs": shared[2]},
            own_tables={"batch_refused": apart[0], "stream_refused": apart[1], "batch_runs": apart[2]},
        )

    def _work(self, statement: str, longest_s: float, wanted: int | None) -> tuple[int, int, int]:
        """Run a statement in a loop. Returns refused commits of it and of the stream, and the runs."""
        refused = runs = 0
        # A batch of the stream that had begun before is not counted.
        self._await_epoch()
        before = self._refused_of_stream()
        deadline = time.monotonic() + longest_s
        while time.monotonic() < deadline:
            keeper(self._world).revive()
            refused += self._refused(lambda: self._world.lake.sql(statement))
            runs += 1
            if wanted is not None and refused + self._refused_of_stream() - before >= wanted:
                break
        return refused, self._refused_of_stream() - before, runs

    def _refused(self, act: Callable[[], object]) -> bool:
        """Whether Iceberg refused the commit of a run. Raises any other error."""
        places = self._world.lake.places
        try:
            with job_run(BATCH, reads=[ORDERS], writes=[ORDERS], server=places.server, spark=self._world.lake.spark):
                act()
        except Exception as error:
            if not any(name in str(error) for name in REFUSED):
                raise
            return True
        return False

    def _await_epoch(self) -> None:
        seen, deadline = self._world.lake.snapshot(ORDERS), time.monotonic() + 60
        while self._world.lake.snapshot(ORDERS) == seen and time.monotonic() < deadline:
            time.sleep(0.5)

    def _refused_of_stream(self) -> int:
        return keeper(self._world).log_of(DRIVER).count(CONFLICT)

    def observe(self, log: ScenarioLog) -> None:
        """Limnograph names both writers, and has no such finding on the second table."""
        found = self._world.observer.finding("stream_batch_conflict", ORDERS)
        log.claim("Limnograph reports stream_batch_conflict", found)
        evidence = found["evidence"]
        writers = {evidence.get("loser"), evidence.get("winner")}
        log.equal("with both writers", writers, {BATCH, "stream.changes"})
        log.equal("and which of them is the stream", evidence.get("stream"), "stream.changes")
        log.equal(
            "there is none on the table of the batch job",
            self._world.observer.open_finding("stream_batch_conflict", REVIEW.name),
            None,
        )
        log.figures["finding"] = {"code": "stream_batch_conflict", "evidence": evidence}
