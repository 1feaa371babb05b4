"""Pitfalls of docs/pitfalls.md, made on purpose: the finding must open, and the recommended statement must help."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from lakehouse.check.observer import awaited
from lakehouse.check.scenario import ScenarioLog
from lakehouse.check.world import ScenarioWorld
from lakehouse.drill.erasure import expire
from lakehouse.maintain.advice import metadata_figures, run_recommended
from lakehouse.parts.dag import HttpRunListener, LakeDag, LakeTask
from lakehouse.parts.lake import MERGE_ON_READ, Lake, TableLayout

COLUMNS = "id bigint, v string"
SMALL_FILES = TableLayout("lake.lab.small_files", COLUMNS, "", {})
NO_EXPIRY = TableLayout(
    "lake.lab.no_expiry",
    COLUMNS,
    "",
    {"history.expire.max-snapshot-age-ms": "5000", "history.expire.min-snapshots-to-keep": "1"},
)
MANIFESTS = TableLayout("lake.lab.many_manifests", COLUMNS, "", {})
DATABASE = TableLayout("lake.lab.single_rows", COLUMNS, "", MERGE_ON_READ)
BY_USER = TableLayout("lake.lab.by_user", "id bigint, user_id bigint", "user_id", {})
COMMITS, FILES_A_COMMIT, UPDATES, USERS = 30, 8, 12, 120
RUNS = 9
"""Runs before and after a repair: fewer than eight say nothing."""
WRITES_EVERY_S = 2.0


def append_often(lake: Lake, table: str, commits: int) -> None:
    """Commits of ten rows, as a stream with a short trigger leaves them. PyIceberg merges no manifests."""
    import pyarrow as pa

    loaded = lake.catalog.load_table(table.removeprefix("lake."))
    for n in range(commits):
        ids = range(n * 10, n * 10 + 10)
        loaded.append(pa.table({"id": pa.array(ids, pa.int64()), "v": pa.array([f"v{i}" for i in ids])}))


class GrowingTable:
    """A table of many small commits: the finding opens while the writer goes on, and a repair makes the figure fall."""

    layout: TableLayout
    code: str
    figure: str
    commits = COMMITS

    def __init__(self, world: ScenarioWorld) -> None:
        self._world = world

    def happen(self, log: ScenarioLog) -> None:
        """Commit often."""
        self._world.lake.create(self.layout)
        self.write(self.commits)
        log.figures["commits"] = self.commits

    def observe(self, log: ScenarioLog) -> None:
        """Finding, repair, and the same rows."""
        lake, table = self._world.lake, self.layout.name
        found = awaited(self._found_while_writing)
        log.claim(f"Limnograph reports {self.code}", found, self._world.observer.get("/findings", table=table))
        log.figures["finding"] = {"code": self.code, "severity": found["severity"]}
        before, rows = metadata_figures(lake, table), _digest(lake, table)
        self.repair(log)
        after = metadata_figures(lake, table)
        log.claim(f"the repair lowers {self.figure}", after[self.figure] < before[self.figure], (before, after))
        log.equal("no row is lost or changed", _digest(lake, table), rows)
        log.figures.update(before=before, after=after)

    def _found_while_writing(self) -> Any:
        """A level must be exceeded at two evaluations, so the writer goes on."""
        self.write(1)
        time.sleep(WRITES_EVERY_S)
        return self._world.observer.open_finding(self.code, self.layout.name)

    def write(self, commits: int) -> None:
        """What the table's writer does."""
        append_often(self._world.lake, self.layout.name, commits)

    def repair(self, log: ScenarioLog) -> None:
        """Do what must be done."""
        raise NotImplementedError


class RepairedByAdvice(GrowingTable):
    """Repaired by the statement that Limnograph recommends."""

    rule: str

    def repair(self, log: ScenarioLog) -> None:
        """Run the recommended statement for Spark."""
        recommended = self._world.observer.recommendation(self.layout.name, self.rule)
        log.claim(f"Limnograph recommends {self.rule}", recommended)
        run_recommended(self._world.lake, recommended)
        log.figures["statement"] = " ".join(recommended["statements"]["spark"].split())


def _digest(lake: Lake, table: str) -> tuple[int, Any]:
    row = lake.sql(f"select count(*), sum(cast(xxhash64(*) as decimal(38, 0))) from {table}")[0]
    return row[0], row[1]


class SmallFilesPitfall(RepairedByAdvice):
    """Pitfall 1, with the effect of the repair on a job that reads the table."""

    layout, code, rule, figure = SMALL_FILES, "small_files", "compact", "data_files"
    commits = 5

    def write(self, commits: int) -> None:
        """Each commit has a file of every task: the writer does not distribute its rows."""
        for _ in range(commits):
            rows = self._world.lake.spark.range(80).selectExpr("id", "concat('v', id) as v")
            rows.repartition(FILES_A_COMMIT).writeTo(self.layout.name).append()

    def happen(self, log: ScenarioLog) -> None:
        """Commit often, then read often."""
        super().happen(log)
        self._report()

    def observe(self, log: ScenarioLog) -> None:
        """After the repair the same job runs as often again: the ledger has the effect."""
        super().observe(log)
        self._report()
        table, snapshot = self.layout.name, self._world.lake.snapshot(self.layout.name)
        effect = awaited(lambda: _measured(self._world.observer.table(table, f"/commits/{snapshot}")))
        log.claim("the page of the rewrite has its effect on the job", effect)
        log.figures["effect"] = effect

    def _report(self) -> None:
        lake, table = self._world.lake, self.layout.name
        query = f"select count(*), sum(id) from {table}"
        dag = LakeDag("lakehouse.report", HttpRunListener(lake.places.server), lake.snapshot)
        for _ in range(RUNS):
            dag.run([LakeTask("report.small_files", lambda: lake.sql(query), reads=(table,))])


