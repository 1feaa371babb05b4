"""Versions of a table: branch, tag, rollback and write-audit-publish, and a schema and partitions that change."""

from __future__ import annotations

import time

from lakehouse.check.observer import awaited
from lakehouse.check.scenario import ScenarioLog
from lakehouse.check.world import ScenarioWorld
from lakehouse.parts.lake import TableLayout

VERSIONED = TableLayout("lake.lab.versioned", "id bigint, v string", "", {})
EVOLVING = TableLayout("lake.lab.evolving", "id int, ts timestamp, device string, v int", "days(ts)", {})
CHANGES = (
    "add column site string after id",
    "rename column v to reading",
    "alter column reading type bigint",
    "drop column device",
    "add partition field bucket(4, id)",
    "replace partition field ts_day with hours(ts)",
)


class BranchesAndTags:
    """FR6: time travel, a tag, a rollback, a branch that main does not see until it is published."""

    def __init__(self, world: ScenarioWorld) -> None:
        self._world = world

    def happen(self, log: ScenarioLog) -> None:
        """Each statement once, with what it must give."""
        lake, table = self._world.lake, VERSIONED.name
        name = table.removeprefix("lake.")
        lake.create(VERSIONED)
        lake.sql(f"insert into {table} values (1, 'a')")
        first = lake.snapshot(table)
        time.sleep(0.05)
        between = lake.one("select current_timestamp()")
        time.sleep(0.05)
        lake.sql(f"insert into {table} values (2, 'bad')")
        lake.sql(f"alter table {table} create tag v1 as of version {first} retain 7 days")
        log.equal("time travel sees one row", lake.one(f"select count(*) from {table} timestamp as of '{between}'"), 1)
        log.equal("the tag sees one row", lake.one(f"select count(*) from {table} version as of 'v1'"), 1)
        lake.sql(f"call lake.system.rollback_to_snapshot('{name}', {first})")
        log.equal("after the rollback main has one row", lake.one(f"select count(*) from {table}"), 1)
        lake.sql(f"alter table {table} create branch audit")
        lake.sql(f"insert into {table}.branch_audit values (3, 'staged')")
        log.equal("main does not see the branch", lake.one(f"select count(*) from {table}"), 1)
        log.equal("the branch sees both", lake.one(f"select count(*) from {table} version as of 'audit'"), 2)
        lake.sql(f"call lake.system.fast_forward('{name}', 'main', 'audit')")
        log.equal("published, main sees both", lake.one(f"select count(*) from {table}"), 2)
        log.figures["refs"] = sorted(row[0] for row in lake.sql(f"select name from {table}.refs"))

    def observe(self, log: ScenarioLog) -> None:
        """Branch and tag by name, and the commit that the rollback left behind."""
        observer, table = self._world.observer, VERSIONED.name

        def shows() -> object:
            page = str(observer.table(table, "/refs"))
            return page if "'v1'" in page and "'audit'" in page else None

        log.claim("the page of branches and tags has both", awaited(shows), observer.table(table, "/refs"))
        commits = awaited(lambda: _rows(observer.table(table, "/commits"), 3))
        log.claim("all commits are listed, the one that was rolled back too", commits, commits)


def _rows(page: dict[str, list[object]], least: int) -> list[object] | None:
    rows = page.get("rows") or []
    return rows if len(rows) >= least else None


class SchemaEvolution:
    """FR7: columns and partitions change, and no file is written again."""

    def __init__(self, world: ScenarioWorld) -> None:
        self._world = world

    def happen(self, log: ScenarioLog) -> None:
        """Six changes; the list of data files stays, all rows are read by the new names."""
        lake, table = self._world.lake, EVOLVING.name
        lake.create(EVOLVING)
        rows = "cast(id as int), timestamp '2026-05-01 10:00:00' + make_interval(0, 0, 0, cast(id % 3 as int))"
        lake.sql(f"insert into {table} select {rows}, 'd', cast(id as int) from range(30)")
        files = {row[0] for row in lake.sql(f"select file_path from {table}.files")}
        for change in CHANGES:
            lake.sql(f"alter table {table} {change}")
        after = {row[0] for row in lake.sql(f"select file_path from {table}.files")}
        log.equal("no file is written again", len(after ^ files), 0)
        lake.sql(f"insert into {table} select cast(id as int), 's', timestamp '2026-05-09 10:00:00', 7L from range(4)")
        log.equal("old and new rows are read", lake.one(f"select count(*) from {table} where reading >= 0"), 34)
        loaded = lake.catalog.load_table(table.removeprefix("lake."))
        log.figures.update(schemas=len(loaded.schemas()), specs=len(loaded.specs()), files_rewritten=len(after ^ files))

    def observe(self, log: ScenarioLog) -> None:
        """Two findings: a change that can break readers, and the new partition spec."""
        for code in ("schema_breaking", "spec_changed"):
            found = self._world.observer.finding(code, EVOLVING.name)
            log.claim(f"Limnograph reports {code}", found)
            log.figures[code] = found["severity"]
