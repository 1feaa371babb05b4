"""Merge-on-read without maintenance: delete files of the stream pile up for minutes, and a rewrite removes them."""

from __future__ import annotations

import time
from typing import Any

from lakehouse.check.observer import awaited
from lakehouse.check.scenario import ScenarioLog
from lakehouse.check.stream.truth import ORDERS, assert_truth, keeper, traffic
from lakehouse.check.world import ScenarioWorld
from lakehouse.parts.streaming import DRIVER

PAUSED_S, SAMPLE_S, QUERIES = 180.0, 30.0, 5
QUESTION = f"select count(*), sum(total_cents) from {ORDERS}"


class PausedCompaction:
    """The cost of a query on `silver.orders` while compaction is paused, and after a rewrite."""

    def __init__(self, world: ScenarioWorld) -> None:
        self._world = world

    def happen(self, log: ScenarioLog) -> None:
        """Minutes of traffic without maintenance."""
        samples = [self._sample()]
        with traffic(self._world):
            deadline = time.monotonic() + PAUSED_S
            while time.monotonic() < deadline:
                time.sleep(SAMPLE_S)
                keeper(self._world).revive()
                samples.append(self._sample())
        assert_truth(self._world, log)
        deletes = [each["delete_files"] for each in samples]
        log.claim("delete files pile up", deletes[-1] > deletes[0], deletes)
        log.figures["paused"] = samples

    def _sample(self) -> dict[str, Any]:
        lake = self._world.lake
        files = {
            row[0]: row
            for row in lake.sql(f"select content, count(*), sum(record_count) from {ORDERS}.files group by 1")
        }
        live = lake.one(f"select count(*) from {ORDERS}")
        return {
            "data_files": files[0][1],
            "delete_files": files[1][1] if 1 in files else 0,
            "rows_read_for_each_found": round(files[0][2] / live, 2),
            "query_ms": self._query_ms(),
        }

    def _query_ms(self) -> int:
        """The middle one of five, with the scan that Limnograph sees reported by Spark itself."""
        times = []
        for _ in range(QUERIES):
            begun = time.monotonic()
            self._world.lake.sql(QUESTION)
            times.append(time.monotonic() - begun)
        return round(sorted(times)[QUERIES // 2] * 1000)

    def observe(self, log: ScenarioLog) -> None:
        """The finding is open; a rewrite removes the delete files, and the answer is the same."""
        observer = self._world.observer
        found = observer.finding("deletes_not_materialized", ORDERS)
        log.claim("Limnograph reports deletes_not_materialized", found)
        log.figures["finding"] = {"code": "deletes_not_materialized", "evidence": found["evidence"]}
        # The stream rests: a rewrite beside it would be a second batch job on its rows.
        with keeper(self._world).resting(DRIVER):
            rewritten = self._repair(log)
            log.claim("the rewrite has a page", observer.commit(ORDERS, rewritten), rewritten)
            closed = awaited(lambda: observer.open_finding("deletes_not_materialized", ORDERS) is None, 60.0)
            log.figures["finding_closed_within_a_minute"] = closed

    def _repair(self, log: ScenarioLog) -> int | None:
        """Rewrite the table. Returns the snapshot."""
        lake, name = self._world.lake, ORDERS.removeprefix("lake.")
        before, answer = self._sample(), lake.sql(QUESTION)
        options = "options => map('rewrite-all', 'true', 'delete-file-threshold', '1')"
        lake.sql(f"call lake.system.rewrite_data_files(table => '{name}', {options})")
        options = "options => map('rewrite-all', 'true')"
        lake.sql(f"call lake.system.rewrite_position_delete_files(table => '{name}', {options})")
        after = self._sample()
        log.equal("the answer is the same", lake.sql(QUESTION), answer)
        log.equal("no delete file is left", after["delete_files"], 0)
        log.claim("there are fewer data files", after["data_files"] < before["data_files"], (before, after))
        log.claim("a query reads only rows that it finds", after["rows_read_for_each_found"] == 1, after)
        log.figures["repaired"] = {"before": before, "after": after}
        return lake.snapshot(ORDERS)
