"""Reported reads and commits of the last two days in memory, by table: rows of the meta table `reports` united with the
inbox by `event_id`. Memory: O(reports of two days), at most MOST; each call of `catch_up` reads new items only.
"""

from __future__ import annotations

import logging
import threading
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
import polars as pl

from limnograph.domain.errors import LimnographError
from limnograph.domain.facts.events import ReportFact
from limnograph.domain.ids import TableName
from limnograph.domain.time import EPOCH, Micros
from limnograph.ports.clock import Clock
from limnograph.ports.inbox import Inbox
from limnograph.ports.query_engine import MetaQuery, QueryEngine
from limnograph.services.lake.store import WINDOW
from limnograph.services.rollups.reads_fold import REPORT_COLUMNS, REPORT_TYPES, reads_of, report_rows
from limnograph.services.sources.inbox_items import facts_of_items

KIND = "report"
COMMIT_TYPES: Mapping[str, pl.DataType | type[pl.DataType]] = {
    **dict.fromkeys(("event_id", "kind", "catalog", "namespace", "table", "operation", "engine"), pl.String),
    **dict.fromkeys(("job_name", "application_id", "source", "outcome", "conflict_kind"), pl.String),
    **dict.fromkeys(("at", "snapshot_id", "attempts", "added_data_files"), pl.Int64),
    **dict.fromkeys(("duration_seconds", "wall_seconds"), pl.Float64),
    "streaming": pl.Boolean,
}
COMMIT_COLUMNS = tuple(COMMIT_TYPES)
"""Columns of `reports` that contention is computed from."""
_TYPES = {**REPORT_TYPES, **COMMIT_TYPES}
MOST = 200_000
"""Most reports in memory; beyond it the oldest are evicted and read from the meta table on request."""
_SKEW = 60_000_000
_Row = Mapping[str, Any]
_COMMITTED = frozenset({None, "ok"})
"""Outcomes of reports whose snapshot is the commit's own; that of a refused commit is the one that it had read."""
_decoder = msgspec.json.Decoder(ReportFact)
_log = logging.getLogger("limnograph.inbox")


class UserReport(NamedTuple):
    """The user whom the report of a commit names, the table by its reported name, and when it was committed."""

    table: TableName
    at: Micros
    user: str


