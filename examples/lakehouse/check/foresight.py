"""A table that nothing compacts will have too many small files within days; its look-alike, which is compacted every
other day, will not, and neither will one that grew as the first and has just been compacted.

They have nine days of history. A forecast knows what came before the full hour, so a compaction in the check itself
would be part of none.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from lakehouse.check.observer import awaited
from lakehouse.check.scenario import ScenarioLog
from lakehouse.check.world import ScenarioWorld
from lakehouse.maintain.history import create_old
from lakehouse.parts import programs
from lakehouse.parts.lake import Lake, TableLayout
from lakehouse.parts.settings import RISKY_SMALL_FILES

COLUMNS = "id bigint, v string"
GROWING = TableLayout("lake.lab.grows", COLUMNS, "", {})
COMPACTED = TableLayout("lake.lab.compacted", COLUMNS, "", {})
RELIEVED = TableLayout("lake.lab.relieved", COLUMNS, "", {})
TABLES = (GROWING, COMPACTED, RELIEVED)
OLDEST_H, NEWEST_H = 24.0 * 9, 1.1
COMMITS = 27
SLOWLY, QUICKLY = 2, 8
"""Files of a commit."""
SOME = 5
"""Commits between two rewrites of the look-alike, which then has most of the threshold's files."""
METRIC = "small_files"
LONGEST_S = 240.0


def grow(lake: Lake, table: str, *, files: int, commits: int = COMMITS + 1) -> None:
    """Commits of some files, with a rewrite of all files into one after every `commits` of them."""
    name = table.removeprefix("lake.")
    for commit in range(1, COMMITS + 1):
        rows = lake.spark.range(16).selectExpr("id", "concat('v', id) as v")
        rows.repartition(files).writeTo(table).append()
        if commit % commits == 0:
            lake.sql(f"call lake.system.rewrite_data_files(table => '{name}', options => map('rewrite-all', 'true'))")


class TableAtRisk:
    """One table is at risk and its look-alike is not; a compaction takes the risk away, and the ledger has it."""

    def __init__(self, world: ScenarioWorld) -> None:
        self._world = world

    def happen(self, log: ScenarioLog) -> None:
        """Three histories."""
        lake = self._world.lake
        for table, files, commits in (
            (GROWING, SLOWLY, COMMITS + 1),
            (COMPACTED, QUICKLY, SOME),
            (RELIEVED, SLOWLY, COMMITS),
        ):
            create_old(lake, table, partial(grow, lake, files=files, commits=commits), OLDEST_H, NEWEST_H)
        found = [lake.one(f"select count(*) from {table.name}.data_files") for table in TABLES]
        log.claim("each has fewer files than the threshold", max(found) < RISKY_SMALL_FILES, found)
        log.figures["files"] = dict(zip((table.name for table in TABLES), found, strict=True))

    def observe(self, log: ScenarioLog) -> None:
        """The forecasts, what they led to, and those of earlier days against what came."""
        observer = self._world.observer
        for table in TABLES:
            log.claim(f"the meta tables have {table.name}", awaited(partial(self._is_stored, table)))
        growing, compacted, relieved = self._forecast(log)
        log.equal("the table that only grows is at risk", growing["state"], "at_risk")
        log.equal("its look-alike is not", compacted["state"], "not_at_risk")
        odds = [each["p_cross"] for each in (relieved, growing)]
        log.claim("after a compaction it is at risk no longer", relieved["state"] != "at_risk", relieved)
        log.claim("because its odds have fallen", odds[0] < odds[1] / 2, odds)
        log.claim("as the forecast said", growing["p_cross_if_maintained"] < odds[1] / 2, growing)
        log.claim("the finding at_risk is open", observer.finding("at_risk", GROWING.name))
        for table in (COMPACTED, RELIEVED):
            log.equal(f"and not for {table.name}", observer.open_finding("at_risk", table.name), None)
        operation = awaited(self._operation)
        log.claim("the ledger has the compaction", operation)
        log.figures["ledger"] = {key: operation[key] for key in ("verdict", "because")}
        shown = ("state", "abstained", "level", "growth_per_day", "p50", "p_cross", "p_cross_if_maintained")
        log.figures["small_files"] = {
            name: {key: row[key] for key in shown}
            for name, row in (("grows", growing), ("compacted", compacted), ("relieved", relieved))
        }
        self._look_back(log)

    def _look_back(self, log: ScenarioLog) -> None:
        """Forecasts of earlier days, made again with what was known then."""
        program = programs.limnograph("forecast", self._world.lake.places, "--backtest", "--json")
        report = programs.report_of(program, self._world.lake.places, LONGEST_S)
        log.figures["backtest"] = report
        day = next((each for each in report["horizons"] if each["hours"] == 24), None)
        log.claim("forecasts a day ahead are compared with what came", day and day["forecasts"] > 0, report)

    def _forecast(self, log: ScenarioLog) -> list[Any]:
        """The rows of the three tables after a pass of forecasts."""
        program = programs.limnograph("forecast", self._world.lake.places, "--once")
        report = programs.report_of(program, self._world.lake.places, LONGEST_S)
        log.equal("every table could be forecast", report["failed"], 0)
        rows = [awaited(partial(self._row, table)) for table in TABLES]
        log.claim("the pages have their forecasts", all(rows), rows)
        return rows

    def _row(self, table: TableLayout) -> Any:
        rows = self._world.observer.table(table.name, "/forecast").get("rows", ())
        return next((row for row in rows if row["metric"] == METRIC), None)

    def _is_stored(self, table: TableLayout) -> bool:
        """Whether the pipeline has stored all commits of the table."""
        lake = self._world.lake
        uuid = lake.catalog.load_table(table.name.removeprefix("lake.")).metadata.table_uuid
        stored = lake.one(f"select count(*) from lake.limnograph.snapshots where table_uuid = '{uuid}'")
        return bool(stored == lake.one(f"select count(*) from {table.name}.snapshots"))

    def _operation(self) -> Any:
        rows = self._world.observer.get("/effects", table=RELIEVED.name, action="rewrite_data_files")["rows"]
        return rows[0] if rows else None
