"""A lake in which `pipeline --once` has work for any of its steps, made due again before each run of a chain of deaths.

Time does not pass in a test: what waits for hours or days is made older in the meta tables' own metadata.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import msgspec
import pyarrow as pa
from pyiceberg.table import Table

from exactness import Exactness
from golden_tables import data_file
from lakes import Lake, path_of, placeholders, rewrite_metadata, rows
from limnograph.adapters.inbox.store import SqlInbox
from limnograph.adapters.meta.schema import arrow_schema, arrow_table
from limnograph.adapters.system_clock import SystemClock
from limnograph.domain.facts.column_stats import ColumnStat, ColumnStatsFact
from limnograph.domain.facts.events import AlertFact, LabelFact, ReportFact, RunFact
from limnograph.domain.facts.meta_tables import (
    ALERTS,
    COLUMN_STATS,
    FORECASTS,
    HOURLY,
    LABELS,
    MAINTENANCE,
    READS_HOURLY,
    REPORTS,
    MetaTable,
)
from limnograph.domain.failpoints import FAILPOINT_ENV, Failpoints
from limnograph.jobs.pipeline import Total, passes_and_house
from limnograph.ports.inbox import InboxItem, item_key
from limnograph.services.housekeeping.steps import CLEARED
from limnograph.services.rollups.fold import DAY, HOUR
from limnograph.settings import load
from quick_jvm import QUICK, quick_options
from standing_jvm import StandingJvm

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RAW_DAYS, HOURLY_DAYS = 3, 40
CHEAP = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
"""To compile code for the many columns of a few rows takes a driver that soon dies longer than the rows."""
MANIFESTS = 101
"""Of a table whose manifests are worth a rewrite."""
OLD_COMMITS = 6
"""As many as a chain makes the lake forget, and two."""


class CrashLake:
    """Tables `sales.orders`, `sales.old` (commits of successive days, long ago) and those that `work_for` adds.

    `lake`: one that a Spark session reaches already; `mark`: keeps the namespaces of several apart; `jvm`: one for all
    drivers, which else have a JVM each; `python`: the interpreter of drivers on it and of their workers.
    """

    def __init__(
        self,
        folder: Path,
        lake: Lake | None = None,
        mark: str = "",
        old_commits: int = OLD_COMMITS,
        jvm: StandingJvm | None = None,
        python: Path | None = None,
    ) -> None:
        self.folder, self.lake, self.jvm = folder, lake or Lake(folder), jvm
        self.python = str(python or sys.executable)
        self.sales, self.meta = f"sales{mark}", f"limnograph{mark}"
        self.config = folder / "limnograph.toml"
        self.names, self.runs = [self.named("orders"), self.named("old")], 0
        self.inbox = SqlInbox(f"sqlite:///{folder}/.limnograph/inbox.db")
        self.exact = Exactness(self.lake, self.meta, HOURLY_DAYS)
        self.config.write_text(self._settings(QUICK))
        self.lake.table(self.named("orders")).append(rows("eu"))
        self._old_table(old_commits)
        self.forgotten: set[int] = set()
        self.quiet: list[str] = []
        self._hidden: Path | None = None
        self.see: Callable[[], object] = self.run

    def _settings(self, jvm: str) -> str:
        catalog = "\n".join(f'{key} = "{value}"' for key, value in self.lake.properties.items())
        conf = "".join(
            f'"{key}" = "{value}"\n' for key, value in {**CHEAP, "spark.driver.extraJavaOptions": jvm}.items()
        )
        spark = f'[spark]\nmaster = "local[1]"\n[spark.conf]\n{conf}'
        keep = f"[retention]\nraw_days = {RAW_DAYS}\nhourly_days = {HOURLY_DAYS}\n"
        names = f'[meta]\nnamespace = "{self.meta}"\n[observe]\ninclude = ["{self.lake.name}.{self.sales}.*"]\n'
        return f"[catalogs.{self.lake.name}]\n{catalog}\n{names}{spark}{keep}"

    def run(
        self, failpoint: str = "", *options: str, timeout: float = 900, own_jvm: bool = False
    ) -> subprocess.CompletedProcess[str]:
        """A driver of its own, to its end and that of its JVM, if it has one; with `NAME:NTH:ACTION` it dies there."""
        config = self.config.with_name(f"run-{uuid4().hex[:8]}.toml")  # several may run at once
        arguments = ["-m", "limnograph", "pipeline", "--config", str(config), "--json", *(options or ("--once",))]
        env = {**os.environ, FAILPOINT_ENV: failpoint}
        if self.jvm is not None and not own_jvm:
            config.write_text(self._settings(QUICK))
            warm = {"PYSPARK_PYTHON": self.python}
            try:
                return _run([self.python, *arguments], env | self.jvm.environment() | warm, timeout)
            finally:
                self.jvm.clear()
        config.write_text(self._settings(quick_options()))
        return _run([sys.executable, *arguments], env, timeout)

    def named(self, table: str) -> str:
        """A table of the lake."""
        return f"{self.sales}.{table}"

    def run_in(self, session: SparkSession, failpoint: str = "") -> Total:
        """As `run`, in a session that stands; a failpoint raises FailpointReached."""
        return passes_and_house(load(self.config), session, lambda _line: None, Failpoints(failpoint))

    def work_for(self, name: str) -> None:
        """Make sure that the next `--once` passes the failpoint `name`. Every run finds a commit and an item too."""
        self.runs += 1
        self.lake.load(self.named("orders")).append(rows("eu", "us"))
        self.inbox.put([run_item(f"r{self.runs}")])
        step = name.removeprefix("before_").removeprefix("after_")
        prepare: Callable[[], None] | None = getattr(self, f"_for_{step}", None)
        if prepare is not None:
            prepare()

    def accepted(self) -> list[tuple[str, str]]:
        """Keys of all items that were put."""
        return sorted((f"r{number + 1}", "ok") for number in range(self.runs))

    def _for_append_first_seen(self) -> None:
        name = self.named(f"new{self.runs}")
        self.lake.table(name).append(rows("eu"))
        self.names.append(name)

    def _for_merge_hours(self) -> None:
        """A roll-up is made every 10 minutes; the last one was before that."""
        self._mark(HOURLY, "limnograph.rolled-at", str(now() - HOUR))
        self._age_journal("rollup")

    _for_merge_days = _for_mark_rolled = _for_merge_hours

    def _for_merge_reads(self) -> None:
        """A scan of a known table; the last roll-up was more than 10 minutes ago."""
        name = {"catalog": self.lake.name, "namespace": self.sales, "table": "orders"}
        fact = ReportFact(event_id=f"s{self.runs}", kind="scan", at=now(), **name)
        self._commit(REPORTS, arrow_table(REPORTS, [fact]))
        self._mark(READS_HOURLY, "limnograph.rolled-at", str(now() - HOUR))
        self._age_journal("rollup")

    _for_mark_reads = _for_merge_reads

    def _for_append_forecasts(self) -> None:
        """A table whose only commit was yesterday, and which is rolled up in this run."""
        name = self.named(f"quiet{self.runs}")
        self.lake.table(name).append(rows("eu"))
        self._age(name, DAY)
        self.names.append(name)
        self.quiet.append(name)
        self._for_merge_hours()
        self._age_journal("forecast")

    def unforecast(self) -> list[str]:
        """Tables of `_for_append_forecasts` without a forecast."""
        uuids = {str(self.lake.load(name).metadata.table_uuid): name for name in self.quiet}
        found = self.exact.rows(FORECASTS, None, ("table_uuid",)).column("table_uuid").to_pylist()
        return [name for uuid, name in uuids.items() if uuid not in found]

    def _for_close_reports(self) -> None:
        """A report of more than 7 days ago; none was deleted before."""
        fact = ReportFact(event_id=f"o{self.runs}", kind="scan", at=now() - 40 * DAY)
        self._commit(REPORTS, arrow_table(REPORTS, [fact]))
        self._mark(REPORTS, "limnograph.raw-floor", "2020-01-01")
        self._age_journal("retention")

    _for_delete_reports = _for_close_reports

    def _for_merge_columns(self) -> None:
        """Statistics of columns of more than 7 days ago."""
        fact = ColumnStatsFact(
            table_uuid="u-1", snapshot_id=self.runs, committed_at=now() - 40 * DAY, columns=[ColumnStat(1, "id")]
        )
        self._commit(COLUMN_STATS, arrow_table(COLUMN_STATS, [fact]))
        self._age_journal("retention")

    _for_delete_columns = _for_merge_columns

    def _mark(self, table: MetaTable, key: str, value: str) -> None:
        found = self._meta(table.name)
        if found is not None and key in found.properties:
            found.transaction().set_properties({key: value}).commit_transaction()

    def _for_expire(self) -> None:
        for number in range(12):
            fact = ReportFact(event_id=f"e{self.runs}-{number}", kind="scan", at=now())
            self._commit(REPORTS, arrow_table(REPORTS, [fact]))
        self._age(f"{self.meta}.{REPORTS.name}", 2 * HOUR)
        self._age_journal("expire")

    _for_append_maintenance = _for_expire

    def _for_clear_literals(self) -> None:
        """A row with a filter in a table that an older version wrote."""
        old = ReportFact(event_id=f"f{self.runs}", at=now(), filter="name = 'x'", metadata={"query": "x"})
        self._commit(REPORTS, arrow_table(REPORTS, [old]))
        if (table := self._meta(REPORTS.name)) is not None and CLEARED in table.properties:
            table.transaction().remove_properties(CLEARED).commit_transaction()
        self._age_journal("repair")

    def _for_compact(self) -> None:
        for number in range(7):
            fact = AlertFact(fingerprint=f"a{self.runs}-{number}", starts_at=now(), status="firing")
            self._commit(ALERTS, arrow_table(ALERTS, [fact]))
        self._age_journal("compact")

    def _for_rewrite_manifests(self) -> None:
        """A hundred files of a hundred months: each a manifest, and none worth a rewrite of itself. A second file of a
        month would be: its compaction merges the manifests.
        """
        labels = self._meta(LABELS.name)
        if labels is not None and _manifests(labels) < MANIFESTS:
            labels.delete()
            months = (now() - (month + 2) * 31 * DAY for month in range(MANIFESTS))
            facts = [LabelFact(event_id=f"l{self.runs}-{at}", kind="confirmed", at=at) for at in months]
            self._commit(LABELS, *(arrow_table(LABELS, [fact]) for fact in facts))
        self._age_journal("manifests")

    def _for_raise_floor(self) -> None:
        """The lake forgets its oldest commit; the one that is told from it is of another day."""
        table = self.lake.load(self.named("old"))
        oldest = min(table.metadata.snapshots, key=lambda s: s.timestamp_ms)
        self.forgotten.add(oldest.snapshot_id)

        def forget(document: dict[str, Any]) -> None:
            for key in ("snapshots", "snapshot-log"):
                document[key] = [e for e in document[key] if e["snapshot-id"] != oldest.snapshot_id]

        self.lake.move(self.named("old"), rewrite_metadata(table, forget))
        self._age_journal("retention")

    def _for_delete_hours(self) -> None:
        hour = now() // HOUR * HOUR - 300 * DAY - self.runs * HOUR
        row = {"table_uuid": "gone", "hour": hour, "commits": 1, "source_sequence": 0, "changes_sequence": 0}
        self._commit(HOURLY, pa.Table.from_pylist([row], schema=arrow_schema(HOURLY)))
        self._age_journal("retention")

    def _for_remove_orphans(self) -> None:
        table = self._meta("snapshots")
        assert table is not None
        stray = path_of(table.location()) / "data" / f"stray-{self.runs}.parquet"
        stray.parent.mkdir(parents=True, exist_ok=True)
        stray.write_bytes(b"left by a writer that died")
        long_ago = time.time() - 5 * 86_400
        os.utime(stray, (long_ago, long_ago))
        self._age_journal("orphans")

    _for_delete_raw = _for_raise_floor

    def _for_replace_rows(self) -> None:
        if self._hidden is None:
            self.hide()
            self.see()
        assert self._hidden is not None
        self._hidden.rename(self._hidden.with_suffix(""))
        self._hidden = None
        self._age_journal("repair")

    def hide(self) -> None:
        """Take away a manifest of a commit that nobody has seen: whoever sees it now writes a damaged row."""
        if self.named("hurt") not in self.names:
            self.lake.table(self.named("hurt"))
            self.names.append(self.named("hurt"))
        self.lake.load(self.named("hurt")).append(rows("eu"))
        table = self.lake.load(self.named("hurt"))
        head = table.current_snapshot()
        assert head is not None
        manifest = path_of(head.manifests(table.io)[0].manifest_path)
        self._hidden = manifest.rename(manifest.with_name(f"{manifest.name}.aside"))

    def _old_table(self, commits: int) -> None:
        table = self.lake.table(self.named("old"))
        for number in range(commits):
            placeholders(table, 1, tag=f"old{number}")

        def shift(document: dict[str, Any]) -> None:
            snapshots = sorted(document["snapshots"], key=lambda s: s["sequence-number"])
            times = {
                s["snapshot-id"]: now() // 1000 - (commits + 24 - i) * DAY // 1000 for i, s in enumerate(snapshots)
            }
            for snapshot in snapshots:
                snapshot["timestamp-ms"] = times[snapshot["snapshot-id"]]
            for entry in document["snapshot-log"]:
                entry["timestamp-ms"] = times[entry["snapshot-id"]]
            document["metadata-log"], document["last-updated-ms"] = [], max(times.values())

        self.lake.move(self.named("old"), rewrite_metadata(self.lake.load(self.named("old")), shift))

    def _meta(self, name: str) -> Table | None:
        identifier = (self.meta, name)
        return self.lake.catalog.load_table(identifier) if self.lake.catalog.table_exists(identifier) else None

    def _age(self, name: str, by: int) -> None:
        """Every commit of a table was made `by` microseconds earlier."""

        def older(document: dict[str, Any]) -> None:
            for key in ("snapshots", "snapshot-log", "metadata-log"):
                for entry in document.get(key, []):
                    entry["timestamp-ms"] -= by // 1000
            document["last-updated-ms"] -= by // 1000

        self.lake.move(name, rewrite_metadata(self.lake.load(name), older))

    def _age_journal(self, kind: str) -> None:
        """Steps of a kind were last run two days ago, and one stands for those that were never run. All others stay
        as they are: what is due beside the step that a run is to die at only prolongs it.
        """
        table = self._meta(MAINTENANCE.name)
        if table is None:
            return
        started = {"started_at": now() - 2 * DAY}
        found = [row | (started if row["kind"] == kind else {}) for row in table.scan().to_arrow().to_pylist()]
        found.append({"run_id": "seed", "status": "ok", "kind": kind, "table": "none", **started})
        unique = {(row["run_id"], row["status"]): row for row in found}
        table.delete()
        self._commit(MAINTENANCE, pa.Table.from_pylist(list(unique.values()), schema=arrow_schema(MAINTENANCE)))

    def _commit(self, meta: MetaTable, *parts: pa.Table) -> None:
        """A commit for every part, which is a file of one partition."""
        table = self.lake.load(f"{self.meta}.{meta.name}")
        with table.transaction() as transaction:
            for part in parts:
                file = data_file(table, meta, part, f"{table.location()}/data/{uuid4()}.parquet")
                with transaction.update_snapshot().fast_append() as update:
                    update.append_data_file(file)


def _run(arguments: list[str], env: dict[str, str], timeout: float) -> subprocess.CompletedProcess[str]:
    return subprocess.run(arguments, env=env, capture_output=True, text=True, timeout=timeout, check=False)


def _manifests(table: Table) -> int:
    head = table.current_snapshot()
    return len(head.manifests(table.io)) if head is not None else 0


def run_item(name: str) -> InboxItem:
    """The end of a job's run, as the server accepts it."""
    fact = RunFact(run_id=name, status="ok", started_at=now() - HOUR, ended_at=now())
    return InboxItem("run", item_key(name, "ok"), msgspec.json.encode(fact), now())


def now() -> int:
    """Epoch microseconds."""
    return SystemClock().now()
