"""A report by Trino on a table that is maintained: its queries before and after, by their splits and by the clock."""

from __future__ import annotations

import time
from typing import Any

from lakehouse.engines import trino_connection
from lakehouse.parts.dag import HttpRunListener, LakeDag, LakeTask
from lakehouse.parts.lake import Lake

JOB = "report.small_files.trino"
RUNS = 20
"""Queries before and after: fewer have no 95th percentile."""


class TrinoReport:
    """Each query is a run that Limnograph sees. Used by one thread."""

    def __init__(self, lake: Lake, table: str) -> None:
        self._lake, self._table = lake, table

    def ask(self) -> dict[str, Any]:
        """Seconds of the queries as their client waits for them, and the splits of the last one."""
        seconds, splits = [], 0
        for _ in range(RUNS):
            begun = time.monotonic()
            result = self._run()
            seconds.append(time.monotonic() - begun)
            splits = int(result)
        order = sorted(seconds)
        return {
            "queries": len(order),
            "p50_ms": round(order[RUNS // 2] * 1000),
            "p95_ms": round(order[int(RUNS * 0.95)] * 1000),
            "splits": splits,
        }

    def _run(self) -> Any:
        lake = self._lake
        task = LakeTask(JOB, self._query, reads=(self._table,))
        dag = LakeDag("lakehouse.report", HttpRunListener(lake.places.server), lake.snapshot)
        result = dag.run([task])[JOB]
        if result.state != "done":
            raise result.result
        return result.result

    def _query(self) -> int:
        with trino_connection(self._lake.places) as connection:
            cursor = connection.cursor()
            cursor.execute(f"select count(*), sum(id) from {self._table}")
            cursor.fetchall()
            return int(cursor.stats["totalSplits"])
