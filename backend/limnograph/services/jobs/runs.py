"""Pushed job runs: accepted into the inbox first, then held in memory while pages are hot. Runs are the rows of the
meta table united with the inbox by `(run_id, status)`; an older range is read from the meta table. Repeats and any
order of transitions produce the same runs. Tables that become known after the report are named then.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import msgspec
import polars as pl

from limnograph.domain.errors import LimnographError, SourceError
from limnograph.domain.facts.events import RunFact
from limnograph.domain.ids import TableName
from limnograph.domain.time import EPOCH, Micros
from limnograph.ports.clock import Clock
from limnograph.ports.inbox import Inbox, InboxItem, item_key
from limnograph.ports.query_engine import MetaQuery, QueryEngine
from limnograph.services.jobs.late_names import LateNaming, is_unnamed, may_be_named, named
from limnograph.services.jobs.run_log import (
    RUNNING,
    RunRecord,
    began,
    last_sign,
    names_of,
    on_table,
    reads_rows,
    together,
    written_by,
    wrote,
    wrote_to,
)
from limnograph.services.jobs.shared_texts import SharedTexts
from limnograph.services.lake.store import WINDOW
from limnograph.services.sources.cold_reads import ColdReads
from limnograph.services.sources.inbox_items import facts_of_items

KIND = "run"
MOST = 100_000
"""Most runs in memory; beyond it the oldest are evicted and read from the meta table on request."""
MOST_FACETS = 64 * 2**20
"""Most characters of different facets in memory: runs of one job mostly repeat each other's."""
DAY = 86_400_000_000
RUNNING_KEPT = 7 * DAY
"""How long a run without a reported end is kept, in microseconds."""
_SKEW = 60_000_000
_decoder = msgspec.json.Decoder(RunFact)
_log = logging.getLogger("limnograph.inbox")