def _measured(page: Mapping[str, Any]) -> Any:
    """The effect on the reporting job, once enough runs have ended."""
    rows = (row for row in page.get("effects", ()) if row["job"] == "report.small_files")
    wanted = ("verdict", "because", "runs_before", "runs_after", "ratio", "ratio_low", "ratio_high")
    return next(({key: row[key] for key in wanted} for row in rows if row["runs_after"] >= RUNS), None)


class NoExpiryPitfall(GrowingTable):
    """Pitfall 2."""

    layout, code, figure = NO_EXPIRY, "snapshots_unbounded", "snapshots"

    def repair(self, log: ScenarioLog) -> None:
        """Expire. Limnograph recommends no expiry of snapshots that are younger than a day, whatever the table says."""
        observer, table = self._world.observer, self.layout.name
        advice = awaited(lambda: observer.table(table, "/maintenance").get("advice"))
        log.claim("Limnograph has advice for the table", advice)
        rules = [each["rule"] for each in advice["recommendations"]]
        log.claim("no expiry of snapshots of minutes is recommended", "expire" not in rules, rules)
        before = _metadata_bytes(self._world.lake, table)
        expire(self._world.lake, table)
        after = _metadata_bytes(self._world.lake, table)
        log.claim("the metadata file, which each commit writes, is smaller", after < before, (before, after))
        log.figures["metadata_bytes"] = [before, after]


def _metadata_bytes(lake: Lake, table: str) -> int:
    loaded = lake.catalog.load_table(table.removeprefix("lake."))
    return len(loaded.io.new_input(loaded.metadata_location))


class MetadataPitfall(RepairedByAdvice):
    """Pitfall 9."""

    layout, code, rule, figure = MANIFESTS, "manifests_fragmented", "manifests", "manifests"


class DatabasePitfall:
    """Pitfall 4: single rows updated one by one, in the lake and in PostgreSQL."""

    def __init__(self, world: ScenarioWorld) -> None:
        self._world = world

    def happen(self, log: ScenarioLog) -> None:
        """Run the same updates in both, and compare the time per update."""
        lake, table = self._world.lake, DATABASE.name
        lake.create(DATABASE)
        lake.sql(f"insert into {table} select id, 'new' from range(0, 100, 1, 1)")
        in_lake = _seconds(lambda n: lake.sql(f"update {table} set v = 'u{n}' where id = {n}"))
        with lake.shop.cursor() as cursor:
            cursor.execute("create table single_rows as select id, 'new'::text as v from generate_series(0, 99) as id")
            in_database = _seconds(
                lambda n: cursor.execute("update single_rows set v = %s where id = %s", (f"u{n}", n))
            )
        changed = lake.one(f"select count(*) from {table} where v <> 'new'")
        log.equal("every update is there", changed, UPDATES)
        log.claim("an update of the lake takes at least ten times as long", in_lake > 10 * in_database, in_lake)
        log.figures.update(ms_in_lake=round(in_lake * 1000), ms_in_postgres=round(in_database * 1000, 2))

    def observe(self, log: ScenarioLog) -> None:
        """Limnograph names the pattern."""
        found = self._world.observer.finding("tiny_commits", DATABASE.name)
        log.claim("Limnograph reports tiny_commits", found)
        log.figures["finding"] = {"code": "tiny_commits", "evidence": found["evidence"]}


def _seconds(update: Callable[[int], Any]) -> float:
    """Seconds for one update, mean."""
    start = time.monotonic()
    for n in range(UPDATES):
        update(n)
    return (time.monotonic() - start) / UPDATES


class PartitionPitfall:
    """Pitfall 3: a partition for each user."""

    def __init__(self, world: ScenarioWorld) -> None:
        self._world = world

    def happen(self, log: ScenarioLog) -> None:
        """Two commits, each a file for each user."""
        lake, table = self._world.lake, BY_USER.name
        lake.create(BY_USER)
        for _ in range(2):
            lake.sql(f"insert into {table} select id, id % {USERS} from range(0, {4 * USERS}, 1, 1)")
        files = lake.one(f"select count(*) from {table}.files")
        log.claim("there are at least two files for each user", files >= 2 * USERS, files)
        log.figures.update(partitions=USERS, files=files)

    def observe(self, log: ScenarioLog) -> None:
        """Limnograph names the layout."""
        found = self._world.observer.finding("high_cardinality_partitioning", BY_USER.name)
        log.claim("Limnograph reports high_cardinality_partitioning", found)
        log.figures["finding"] = {"code": "high_cardinality_partitioning", "evidence": found["evidence"]}
