"""One pass of the pipeline: pin the meta heads, read the lake, append what is new. Exactly once, with any number of
concurrent pipelines. New rows are the set difference against the pinned head, never a checkpoint. Every append is a
compare-and-set on the head that the difference was computed from; after a conflict it re-reads, drops rows that exist
by now, and appends the rest. Tables are read in groups, and new rows are appended in portions: finished work is kept,
and a driver's memory stays small.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from limnograph.domain.facts.column_stats import RAW_DAYS
from limnograph.domain.facts.meta_tables import CHANGES, COLUMN_STATS, SNAPSHOTS, ChangeFact
from limnograph.domain.failpoints import Failpoints
from limnograph.domain.metadata.due import ColumnChoice, DueTable
from limnograph.domain.time import Micros
from limnograph.ports.catalog import TablePointer
from limnograph.ports.clock import Clock
from limnograph.ports.extraction import Extraction
from limnograph.ports.lake import ObservedLake
from limnograph.ports.meta_store import Known, MetaStore
from limnograph.services.pipeline.appending import MetaAppender, still_new
from limnograph.services.pipeline.backoff import BackOff
from limnograph.services.pipeline.changes import ObservedTable
from limnograph.services.pipeline.gaps import gaps_of, lost_parents
from limnograph.services.pipeline.known import known_of
from limnograph.services.pipeline.ledger import Ledger, ledger_at
from limnograph.services.pipeline.portions import DAY_MICROS, Unit, portions, shortfall, units_of, without
from limnograph.services.pipeline.report import PassReport, PassWork
from limnograph.services.pipeline.settled import SettledTables, together
from limnograph.services.pipeline.survey import (
    TABLES_AT_ONCE,
    Survey,
    first_sights,
    observed_tables,
    one_name_each,
    other_changes,
    survey,
)

BACKFILL_SECONDS = 60
"""After this time a pass leaves older history to the next one, which reads fresh snapshots first."""


class Heads(NamedTuple):
    """Heads of `snapshots` and `changes`."""

    snapshots: int | None
    changes: int | None


class Passes:
    """Runs passes from one lake into one meta store. Its state only saves reads: correctness does not depend on it.
    `stop`: called between portions; a pass ends when it returns true. `backfill_seconds`: see BACKFILL_SECONDS.
    `columns`: which columns of a table have statistics; None: none.
    """

    def __init__(
        self,
        lake: ObservedLake,
        store: MetaStore,
        extraction: Extraction,
        clock: Clock,
        *,
        failpoints: Failpoints | None = None,
        progress: Callable[[str], None] = lambda _line: None,
        to_arrow: Callable[[Sequence[ChangeFact]], pa.Table],
        backoff: BackOff | None = None,
        stop: Callable[[], bool] = lambda: False,
        backfill_seconds: float = BACKFILL_SECONDS,
        columns: Callable[[DueTable], ColumnChoice | None] = lambda _due: None,
    ) -> None:
        self._lake, self._store, self._extraction, self._clock = lake, store, extraction, clock
        self._failpoints = failpoints or Failpoints()
        self._progress, self._stop, self._backfill_seconds = progress, stop, backfill_seconds
        self._columns = columns
        self._appending = MetaAppender(store, to_arrow, progress)
        self._backoff = backoff or BackOff(cap_s=0)
        self._settled, self._settled_heads = SettledTables(), Heads(None, None)

    def run(self) -> PassReport:
        """Run one pass. Raises SourceError if the meta store does not respond or every attempt lost."""
        self._ensure()
        heads = self._heads()
        self._keep_settled(heads)
        job = PassWork(self._lake.listing())
        now = self._clock.now()
        self._backoff.forget({pointer.name for pointer in job.listing.pointers})
        waiting = self._backoff.waiting(now)
        moved = sorted(p for p in job.listing.pointers if p.name not in waiting and self._settled.moved(p))
        if moved:
            self._progress(f"{len(job.listing.pointers)} tables listed, {len(moved)} to check")
        if moved or not self._settled.same_names(job.listing):
            self._look_at_all(job, moved, heads)
        self._failpoints.reach("before_finish_pass")
        self._settle(job, moved, heads, now)
        self._failpoints.reach("after_finish_pass")
        return job.report(waiting)

    def _ensure(self) -> None:
        self._failpoints.reach("before_create_tables")
        self._store.ensure()
        self._failpoints.reach("after_create_tables")

    def _heads(self) -> Heads:
        return Heads(self._store.head(SNAPSHOTS), self._store.head(CHANGES))

    def _keep_settled(self, heads: Heads) -> None:
        """Forget settled tables if rows were deleted since."""
        if heads != self._settled_heads and not self._only_added(self._settled_heads, heads):
            self._settled.clear()

    def _only_added(self, old: Heads, new: Heads) -> bool:
        pairs = ((old.snapshots, new.snapshots, SNAPSHOTS), (old.changes, new.changes, CHANGES))
        return all(before == after or self._store.only_added(before, after, table) for before, after, table in pairs)

    def _look_at_all(self, job: PassWork, moved: Sequence[TablePointer], heads: Heads) -> None:
        """Fresh snapshots of all tables, in groups; then older history while time is left."""
        for first in range(0, max(len(moved), 1), TABLES_AT_ONCE):
            if first and self._stop():
                job.left |= {pointer.name for pointer in moved[first:]}
                break
            self._look_at(job, moved[first : first + TABLES_AT_ONCE], heads if not first else self._heads())
        job.later.sort(key=lambda unit: unit.rank)
        enough = time.monotonic() + self._backfill_seconds
        job.left |= {unit.due.name for unit in self._work(job, job.later, until_s=enough)}
        if job.appended or job.change_rows:
            self._progress(f"{job.appended} snapshots and {job.change_rows} changes appended")

    def _look_at(self, job: PassWork, pointers: Sequence[TablePointer], heads: Heads) -> None:
        """One group of tables: first observations and gaps, fresh snapshots, then all other changes."""
        now = self._clock.now()
        found = survey(self._lake, job.listing, pointers)
        ledger = ledger_at(self._store, heads.changes)
        tables = observed_tables(found, self._lake, ledger)
        known = self._known(heads.snapshots, tables, ledger, now)
        # Before the snapshots: once these exist, a table counts as seen and a gap before them would never be detected.
        early = first_sights(tables, ledger, now) + still_new(gaps_of(tables, known, ledger, now), ledger)
        if early:
            self._append_changes(job, early, heads.changes, "append_first_seen", now)
            # Others may have written in between: what follows is based on the current rows.
            heads = Heads(heads.snapshots, self._store.head(CHANGES))
            ledger = ledger_at(self._store, heads.changes)
        units = units_of(tables, known, ledger, job.run_id, self._backoff.failing)
        fresh = [unit for unit in units if unit.rank == 0]
        job.later += units[len(fresh) :]
        self._announce(job, units)
        job.left |= {unit.due.name for unit in self._work(job, fresh, heads.snapshots)}
        changes = other_changes(found, tables, ledger, now)
        if changes:
            self._append_changes(job, changes, heads.changes, "append_changes", now)
        job.gaps += sum(row.kind == "gap" for row in early)
        job.unreadable += len(found.damaged)
        job.failed |= found.failed
        self._remember(job, found, tables, ledger)

    def _announce(self, job: PassWork, units: Sequence[Unit]) -> None:
        if units:
            count = sum(unit.rows for unit in units)
            job.total += count
            self._progress(f"{count} new snapshots in {len({unit.due.name for unit in units})} tables")

    def _append_changes(self, job: PassWork, rows: list[ChangeFact], head: int | None, step: str, now: Micros) -> None:
        self._failpoints.reach(f"before_{step}")
        self._appending.changes(rows, head, job.run_id, now)
        self._failpoints.reach(f"after_{step}")
        job.change_rows += len(rows)
        job.changed |= {row.table_uuid for row in rows}

    def _known(self, head: int | None, tables: list[ObservedTable], ledger: Ledger, now: Micros) -> Known:
        """Rows of the tables' snapshots; if a parent is missing, all rows of the series."""
        settled = self._settled.known(tables)
        known = together(settled, known_of(self._store, head, tables, settled))
        lost = lost_parents(tables, known, ledger, now)
        return together(known, self._store.known(head, lost)) if lost and head is not None else known

    def _work(
        self, job: PassWork, units: Sequence[Unit], head: int | None = None, until_s: float | None = None
    ) -> Iterator[Unit]:
        """Work portion by portion; yields the units that are left when time is up or a stop is requested."""
        waiting = deque(portions(units, self._backoff.failing))
        base_head = head
        while waiting and not self._stop() and (until_s is None or time.monotonic() < until_s):
            portion = waiting.popleft()
            again = self._portion(job, portion, base_head)
            base_head = None
            if again:
                waiting.appendleft(again)
            self._tell(job, waiting)
        yield from (unit for portion in waiting for unit in portion)

    def _portion(self, job: PassWork, portion: Sequence[Unit], base_head: int | None) -> list[Unit]:
        """One append; returns the units that the extraction did not reach. `base_head`: head that the difference was
        computed from; None if others may have written since.
        """
        head = self._store.head(SNAPSHOTS) if base_head is None else base_head
        spans = [unit.span for unit in portion]
        units = list(portion)
        if base_head is None and head is not None:
            units = without(portion, self._store.known(head, spans))
        if not units:
            return []
        due = [msgspec.structs.replace(unit.due, columns=self._columns(unit.due)) for unit in units]
        extracted = self._extraction.run(due)
        job.failed |= shortfall(due, extracted)
        # Before the snapshots: once these exist, their files are not read again.
        self._append_columns(job, extracted.columns)
        self._failpoints.reach("before_append_snapshots")
        job.appended += self._appending.snapshots(extracted.rows, head, spans, job.run_id)
        self._failpoints.reach("after_append_snapshots")
        job.changed |= set(extracted.rows.column("table_uuid").to_pylist())
        return [unit for place, unit in enumerate(units) if place in extracted.unreached]

    def _append_columns(self, job: PassWork, rows: pa.Table | None) -> None:
        """Append statistics of columns that are not older than they are kept."""
        if rows is None or not rows.num_rows:
            return
        oldest = self._clock.now() // DAY_MICROS * DAY_MICROS - RAW_DAYS * DAY_MICROS
        rows = rows.filter(pc.greater_equal(rows.column("committed_at").cast(pa.int64()), oldest))
        if rows.num_rows:
            self._failpoints.reach("before_append_columns")
            self._appending.events(COLUMN_STATS, rows, job.run_id)
            self._failpoints.reach("after_append_columns")

    def _tell(self, job: PassWork, waiting: Sequence[Sequence[Unit]]) -> None:
        """Report the progress and the remaining time at this pace."""
        left = sum(unit.rows for portion in waiting for unit in portion)
        if left and job.appended:
            seconds = (time.monotonic() - job.started) * (job.total - job.appended) / job.appended
            self._progress(f"{job.appended} of {job.total} snapshots appended, about {seconds:.0f} s left")

    def _remember(self, job: PassWork, found: Survey, tables: Sequence[ObservedTable], ledger: Ledger) -> None:
        """Mark tables whose rows are durable as settled."""
        left: dict[str, set[int]] = {}
        for unit in job.later:
            left.setdefault(unit.due.table_uuid, set()).update(unit.due.snapshot_ids)
        unsettled = {*job.left, *job.failed}
        by_name = {table.name: table for table in tables if table.name not in unsettled}
        extracted = {table.name for table in one_name_each(tables)}
        for pointer in found.readable:
            if pointer.name in extracted and pointer.name in by_name:
                table = by_name[pointer.name]
                self._settled.put(pointer, table, ledger, left.get(table.uuid, ()))
            elif pointer.name in by_name:
                # Its series was extracted under another name: snapshots that only this name has get no row.
                self._settled.put(pointer, None, ledger)
        for damage in found.damaged:
            self._settled.put(damage.pointer, None, ledger)

    def _settle(self, job: PassWork, moved: Sequence[TablePointer], heads: Heads, now: Micros) -> None:
        """Remember the results for the next pass, unless rows were deleted during this one."""
        tried = [pointer.name for pointer in moved if pointer.name not in job.left or pointer.name in job.failed]
        self._backoff.settle(tried, job.failed, now)
        after = self._heads() if job.changed else heads
        if not self._only_added(heads, after):
            self._settled.clear()
        elif not job.left:
            self._settled.put_names(job.listing)
        self._settled_heads = after
