"""The daily flow: every source counted, each change once, features of a snapshot, bad rows withheld."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from lakehouse.bronze import append
from lakehouse.bronze.tables import CDC, CLICKS, PARTNERS, RATES
from lakehouse.check.observer import awaited
from lakehouse.check.scenario import ScenarioLog
from lakehouse.check.world import ScenarioWorld
from lakehouse.features.training import features_at, label_instants, leaks
from lakehouse.gold.features import USER_FEATURES, append_features
from lakehouse.gold.revenue import REVENUE, revenue_query, write_revenue
from lakehouse.ingest import slot
from lakehouse.medallion import CLICKS_A_DAY, PARTNER_ROWS, START
from lakehouse.quality.gate import GateRefused
from lakehouse.silver.merge import layout, merge_changes

ORDERS = layout("orders").name


class DailyFlow:
    """FR1 and FR8: four sources, one of which refuses at first; a commit of silver has its run."""

    def __init__(self, world: ScenarioWorld) -> None:
        self._world = world
        self._snapshot: int | None = None

    def happen(self, log: ScenarioLog) -> None:
        """Two days, each one run of the DAG; the API refuses twice, then renames a column."""
        medallion, lake = self._world.medallion, self._world.lake
        medallion.open()
        medallion.api.refusals = 2
        medallion.next_day()
        first = medallion.run()
        log.equal("all tasks succeed", {name: each.state for name, each in first.items() if each.state != "done"}, {})
        # An event names a table by its folder, which Limnograph must know by then.
        log.claim("Limnograph lists every table that a task writes", awaited(self._is_listed), self._unlisted())
        medallion.api.renamed, medallion.api.days = True, medallion.api.days + 5
        medallion.next_day()
        second = medallion.run()
        log.equal("all tasks succeed again", {n: str(e.result) for n, e in second.items() if e.state != "done"}, {})
        self._snapshot = lake.snapshot(ORDERS)
        for table, expected in self._expected().items():
            log.equal(f"{table} has every row of its source", lake.one(f"select count(*) from {table}"), expected)
            log.figures[table] = expected
        log.equal("each day has its rate", lake.one(f"select count(*) from {RATES.name} where rate is null"), 0)
        log.equal("the slot holds nothing back", len(slot.peek(lake.shop).changes), 0)

    def _expected(self) -> dict[str, int]:
        medallion = self._world.medallion
        return {
            CLICKS.name: CLICKS_A_DAY * medallion.days,
            PARTNERS.name: 2 * PARTNER_ROWS * medallion.days,
            RATES.name: len(medallion.api.rows),
        }

    def observe(self, log: ScenarioLog) -> None:
        """The commit of the second day in silver names the job that wrote it."""
        observer = self._world.observer
        job = awaited(lambda: observer.table(ORDERS, f"/commits/{self._snapshot}").get("written_by_job"))
        log.equal("the page of a commit of silver names its job", job, "silver.orders")
        stored = f"select count(*) from lake.limnograph.snapshots where snapshot_id = {self._snapshot}"
        log.equal("the pipeline stores the commit once", awaited(lambda: self._world.lake.one(stored)), 1)

    def _is_listed(self) -> bool:
        return not self._unlisted()

    def _unlisted(self) -> set[str]:
        rows = self._world.observer.get("/tables", limit=200)["rows"]
        listed = {f"{row['catalog']}.{row['namespace']}.{row['table']}" for row in rows}
        return {table for task in self._world.medallion.tasks() for table in task.writes} - listed


class ExactlyOnce:
    """A job that dies between its append and the advance of the slot: what it reads again, it does not write again."""

    def __init__(self, world: ScenarioWorld) -> None:
        self._world = world

    def happen(self, log: ScenarioLog) -> None:
        """Crash, run again, merge twice."""
        lake, medallion = self._world.lake, self._world.medallion
        medallion.shop.trade(100, 60)
        before = lake.one(f"select count(*) from {CDC.name}")
        written = append.append_changes(lake, crash=True)
        held = len(slot.peek(lake.shop).changes)
        log.equal("after the crash the slot still holds what was written", held, written)
        log.equal("the next run writes none of it", append.append_changes(lake), 0)
        rows = lake.one(f"select count(*) from {CDC.name}")
        log.equal("every change is there", rows, before + written)
        distinct = lake.one(f"select count(distinct lsn) from {CDC.name}")
        log.equal("and there once", distinct, rows)
        merge_changes(lake, "orders")
        log.equal("a second merge reads nothing", merge_changes(lake, "orders"), 0)
        with lake.shop.cursor() as cursor:
            cursor.execute("select id, customer_id, total_cents, status from orders order by id")
            source = [tuple(row) for row in cursor.fetchall()]
        silver = [tuple(r) for r in lake.sql(f"select id, customer_id, total_cents, status from {ORDERS} order by id")]
        log.equal("silver equals the shop row by row, deleted rows included", silver, source)
        log.figures.update(changes=rows, written_before_crash=written, orders=len(silver))

    def observe(self, log: ScenarioLog) -> None:
        """Limnograph counts what the engine counts."""
        lake, observer = self._world.lake, self._world.observer
        snapshot, rows = lake.snapshot(CDC.name), lake.one(f"select count(*) from {CDC.name}")
        page = observer.commit(CDC.name, snapshot)
        log.claim("the newest commit has a page", page, snapshot)
        after = {each["metric"]: each["after"] for each in page["diff"]}
        log.equal("which has the rows that Spark counts", after["records"], rows)


class QualityGate:
    """A batch with negative revenue does not reach main."""

    def __init__(self, world: ScenarioWorld) -> None:
        self._world = world
        self._snapshot: int | None = None
        self._refused: int | None = None

    def happen(self, log: ScenarioLog) -> None:
        """The gate refuses, then lets a good batch pass."""
        lake = self._world.lake
        before = lake.snapshot(REVENUE.name)
        rows = lake.one(f"select count(*) from {REVENUE.name}")
        bad = f"{revenue_query()} union all select date '2026-05-09', null, 9L, -5L"
        try:
            write_revenue(lake, bad)
        except GateRefused as refused:
            log.equal("the gate counts the bad rows", sorted(refused.failed.values()), [1, 1])
            log.figures["refused_by"] = refused.failed
            self._refused = refused.snapshot_id
        else:
            log.claim("the gate refuses negative revenue", holds=False)
        log.equal("main is at the snapshot it was at", lake.snapshot(REVENUE.name), before)
        log.equal("main has the rows it had", lake.one(f"select count(*) from {REVENUE.name}"), rows)
        write_revenue(lake)
        self._snapshot = lake.snapshot(REVENUE.name)
        log.claim("a good batch moves main", self._snapshot != before, self._snapshot)

    def observe(self, log: ScenarioLog) -> None:
        """The refused snapshot was on the branch only, and the branch is gone."""
        page = awaited(self._published)
        log.claim("the page of branches and tags has the published snapshot", page, self._snapshot)
        log.equal("main is the only branch", [ref["name"] for ref in page["refs"]], ["main"])
        moves = [(move["kind"], move["from_snapshot_id"]) for move in page["moves"] if move["name"] == "audit"]
        log.claim("it says where the refused branch was removed", ("removed", str(self._refused)) in moves, moves)

    def _published(self) -> Any:
        page = self._world.observer.table(REVENUE.name, "/refs")
        heads = [ref["snapshot_id"] for ref in page.get("refs", ())]
        return page if str(self._snapshot) in heads else None


class PointInTime:
    """A training set has only what was known before each label, and stays the same after later commits."""

    def __init__(self, world: ScenarioWorld) -> None:
        self._world = world
        self._snapshot: int | None = None

    def happen(self, log: ScenarioLog) -> None:
        """Join labels of a past day, commit more features, join again."""
        lake, medallion = self._world.lake, self._world.medallion
        snapshot = lake.snapshot(USER_FEATURES.name)
        log.claim("features were computed", snapshot)
        features = features_at(lake, snapshot or 0)
        instants = [START + timedelta(days=n, hours=12) for n in (1, 2)]
        labels = label_instants(features["user_hash"].unique().sort().to_list(), instants)
        found = leaks(labels, features)
        log.equal("no row of the future leaks", found.leaked, 0)
        log.claim("the newest features would have misled", found.misled > 0, found)
        medallion.next_day()
        append.append_clicks(lake, medallion.log)
        append_features(lake, START + timedelta(days=medallion.days))
        log.claim("the snapshot is another", lake.snapshot(USER_FEATURES.name) != snapshot)
        log.equal("the same snapshot gives the same answer", leaks(labels, features_at(lake, snapshot or 0)), found)
        log.figures.update(found._asdict())
        self._snapshot = snapshot

    def observe(self, log: ScenarioLog) -> None:
        """The snapshot of the training set is a commit with a page."""
        page = awaited(lambda: self._world.observer.table(USER_FEATURES.name, f"/commits/{self._snapshot}"))
        log.claim("the snapshot that the training set used has a page", page)
