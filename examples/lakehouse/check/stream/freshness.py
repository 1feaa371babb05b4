"""FR4, freshness: from the event to the row that a query finds, seen from outside by another engine."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from lakehouse.bronze.tables import CLICKS
from lakehouse.check.observer import awaited
from lakehouse.check.scenario import ScenarioLog
from lakehouse.check.stream.truth import ORDERS, assert_truth, keeper, traffic
from lakehouse.check.world import ScenarioWorld
from lakehouse.parts.lake import Lake

WARM_S, MEASURED_S = 30.0, 120.0
INSTANT = {CLICKS.name: "event_at", ORDERS: "updated_at"}
LIMIT_S = {CLICKS.name: 30.0, ORDERS: 60.0}
"""Limits of p95 at a trigger of ten seconds."""


class StreamFreshness:
    """PyIceberg polls both tables twice a second and looks at the rows of each new snapshot."""

    def __init__(self, world: ScenarioWorld) -> None:
        self._world = world
        self._written: dict[str, int | None] = {}

    def happen(self, log: ScenarioLog) -> None:
        """Steady traffic; the first batches are not counted."""
        with traffic(self._world) as running:
            watch = FreshnessWatch(self._world.lake)
            deadline = time.monotonic() + WARM_S + MEASURED_S
            warm = time.monotonic() + WARM_S
            while time.monotonic() < deadline:
                keeper(self._world).revive()
                watch.look(counted=time.monotonic() > warm)
                time.sleep(0.5)
            log.figures["operations"] = running.operations
        for table in LIMIT_S:
            found = watch.seconds[table]
            log.claim(f"rows of {table} were seen", len(found) > 50, len(found))
            log.figures[table] = {"rows": len(found), "snapshots": watch.snapshots[table], **quantiles(found)}
        for table, limit_s in LIMIT_S.items():
            p95 = quantiles(watch.seconds[table])["p95_s"]
            log.claim(f"p95 of {table} is below {limit_s:.0f} s", p95 < limit_s, p95)
        assert_truth(self._world, log)
        self._written = {table: self._world.lake.snapshot(table) for table in INSTANT}

    def observe(self, log: ScenarioLog) -> None:
        """The commits of both tables name their stream, its epoch and the run."""
        for table, snapshot in self._written.items():
            page = self._world.observer.commit(table, snapshot)
            log.claim(f"the last commit of {table} has a page", page, snapshot)
            stream = page.get("stream") or {}
            log.equal(f"which names the engine of the stream of {table}", stream.get("engine"), "spark")
            log.equal("and says that its epoch follows the one before", stream.get("order"), "next")
            log.figures[f"epoch of {table}"] = stream["number"]
        last = self._written[ORDERS]
        job = awaited(lambda: self._world.observer.table(ORDERS, f"/commits/{last}").get("written_by_job"))
        log.equal("the commit of silver names the job of the stream", job, "stream.changes")


class FreshnessWatch:
    """Age of rows when they are first found. Used by one thread."""

    def __init__(self, lake: Lake) -> None:
        self._lake = lake
        self._snapshot: dict[str, int] = {}
        self._newest = dict.fromkeys(INSTANT, datetime.now(UTC))
        self.seconds: dict[str, list[float]] = {table: [] for table in INSTANT}
        self.snapshots = dict.fromkeys(INSTANT, 0)

    def look(self, *, counted: bool) -> None:
        """Rows that are newer than the newest known one."""
        for table, column in INSTANT.items():
            self._look_at(table, column, counted=counted)

    def _look_at(self, table: str, column: str, *, counted: bool) -> None:
        from pyiceberg.expressions import GreaterThan

        loaded = self._lake.catalog.load_table(table.removeprefix("lake."))
        current = loaded.current_snapshot()
        if current is None or self._snapshot.get(table) == current.snapshot_id:
            return
        self._snapshot[table] = current.snapshot_id
        newer: Any = GreaterThan(column, self._newest[table].isoformat())
        rows = loaded.scan(row_filter=newer, selected_fields=(column,)).to_arrow()[column].to_pylist()
        now = datetime.now(UTC)
        if rows and counted:
            self.snapshots[table] += 1
            self.seconds[table] += [(now - each).total_seconds() for each in rows]
        self._newest[table] = max([*rows, self._newest[table]])


def quantiles(seconds: Sequence[float]) -> dict[str, float]:
    """Middle, 95 of 100, and the longest."""
    order = sorted(seconds)
    return {
        "p50_s": round(order[len(order) // 2], 1),
        "p95_s": round(order[int(len(order) * 0.95)], 1),
        "max_s": round(order[-1], 1),
    }