class ReadLog:
    """Thread-safe: reads and users in memory are guarded by `_lock`, which is never held over I/O; callers get copies.
    `catch_up` is called by one thread at a time.
    """

    def __init__(
        self, inbox: Inbox, engine: QueryEngine, clock: Clock, *, window_us: int = WINDOW, most: int = MOST
    ) -> None:
        self._inbox, self._engine, self._clock = inbox, engine, clock
        self._window, self._most = window_us, most
        self._lock = threading.Lock()
        self._rows: dict[TableName, dict[str, _Row]] = defaultdict(dict)
        self._users: dict[int, list[UserReport]] = {}
        self._named: dict[TableName | None, int] = {None: 0}
        self._complete = False
        self._seen_to, self._evicted_to = EPOCH, EPOCH

    @property
    def floor(self) -> Micros | None:
        """Reads since this instant are all in memory; None before the meta table was read."""
        return max(Micros(self._clock.now() - self._window), self._evicted_to) if self._complete else None

    def catch_up(self) -> None:
        """Load what was accepted since the last call and, once, the rows of the meta table; evict old reads. Blocks.
        Raises SourceError of the inbox; the meta table is read again later.
        """
        edge = Micros(self._clock.now() - self._window)
        if not self._complete:
            try:
                query = MetaQuery(table="reports", columns=tuple(_TYPES), start=edge)
                self._show(self._engine.select(query))
            except LimnographError as error:
                _log.warning("reports of the meta tables: %s", error)
            else:
                self._complete = True
        newest = self._inbox.newest(KIND)
        if newest is not None and newest >= self._seen_to:
            items = self._inbox.items(KIND, max(Micros(self._seen_to - _SKEW), edge, EPOCH))
            self._show(report_rows(facts_of_items(items, _decoder, "a report"), _TYPES))
            self._seen_to = Micros(newest + 1)
        self._evict(edge)

    def of_table(self, names: Mapping[TableName, Micros], start: Micros, end: Micros) -> pl.DataFrame:
        """Reads in memory of a table in `[start, end)`: REPORT_COLUMNS. `names`: until when it has each name."""
        return reads_of(self._inside(names, start, end)).select(REPORT_COLUMNS)

    def commits_of_table(self, names: Mapping[TableName, Micros], start: Micros, end: Micros) -> pl.DataFrame:
        """Commits, the refused ones included, as `of_table`: COMMIT_COLUMNS."""
        return commits_of(self._inside(names, start, end)).select(COMMIT_COLUMNS)

    def users_of(self, snapshot_id: int) -> Sequence[UserReport]:
        """Users of the commits in memory that have this id, in tables of any name."""
        with self._lock:
            return tuple(self._users.get(snapshot_id, ()))

    def users_named(self, table: TableName | None) -> int:
        """A number that changes with each report of a commit's user: of a table, or of all."""
        with self._lock:
            return self._named.get(table, 0)

    def contended(self) -> set[TableName]:
        """Names of tables of which a commit in memory lost an attempt."""
        with self._lock:
            return {
                name
                for name, rows in self._rows.items()
                if any(row["outcome"] == "conflict" or (row["attempts"] or 1) > 1 for row in rows.values())
            }

    def _inside(self, names: Mapping[TableName, Micros], start: Micros, end: Micros) -> pl.DataFrame:
        with self._lock:
            rows = [(until, row) for name, until in names.items() for row in self._rows.get(name, {}).values()]
        inside = [row for until, row in rows if start <= row["at"] < min(end, until)]
        return pl.DataFrame(inside, schema=_TYPES, orient="row")

    def counts(self) -> dict[TableName, int]:
        """The number of reads in memory by the name that was reported."""
        with self._lock:
            return {name: len(rows) for name, rows in self._rows.items()}

    def since(self, start: Micros) -> pl.DataFrame:
        """Reads in memory of all tables since an instant: REPORT_COLUMNS."""
        with self._lock:
            rows = [row for rows in self._rows.values() for row in rows.values()]
        return pl.DataFrame([row for row in rows if row["at"] >= start], schema=dict(REPORT_TYPES), orient="row")

    def _show(self, reports: pl.DataFrame) -> None:
        """Reports of both kinds, each once."""
        shown = pl.concat([reads_of(reports), commits_of(reports)]).drop_nulls("table")
        with self._lock:
            for row in shown.iter_rows(named=True):
                name = TableName(row["catalog"] or "", row["namespace"] or "", row["table"])
                if self._rows[name].setdefault(row["event_id"], row) is row and names_user(row):
                    report = UserReport(name, Micros(row["at"]), row["user"])
                    self._users.setdefault(row["snapshot_id"], []).append(report)
                    self._named[None] += 1
                    self._named[name] = self._named[None]

    def _evict(self, edge: Micros) -> None:
        """Evict reads before the window, and the oldest ones beyond the limit."""
        with self._lock:
            held = sum(map(len, self._rows.values()))
            if held > self._most:
                times = sorted(row["at"] for rows in self._rows.values() for row in rows.values())
                edge = max(edge, Micros(times[held - self._most]))
                self._evicted_to = max(self._evicted_to, edge)
            for name, rows in list(self._rows.items()):
                kept = {event_id: row for event_id, row in rows.items() if row["at"] >= edge}
                if len(kept) < len(rows):
                    self._rows[name] = kept
                if not kept:
                    del self._rows[name]
                    self._named.pop(name, None)
            for snapshot_id, reports in list(self._users.items()):
                self._users[snapshot_id] = [each for each in reports if each.at >= edge]
                if not self._users[snapshot_id]:
                    del self._users[snapshot_id]


def commits_of(reports: pl.DataFrame) -> pl.DataFrame:
    """The commits among reports, each once."""
    is_commit = (pl.col("kind") == "commit") & pl.col("at").is_not_null()
    return reports.filter(is_commit).unique("event_id", keep="first", maintain_order=True)


def names_user(report: _Row) -> bool:
    """Whether a report is of a commit that succeeded, and names its user."""
    is_commit = report["kind"] == "commit" and report["outcome"] in _COMMITTED
    return is_commit and bool(report["user"]) and report["snapshot_id"] is not None