class RunRegistry:
    """`accept` is durable before it returns. `restore` reads what earlier processes accepted.

    Thread-safe: the runs in memory are guarded by `_lock`, which is never held over I/O; callers get copies. `catch_up`
    is called by one thread at a time.
    """

    def __init__(
        self,
        inbox: Inbox,
        engine: QueryEngine | None = None,
        clock: Clock | None = None,
        *,
        window_us: int = WINDOW,
        most: int = MOST,
        reads: ColdReads | None = None,
        naming: LateNaming | None = None,
    ) -> None:
        self._reads = reads or ColdReads()
        self._naming, self._named_at = naming, object()  # the version of the known tables at the last look
        self._unnamed: set[str] = set()
        self._inbox, self._engine, self._clock = inbox, engine, clock
        self._window, self._most = window_us, most
        self._lock = threading.Lock()
        self._told: dict[str, dict[str, RunFact]] = {}
        self._runs: dict[str, RunFact] = {}
        self._of_table: dict[TableName, set[str]] = defaultdict(set)
        self._of_app: dict[str, str] = {}
        self._of_written: dict[tuple[TableName, int], str] = {}
        self._texts = SharedTexts(MOST_FACETS)
        self._shown: Counter[TableName | None] = Counter()
        self._meta_read = False
        self._seen_to = EPOCH
        self._floor = EPOCH
        self.error: str | None = None
        """Why the last read of the inbox failed; None if it succeeded."""

    async def accept(self, runs: Sequence[RunFact]) -> int:
        """Store runs durably, then publish them; returns how many were new. Raises SourceError."""
        return await self.store(items_of(runs), runs)

    async def store(self, items: Sequence[InboxItem], runs: Sequence[RunFact] = ()) -> int:
        """Store items of any kind, then publish the runs among them; returns how many items were new. Raises
        SourceError.
        """
        with self._health():
            new = await asyncio.to_thread(self._inbox.put, items)
        if new:
            self._show(runs)
        return new

    def restore(self) -> None:
        """Read the meta table and the inbox. Raises SourceError of the inbox; the meta table is retried later."""
        self.catch_up()

    def catch_up(self) -> None:
        """Load runs that other processes accepted since the last call, and evict old ones. Raises SourceError."""
        self._read_meta()
        with self._health():
            newest = self._inbox.newest(KIND)
            items = []
            if newest is not None and newest >= self._seen_to:
                items = self._inbox.items(
                    KIND, max(self._seen_to - _SKEW, self._now() - self._window - RUNNING_KEPT, EPOCH)
                )
                self._seen_to = newest + 1
        self._show(facts_of_items(items, _decoder, "a run"))
        self._name_late()
        self._forget()

    def _read_meta(self) -> None:
        """Read the meta table once, when it first responds: later runs arrive through the inbox."""
        if self._meta_read:
            return
        try:
            self._show(self._cold(self._now() - self._window, None))
        except LimnographError as error:
            _log.warning("job runs of the meta tables: %s", error)
        else:
            self._meta_read = True

    @contextmanager
    def _health(self) -> Iterator[None]:
        try:
            yield
        except SourceError as error:
            self.error = str(error)
            raise
        self.error = None

    def _show(self, runs: Iterable[RunFact]) -> None:
        with self._lock:
            for told in runs:
                run = self._texts.shared(told)
                transitions = self._told.setdefault(run.run_id, {})
                # The first transition received is the one that becomes a row.
                if run.status not in transitions:
                    transitions[run.status] = run
                    self._index(run, transitions)
                    if is_unnamed(run):
                        self._unnamed.add(run.run_id)
                        self._named_at = object()

    def _index(self, run: RunFact, transitions: Mapping[str, RunFact]) -> None:
        """Make a new transition of a run findable. Called with `_lock` held."""
        self._runs[run.run_id] = together(transitions)
        for name in names_of(run):
            self._of_table[name].add(run.run_id)
            self._shown[name] += 1
        if run.application_id:
            self._of_app[run.application_id] = run.run_id
        self._of_written.update(dict.fromkeys(written_by(run), run.run_id))
        self._shown[None] += 1

    def _name_late(self) -> None:
        """Name tables that became known after their run was reported. O(runs of an hour without a name) if the known
        tables changed, else O(1).
        """
        if self._naming is None or not self._unnamed or (version := self._naming.version()) is self._named_at:
            return
        with self._lock:
            waiting = {run_id: dict(self._told[run_id]) for run_id in self._unnamed}
        found = {run_id: named(transitions, self._naming) for run_id, transitions in waiting.items()}
        now = self._now()
        with self._lock:
            for run_id, changed in found.items():
                if (transitions := self._told.get(run_id)) is None:
                    continue
                for status, fact in changed.items():
                    transitions[status] = fact
                    self._index(fact, transitions)
                run = self._runs[run_id]
                if not is_unnamed(run) or not may_be_named(run, now):
                    self._unnamed.discard(run_id)
        self._named_at = version

    def between(self, start: Micros, end: Micros) -> list[RunFact]:
        """Runs in memory that overlap `[start, end)` (epoch microseconds), of all jobs and tables."""
        with self._lock:
            runs = list(self._runs.values())
        return [run for run in runs if began(run) < end and last_sign(run) >= start]

    def reading(self, name: TableName, start: Micros, end: Micros) -> int | None:
        """The number of runs that began in `[start, end)` and read the table's own rows; None if not all of them are in
        memory. O(runs that touch the table).
        """
        if not self._meta_read or start < max(self._now() - self._window, self._floor):
            return None
        with self._lock:
            runs = [self._runs[run_id] for run_id in self._of_table.get(name, ())]
        return sum(start <= began(run) < end and reads_rows(run, name) for run in runs)

    def version(self, name: TableName | None) -> int:
        """The number of transitions published so far: of runs that touch a table, or of all."""
        return self._shown[name]

    def _forget(self) -> None:
        """Evict runs that ended before the window, and the oldest ones beyond the limit."""
        if self._clock is None:
            return
        edge = self._now() - self._window
        with self._lock:
            old = [run for run in self._runs.values() if last_sign(run) < _edge(run, edge)]
            kept = len(self._runs) - len(old)
            if kept > self._most:
                gone = {run.run_id for run in old}
                oldest = sorted((r for r in self._runs.values() if r.run_id not in gone), key=last_sign)
                old += oldest[: kept - self._most]
                self._floor = max(self._floor, last_sign(oldest[kept - self._most]))
            for run in old:
                del self._runs[run.run_id], self._told[run.run_id]
                self._unnamed.discard(run.run_id)
                for name in names_of(run):
                    self._of_table[name].discard(run.run_id)
                    if not self._of_table[name]:
                        del self._of_table[name]
                if run.application_id and self._of_app.get(run.application_id) == run.run_id:
                    del self._of_app[run.application_id]
                for commit in written_by(run):
                    if self._of_written.get(commit) == run.run_id:
                        del self._of_written[commit]
            if old:
                self._texts.keep(self._runs.values())

    async def of_table(self, name: TableName, start: Micros, end: Micros) -> list[RunRecord]:
        """Runs that touched the table and overlap `[start, end)` (epoch microseconds), ordered by their start.

        Evicted runs are read from the meta table; if that fails, only those in memory are returned.
        """
        with self._lock:
            told = {run_id: dict(self._told[run_id]) for run_id in self._of_table.get(name, ())}
        if self._clock is not None and start < max(self._now() - self._window, self._floor):
            told = await self._with_older(name, start, end, told)
        found = [job for transitions in told.values() for job in on_table(together(transitions), name, start, end)]
        return sorted(found, key=lambda run: (run.began, run.job, run.role))

    async def writer_of(self, name: TableName, snapshot_id: int, at: Micros | None) -> RunFact | None:
        """The run that reported a commit. `at`: when it was committed, in epoch microseconds. For a commit older than
        the runs in memory the meta table is read; if it does not respond, the run is unknown.
        """
        with self._lock:
            run_id = self._of_written.get((name, snapshot_id))
            found = self._runs.get(run_id) if run_id is not None else None
        if found is not None or at is None or self._clock is None:
            return found
        if at >= max(self._now() - self._window, self._floor):
            return None
        older: dict[str, dict[str, RunFact]] = defaultdict(dict)
        for run_id, transitions in (await self._with_older(name, at, at + 1, {})).items():
            older[run_id] |= transitions
        runs = map(together, older.values())
        return next((run for run in runs if wrote(run, name, snapshot_id)), None)

    def writing(self, name: TableName) -> list[RunFact]:
        """Successful runs in memory that wrote to a table, the latest end first."""
        with self._lock:
            return wrote_to(name, [self._runs[run_id] for run_id in self._of_table.get(name, ())])

    async def writing_since(self, name: TableName, start: Micros) -> list[RunFact]:
        """Successful runs that wrote to a table and ended at `start` or later, the latest end first; those that are not
        in memory are read from the meta table. Raises LimnographError if it cannot be read.
        """
        with self._lock:
            told = {run_id: dict(self._told[run_id]) for run_id in self._of_table.get(name, ())}
        if self._clock is not None and start < max(self._now() - self._window, self._floor):
            for run in await self._reads.ask(self._cold, start, None, name):
                told.setdefault(run.run_id, {}).setdefault(run.status, run)
        return [run for run in wrote_to(name, map(together, told.values())) if last_sign(run) >= start]

    async def _with_older(
        self, name: TableName, start: Micros, end: Micros, told: dict[str, dict[str, RunFact]]
    ) -> dict[str, dict[str, RunFact]]:
        try:
            older = await self._reads.ask(self._cold, start - DAY, end + DAY, name)
        except LimnographError as error:
            _log.warning("job runs of the meta tables: %s", error)
            return told
        found = {run_id: dict(transitions) for run_id, transitions in told.items()}
        for run in older:
            found.setdefault(run.run_id, {})[run.status] = run
        return found

    def _cold(self, start: Micros, end: Micros | None, name: TableName | None = None) -> list[RunFact]:
        """Transitions of a span in the meta table, optionally of runs that name a table. Raises SourceError."""
        if self._engine is None:
            return []
        rows = self._engine.select(MetaQuery(table="runs", start=start, end=end))
        if name is not None:
            here = pl.element().struct
            mine = (here.field("table") == name.table) & (here.field("namespace") == name.namespace)
            touching = rows.filter(pl.col("tables").list.eval(mine).list.any())
            rows = rows.filter(pl.col("run_id").is_in(touching["run_id"].unique().to_list()))
        return msgspec.convert(rows.to_dicts(), list[RunFact])

    def job_of_application(self, application_id: str) -> str | None:
        """Name of a job that ran under an application id."""
        with self._lock:
            run_id = self._of_app.get(application_id)
            return self._runs[run_id].job_name if run_id is not None else None

    def _now(self) -> Micros:
        return self._clock.now() if self._clock is not None else EPOCH


def items_of(runs: Iterable[RunFact]) -> list[InboxItem]:
    """Runs as items of the inbox."""
    return [
        InboxItem(KIND, item_key(run.run_id, run.status), msgspec.json.encode(run), run.observed_at or EPOCH)
        for run in runs
    ]


def _edge(run: RunFact, edge: Micros) -> Micros:
    return edge if run.status != RUNNING else edge - RUNNING_KEPT
