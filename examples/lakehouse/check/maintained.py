"""Pitfalls 1, 2 and 9, found by Limnograph and repaired by its maintainer under the policy of a file of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from lakehouse.check.observer import awaited
from lakehouse.check.scenario import ScenarioLog
from lakehouse.check.trino_report import JOB as TRINO_JOB
from lakehouse.check.trino_report import TimedQuery, TrinoReport, figures_of
from lakehouse.check.world import ScenarioWorld
from lakehouse.ingest.writers import append_rows, numbered
from lakehouse.maintain.history import create_old
from lakehouse.maintain.maintainer import maintain_once
from lakehouse.parts.dag import HttpRunListener, LakeDag, LakeTask
from lakehouse.parts.lake import Lake, TableLayout

COLUMNS = "id bigint, v string"
COMMITS, FILES_A_COMMIT = 30, 40
RUNS, WARM_UP = 20, 15
"""Runs before and after a repair, of which 16 are measured; fewer have no 95th percentile. Queries before them are no
runs: the first ones take as long as compiling does.
"""
JOB = "report.small_files"
DONE = frozenset({"verified", "measured"})
SHOWN_S = 30.0
"""Longest wait for a page with a state that is stored already."""


def append_many_files(lake: Lake, table: str) -> None:
    """Five commits, each with a file of every task: the writer does not distribute its rows."""
    for _ in range(5):
        rows = lake.spark.range(10 * FILES_A_COMMIT).selectExpr("id", "concat('v', id) as v")
        rows.repartition(FILES_A_COMMIT).writeTo(table).append()


def reload_often(lake: Lake, table: str) -> None:
    """A small table that a job replaces each time: a delete and an append, of which only the newest rows are live."""
    loaded = lake.catalog.load_table(table.removeprefix("lake."))
    loaded.append(numbered(0))
    for n in range(1, COMMITS // 2):
        loaded.overwrite(numbered(n))


class MaintainedTable(NamedTuple):
    """A table whose past has a pitfall. `code`: what Limnograph finds; `rule`, `action`: what its maintainer does about
    it; `figure`: what falls. `oldest_h`, `newest_h`: hours since its first and last commit. `properties`: of the table.
    """

    name: str
    write: Callable[[Lake, str], None]
    code: str
    rule: str
    action: str
    figure: str
    oldest_h: float = 4.0
    newest_h: float = 2.0
    properties: Mapping[str, str] = {}

    @property
    def layout(self) -> TableLayout:
        return TableLayout(self.name, COLUMNS, "", self.properties)


SMALL_FILES = MaintainedTable(
    "lake.lab.old_files", append_many_files, "small_files", "compact", "rewrite_data_files", "data_files"
)
SNAPSHOTS = MaintainedTable(
    "lake.lab.old_snapshots",
    reload_often,
    "snapshots_unbounded",
    "expire",
    "expire_snapshots",
    "snapshots",
    oldest_h=40.0,
    newest_h=25.0,
    properties={"history.expire.max-snapshot-age-ms": "43200000"},
)
MANIFESTS = MaintainedTable(
    "lake.lab.old_manifests",
    partial(append_rows, commits=COMMITS),
    "manifests_fragmented",
    "manifests",
    "rewrite_manifests",
    "manifests",
)
TABLES = (SMALL_FILES, SNAPSHOTS, MANIFESTS)


class MaintainerUnderPolicy:
    """The finding, the plan that the policy let run, the finding closed, and the ledger's row of its commit. `runs`: of
    the job before and after a repair; 0: its effect on the job is not measured.
    """

    def __init__(self, world: ScenarioWorld, runs: int = RUNS) -> None:
        self._world, self._runs = world, runs
        self._trino = TrinoReport(world.lake, SMALL_FILES.name)

    def happen(self, log: ScenarioLog) -> None:
        """Three tables with a past."""
        lake = self._world.lake
        for table in TABLES:
            create_old(lake, table.layout, partial(table.write, lake), table.oldest_h, table.newest_h)
            log.figures[table.name] = {"before": metadata_figures(lake, table.name)}
        known = awaited(lambda: self._world.observer.table(SMALL_FILES.name))
        log.claim("Limnograph has seen the table whose readers report their runs", known)

    def observe(self, log: ScenarioLog) -> None:
        """One round of the maintainer repairs all three."""
        lake, observer = self._world.lake, self._world.observer
        for table in TABLES:
            found = observer.finding(table.code, table.name)
            log.claim(f"Limnograph reports {table.code}", found, observer.get("/findings", table=table.name))
        log.claim("the meta tables have every table, so that the guards know its neighbours", awaited(self._is_known))
        rows = {table.name: digest(lake, table.name) for table in TABLES}
        # Next to the repair: what lies between could have changed the jobs as well.
        before = self._reports()
        report = maintain_once(lake.places)
        after = self._reports()
        log.equal("no table is unreadable for the maintainer", report["troubles"], [])
        log.figures["round_s"] = round(report["seconds"], 1)
        for table in TABLES:
            self._repaired(log, table, rows[table.name], report)
        if self._runs:
            self._compared(log, before, after)
            for name, job in (("effect", JOB), ("effect_trino", TRINO_JOB)):
                effect = awaited(partial(self._measured, job))
                log.claim(f"the ledger has the effect on {job}, which reads the table", effect)
                log.figures[name] = effect

    def _compared(self, log: ScenarioLog, before: Sequence[TimedQuery], after: Sequence[TimedQuery]) -> None:
        """Trino's queries. What they take depends on the machine; what they open does not."""
        log.figures["trino"] = {"before": figures_of(before), "after": figures_of(after)}
        splits = before[-1].splits, after[-1].splits
        log.claim("a query of Trino has fewer splits than before", splits[1] < splits[0] / 2, splits)
        asked = 2 * (WARM_UP + self._runs)
        queries = awaited(lambda: self._queries() >= asked)
        log.claim("the page Reads counts the queries of Trino", queries, (self._queries(), asked))

    def _queries(self) -> int:
        page = self._world.observer.table(SMALL_FILES.name, "/reads")
        return sum(each["queries"] for each in page.get("points", ()))

    def _repaired(self, log: ScenarioLog, table: MaintainedTable, rows: Any, report: dict[str, Any]) -> None:
        lake, figures = self._world.lake, log.figures[table.name]
        said = [each for each in (*report["plans"], *report["unplanned"]) if each["table"] == table.name]
        plan = awaited(partial(self._plan, table), SHOWN_S)
        log.claim(f"the plan {table.rule} of {table.name} is verified", plan, said)
        figures["after"] = metadata_figures(lake, table.name)
        before, after = (figures[half][table.figure] for half in ("before", "after"))
        log.claim(f"it lowers {table.figure}", after < before / 2, (before, after))
        log.equal("no row is lost or changed", digest(lake, table.name), rows)
        if table is SNAPSHOTS:
            # An expiry moves no branch, so that its finding is judged at the next commit.
            self._run(LakeTask("lab.reload", lambda: append_rows(lake, table.name, 1), writes=(table.name,)))
        closed = awaited(partial(self._closed, table))
        log.claim(f"{table.code} is closed", closed, self._world.observer.open_finding(table.code, table.name))
        row = awaited(partial(self._ledger_row, table, plan["plan_id"]))
        log.claim("the ledger has the operation, with its plan", row)
        confirmed = row["plan"]["confirmed"] or {}
        figures["ledger"] = {"verdict": row["verdict"], "because": row["because"]}
        figures["confirmed"] = {key: confirmed.get(key) for key in ("files_in", "files_out", "bytes_freed", "seconds")}

    def _is_known(self) -> bool:
        """Whether the pipeline has stored a commit of each table that a catalog lists."""
        lake = self._world.lake
        stored = lake.sql("select distinct table_uuid from lake.limnograph.snapshots")
        names = [f"{row[0]}.{row[1]}" for row in lake.sql("show tables in lake.lab")]
        uuids = {str(lake.catalog.load_table(name).metadata.table_uuid) for name in names}
        return uuids <= {row[0] for row in stored}

    def _plan(self, table: MaintainedTable) -> Any:
        plans = self._world.observer.table(table.name, "/maintenance").get("plans", ())
        return next((each for each in plans if each["rule"] == table.rule and each["state"] in DONE), None)

    def _closed(self, table: MaintainedTable) -> Any:
        observer = self._world.observer
        rows = observer.get("/findings", table=table.name, code=table.code, state="closed")["rows"]
        return rows if rows and observer.open_finding(table.code, table.name) is None else None

    def _ledger_row(self, table: MaintainedTable, plan_id: str) -> Any:
        rows = self._world.observer.get("/effects", table=table.name, action=table.action)["rows"]
        return next((row for row in rows if row["plan"] and row["plan"]["plan_id"] == plan_id), None)

    def _measured(self, job: str) -> Any:
        """The effect on a reporting job, once enough runs have ended."""
        rows = self._world.observer.get("/effects", table=SMALL_FILES.name, job=job, measure="duration")["rows"]
        wanted = ("verdict", "because", "runs_before", "runs_after", "ratio", "ratio_low", "ratio_high")
        done = (row for row in rows if row["verdict"] != "no_data_yet")
        return next(({key: row[key] for key in wanted} for row in done), None)

    def _reports(self) -> list[TimedQuery]:
        """Runs of both reports in turn, by Spark and by Trino."""
        lake, query = self._world.lake, f"select count(*), sum(id) from {SMALL_FILES.name}"
        for _ in range(WARM_UP if self._runs else 0):
            lake.sql(query)
            self._trino.query()
        asked = []
        for _ in range(self._runs):
            self._run(LakeTask(JOB, lambda: lake.sql(query), reads=(SMALL_FILES.name,)))
            asked.append(self._trino.run())
        return asked

    def _run(self, task: LakeTask) -> None:
        lake = self._world.lake
        LakeDag("lakehouse.report", HttpRunListener(lake.places.server), lake.snapshot).run([task])


def digest(lake: Lake, table: str) -> tuple[int, Any]:
    """Count and a sum over all values, which changes with any row."""
    row = lake.sql(f"select count(*), sum(cast(xxhash64(*) as decimal(38, 0))) from {table}")[0]
    return row[0], row[1]


def metadata_figures(lake: Lake, table: str) -> dict[str, int]:
    """Files, snapshots and manifests as Spark counts them, and the size of the metadata file, which each commit writes
    again.
    """
    counts = {
        name: lake.one(f"select count(*) from {table}.{name}") for name in ("data_files", "snapshots", "manifests")
    }
    loaded = lake.catalog.load_table(table.removeprefix("lake."))
    return {**counts, "metadata_bytes": len(loaded.io.new_input(loaded.metadata_location))}
