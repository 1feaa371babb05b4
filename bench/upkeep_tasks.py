"""Tasks of `housekeeping.py`: the meta tables of a pipeline that commits every minute, with or without housekeeping.

Everything measured (appends by Spark, scans by the server's engine, housekeeping itself) is the product's own code; the
commits that age a table are those of `aging.py`.
"""

from __future__ import annotations

import contextlib
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import strategy_tasks
from aging import MINUTE, Aged, Warp

if TYPE_CHECKING:
    import pyarrow as pa

HOUR_COMMITS = 60
KEPT_EVERY = 720
"""Minutes between two runs of housekeeping while a table ages: far less frequent than the pipeline's, so that the table
is in worse condition than in production, if anything. The last hour before the measurement uses the pipeline's own."""
PENDING = 40
"""Commits since the last housekeeping when an append is measured: the same at every age."""
FACTS = 500
AGING_FACTS = 5
APPENDS = 15
Clock = Callable[[], contextlib.AbstractContextManager[None]]


class Aging:
    """Lake, Spark session and clock of one run; `tables`: namespaces with meta tables."""

    def __init__(self, folder: Path, *namespaces: str) -> None:
        from lakes import Lake
        from limnograph.wiring import pipeline

        folder.mkdir(parents=True, exist_ok=True)
        self.lake = Lake(folder)
        self.warp = Warp((time.time_ns() // 1000 // (1440 * MINUTE) - 30) * 1440 * MINUTE)
        self.session = pipeline.spark_session(self._settings(namespaces[0]))
        self.stores = {name: pipeline.meta_store(self._settings(name), self.session) for name in namespaces}
        for store in self.stores.values():
            store.ensure()
        self.commits = 0

    def _settings(self, namespace: str) -> Any:
        return self.lake.settings(meta={"namespace": namespace}, spark={"master": "local[2]"})

    def facts(self, count: int) -> pa.Table:
        """Rows of one minute."""
        from limnograph.adapters.meta.schema import arrow_table
        from limnograph.domain.facts.meta_tables import SNAPSHOTS, SnapshotFact

        self.commits += 1
        rows = [
            SnapshotFact(
                table_uuid=f"u{number % 100:03d}",
                snapshot_id=self.commits * 10_000 + number,
                committed_at=self.warp.now(),
                operation="append",
                total_data_files=number,
                added_data_files=1,
                observed_at=self.warp.now(),
                status="ok",
            )
            for number in range(count)
        ]
        return arrow_table(SNAPSHOTS, rows)

    def age(self, namespace: str, commits: int, every: int = 0) -> None:
        """Add commits, one per minute, with housekeeping after every `every` of them and at the end; 0: never."""
        from limnograph.jobs.housekeeping import run_due_steps

        table, house = Aged(self.lake, f"{namespace}.snapshots"), self.house(namespace)
        for number in range(commits):
            self.warp.tick(MINUTE)
            table.commit([self.facts(AGING_FACTS)])
            if every and ((number + 1) % every == 0 or number + 1 == commits):
                failed = [report for report in run_due_steps(house, lambda _line: None) if report.problem]
                if failed:
                    raise SystemExit(f"housekeeping failed: {failed}")

    def house(self, namespace: str) -> Any:
        """The pipeline's housekeeping, on the clock that runs ahead. Without roll-ups: they write other tables, so they
        do not affect the cost of appends to `snapshots`.
        """
        from limnograph.domain.facts.meta_tables import HOURLY
        from limnograph.services.rollups.marks import ROLLED_CHANGES, ROLLED_SNAPSHOTS
        from limnograph.wiring.housekeeping import housekeeping

        upkeep = warped_upkeep(self.session, self.lake, namespace, self.warp)
        upkeep.set_properties(HOURLY, dict.fromkeys((ROLLED_SNAPSHOTS, ROLLED_CHANGES), "999999999"))
        return housekeeping(self._settings(namespace), self.session, clock=self.warp, upkeep=upkeep)

    def append(self, namespace: str) -> float:
        """Seconds of one append, the same as in a pass."""
        from limnograph.domain.facts.meta_tables import SNAPSHOTS

        store, rows = self.stores[namespace], self.facts(FACTS)
        head = store.head(SNAPSHOTS)
        started = time.perf_counter()
        store.append(SNAPSHOTS, rows, head, "bench")
        return time.perf_counter() - started


def warped_upkeep(session: Any, lake: Any, namespace: str, warp: Warp) -> Any:
    """SparkUpkeep in the time of the clock that runs ahead: Iceberg's snapshots carry real time. The search for orphans
    is unchanged and finds none: no file is that old.
    """
    import msgspec

    from limnograph.adapters.spark.housekeeping import SparkUpkeep
    from limnograph.domain.facts.meta_tables import MetaTable
    from limnograph.ports.meta_upkeep import MetaTableState

    class Warped(SparkUpkeep):
        def standing(self, table: MetaTable) -> MetaTableState:
            found = super().standing(table)
            return msgspec.structs.replace(found, committed=tuple(map(warp.shown, found.committed)))

        def expire(self, table: MetaTable, older_than: int, keep: int) -> None:
            super().expire(table, warp.real(older_than), keep)

    return Warped(session, lambda: lake.catalog, namespace)


def append_at_age(clock: Clock, folder: str, young: str, old: str) -> dict[str, Any]:
    """Appends of 500 facts to a young table, an old one, and an old one without housekeeping; alternating in one
    session, so that other load slows all of them.
    """
    aging = Aging(Path(folder), "young", "old", "left")
    try:
        started = time.perf_counter()
        for namespace, commits in (("old", int(old)), ("young", int(young))):
            aging.age(namespace, max(commits - PENDING - HOUR_COMMITS, 0), KEPT_EVERY)
            aging.age(namespace, HOUR_COMMITS, HOUR_COMMITS)
            aging.age(namespace, PENDING)
        aged = time.perf_counter() - started
        rows = aging.facts(AGING_FACTS)
        Aged(aging.lake, "left.snapshots").commit([rows] * int(old), repeat=int(old))
        taken: dict[str, list[float]] = {name: [] for name in aging.stores}
        with clock():
            for turn in range(APPENDS + 3):  # the first ones warm up Spark
                for namespace, times in taken.items():
                    seconds = aging.append(namespace)
                    if turn > 2:
                        times.append(seconds)
        stands = {name: _stands(aging, name) for name in taken}
    finally:
        aging.session.stop()
    medians = {name: statistics.median(times) for name, times in taken.items()}
    return {"seconds": medians, "stands": stands, "aged_seconds": aged}


def _stands(aging: Aging, namespace: str) -> str:
    table = aging.lake.load(f"{namespace}.snapshots")
    head = table.current_snapshot()
    manifests = len(head.manifests(table.io)) if head else 0
    return f"{len(table.snapshots())} snapshots, {manifests} manifests"


def make_day(clock: Clock, folder: str, commits: str, compacted: str) -> int:
    """A day of the meta table, compacted or uncompacted."""
    from limnograph.domain.facts.meta_tables import SNAPSHOTS

    aging = Aging(Path(folder), "meta")
    upkeep = warped_upkeep(aging.session, aging.lake, "meta", aging.warp)
    try:
        rows = []
        for _ in range(int(commits)):
            rows.append(aging.facts(AGING_FACTS))
            aging.warp.tick(MINUTE)
        Aged(aging.lake, "meta.snapshots").commit(rows)
        with clock():
            if compacted == "yes":
                for part in upkeep.standing(SNAPSHOTS).parts:
                    upkeep.compact(SNAPSHOTS, part, whole=True)
    finally:
        aging.session.stop()
    return sum(part.files for part in upkeep.standing(SNAPSHOTS).parts)


def scan_day(clock: Clock, folder: str) -> int:
    """All rows with all columns that pages need, by the server's own engine."""
    from lakes import Lake
    from limnograph.adapters.embedded.engine import EmbeddedEngine
    from limnograph.ports.query_engine import MetaQuery
    from limnograph.services.lake.loading import HOT_COLUMNS

    engine, found = EmbeddedEngine(lambda: Lake(Path(folder)).catalog, ("meta",)), 0
    for _ in range(3):
        with clock():
            found = engine.select(MetaQuery(table="snapshots", columns=HOT_COLUMNS)).height
    return found


TASKS: dict[str, Callable[..., Any]] = {
    **{task.__name__: task for task in (append_at_age, make_day, scan_day)},
    **strategy_tasks.TASKS,
}
