"""A report by Trino on a table that is maintained: its queries before and after, by their splits and by the clock."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from lakehouse.engines import trino_connection
from lakehouse.parts.dag import HttpRunListener, LakeDag, LakeTask
from lakehouse.parts.lake import Lake

JOB = "report.small_files.trino"


class TimedQuery(NamedTuple):
    """Seconds as the client waits for them, and splits."""

    seconds: float
    splits: int


class TrinoReport:
    """Each query is a run that Limnograph sees. Used by one thread."""

    def __init__(self, lake: Lake, table: str) -> None:
        self._lake, self._table = lake, table

    def run(self) -> TimedQuery:
        """One run of the report."""
        lake, begun = self._lake, time.monotonic()
        task = LakeTask(JOB, self.query, reads=(self._table,))
        result = LakeDag("lakehouse.report", HttpRunListener(lake.places.server), lake.snapshot).run([task])[JOB]
        if result.state != "done":
            raise result.result
        return TimedQuery(time.monotonic() - begun, int(result.result))

    def query(self) -> int:
        """The number of splits of the report's query; no run reports it."""
        with trino_connection(self._lake.places) as connection:
            cursor = connection.cursor()
            cursor.execute(f"select count(*), sum(id) from {self._table}")
            cursor.fetchall()
            return int(cursor.stats["totalSplits"])


def figures_of(queries: Sequence[TimedQuery]) -> dict[str, Any]:
    """Quantiles in milliseconds, and the splits of the last query."""
    order = sorted(each.seconds for each in queries)
    return {
        "queries": len(order),
        "p50_ms": round(order[len(order) // 2] * 1000),
        "p95_ms": round(order[int(len(order) * 0.95)] * 1000),
        "splits": queries[-1].splits,
    }
