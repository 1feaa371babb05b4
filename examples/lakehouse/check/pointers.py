"""A stale pointer: a session that keeps tables in memory answers from a snapshot that main left long ago."""

from __future__ import annotations

from lakehouse.check.observer import awaited
from lakehouse.check.scenario import ScenarioLog
from lakehouse.check.world import ScenarioWorld
from lakehouse.ingest.writers import append_rows
from lakehouse.parts import spark
from lakehouse.parts.lake import TableLayout

POINTER = TableLayout("lake.lab.pointer", "id bigint, v string", "", {})
CACHED = "cached"
COMMITS, READS = 12, 3


class StalePointer:
    """The same table by two catalogs of one Spark session, of which one keeps what it loaded."""

    def __init__(self, world: ScenarioWorld) -> None:
        self._world = world

    def happen(self, log: ScenarioLog) -> None:
        """Another engine commits; the cached table does not change, and no error says so."""
        lake, table = self._world.lake, POINTER.name
        cached = f"{CACHED}.{table.removeprefix('lake.')}"
        for key, value in spark.catalog(CACHED, lake.places.catalog, lake.places.store, keeps_tables=True).items():
            lake.spark.conf.set(key, value)
        lake.create(POINTER)
        append_rows(lake, table, 1)
        question = "select count(*), max(id) from {table}"
        first = lake.sql(question.format(table=cached))
        append_rows(lake, table, COMMITS)
        answers = [lake.sql(question.format(table=cached)) for _ in range(READS)]
        log.equal("the cached table answers as before the commits", answers, [first] * READS)
        current = lake.sql(question.format(table=table))
        log.claim("the table has more rows", current > first, current)
        lake.sql(f"refresh table {cached}")
        log.equal("after a refresh both say the same", lake.sql(question.format(table=cached)), current)
        log.figures.update(commits_behind=COMMITS, rows_missing=current[0][0] - first[0][0])

    def observe(self, log: ScenarioLog) -> None:
        """Limnograph names the reader, by the snapshots that Spark's own scan reports name."""
        found = self._world.observer.finding("stale_reader", POINTER.name)
        log.claim("Limnograph reports stale_reader", found)
        log.figures["finding"] = {"code": "stale_reader", "evidence": found["evidence"]}
        rows = awaited(lambda: self._world.observer.table(POINTER.name, "/reads").get("stale"))
        log.claim("the page Reads shows how far behind it was", rows)
        log.figures["stale"] = rows[0]
