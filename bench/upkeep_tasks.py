"""Tasks of `housekeeping.py`: the meta tables of a pipeline that commits every minute, kept in order or left alone.

Commits of age are made through PyIceberg with real files, by a clock that runs ahead a minute a commit; what is
measured (appends by Spark, scans by the server's engine, housekeeping itself) is the product's own code.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

MINUTE = 60_000_000
HOUR_COMMITS = 60
PENDING = 40
"""Commits since the last housekeeping when an append is measured: the same at every age."""
FACTS = 500
APPENDS = 7
FILES_A_COMMIT = 48
"""Files of the day that nobody compacts enter by few commits: a scan costs by files."""
Clock = Callable[[], contextlib.AbstractContextManager[None]]


class Aging:
    """Meta tables in a folder, and a clock that runs ahead with their commits."""

    def __init__(self, folder: Path) -> None:
        from lakes import Lake
        from limnograph.domain.facts import SNAPSHOTS
        from limnograph.wiring import pipeline
        from limnograph.wiring.housekeeping import housekeeping

        folder.mkdir(parents=True, exist_ok=True)
        self.lake = Lake(folder)
        settings = self.lake.settings(meta={"namespace": "meta"}, spark={"master": "local[2]"})
        self.session = pipeline.spark_session(settings)
        self.store = pipeline.meta_store(settings, self.session)
        self.store.ensure()
        self.micros = (time.time_ns() // 1000 // (1440 * MINUTE) + 1) * 1440 * MINUTE  # ahead of real commit times
        self.house = housekeeping(settings, self.session, clock=self)
        self.commits, self.table = 0, SNAPSHOTS

    def now(self) -> int:
        return self.micros

    def age(self, commits: int, *, files: int = 1) -> None:
        """Commits more, each of some files with five rows; housekeeping after every hour."""
        from limnograph.jobs.housekeeping import keep_house

        for _ in range(commits):
            self._commit(files)
            if self.commits % HOUR_COMMITS == 0:
                keep_house(self.house, lambda _line: None)

    def facts(self, count: int) -> pa.Table:
        from limnograph.adapters.iceberg.schema import arrow_table
        from limnograph.domain.facts import SnapshotFact

        return arrow_table(
            self.table,
            [
                SnapshotFact(
                    table_uuid=f"u{number % 100:03d}",
                    snapshot_id=self.commits * 10_000 + number,
                    committed_at=self.micros,
                    operation="append",
                    total_data_files=number,
                    added_data_files=1,
                    observed_at=self.micros,
                    status="ok",
                )
                for number in range(count)
            ],
        )

    def _commit(self, files: int) -> None:
        from golden_tables import data_file

        table = self.lake.load("meta.snapshots")
        with table.transaction() as transaction, transaction.update_snapshot().fast_append() as update:
            for _ in range(files):
                self.commits += 1
                self.micros += MINUTE
                location = f"{table.location()}/data/aged-{self.commits:06d}.parquet"
                update.append_data_file(data_file(table, self.table, self.facts(5), location))

    def append(self, clock: Clock) -> None:
        """As a pass does it."""
        for _ in range(APPENDS + 1):
            self.commits += 1
            rows, head = self.facts(FACTS), self.store.head(self.table)
            with clock() if _ else contextlib.nullcontext():  # the first one warms Spark up
                self.store.append(self.table, rows, head, "bench")


def append_at_age(clock: Clock, folder: str, commits: str) -> int:
    """Appends of 500 facts at an age of the meta table."""
    aging = Aging(Path(folder))
    try:
        aging.age(int(commits) // HOUR_COMMITS * HOUR_COMMITS)
        aging.age(PENDING)
        aging.append(clock)
    finally:
        aging.session.stop()
    return FACTS


def make_day(clock: Clock, folder: str, commits: str, compacted: str) -> int:
    """A day of the meta table, compacted or as it came."""
    from limnograph.adapters.spark.housekeeping import SparkUpkeep

    aging = Aging(Path(folder))
    upkeep = SparkUpkeep(aging.session, lambda: aging.lake.catalog, "meta")
    try:
        for _ in range(int(commits) // FILES_A_COMMIT):
            aging._commit(FILES_A_COMMIT)  # noqa: SLF001 - without the hourly housekeeping of `age`
        with clock():
            if compacted == "yes":
                for part in upkeep.standing(aging.table).parts:
                    upkeep.compact(aging.table, part, whole=True)
    finally:
        aging.session.stop()
    return sum(part.files for part in upkeep.standing(aging.table).parts)


def scan_day(clock: Clock, folder: str) -> int:
    """All rows with all columns that pages need, by the server's own engine."""
    from lakes import Lake
    from limnograph.adapters.embedded.engine import EmbeddedEngine
    from limnograph.ports.query_engine import MetaQuery
    from limnograph.services.loading import HOT_COLUMNS

    engine, found = EmbeddedEngine(lambda: Lake(Path(folder)).catalog, ("meta",)), 0
    for _ in range(3):
        with clock():
            found = engine.select(MetaQuery(table="snapshots", columns=HOT_COLUMNS)).height
    return found


TASKS: dict[str, Callable[..., Any]] = {task.__name__: task for task in (append_at_age, make_day, scan_day)}
