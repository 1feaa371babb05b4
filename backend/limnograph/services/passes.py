"""One pass of the pipeline: pin the meta heads, read the lake, append what is new. Exactly once, whoever else runs.

What is new is the set difference against the pinned head, never a checkpoint. Every append is a compare-and-set on the
head that the difference was taken from; who loses re-reads, drops what is there by now, and appends the rest.
"""

from __future__ import annotations

import time
import uuid
from collections import Counter
from collections.abc import Callable, Collection, Sequence

import msgspec
import pyarrow as pa

from limnograph.domain.due import DueTable
from limnograph.domain.facts import CHANGES, SNAPSHOTS, ChangeFact
from limnograph.domain.failpoints import Failpoints
from limnograph.domain.ids import TableName
from limnograph.ports.catalog import TablePointer
from limnograph.ports.clock import Clock
from limnograph.ports.extraction import Extraction
from limnograph.ports.lake import Lake
from limnograph.ports.meta_store import Candidates, Known, MetaStore
from limnograph.services.appending import Appending, still_new
from limnograph.services.backoff import BackOff
from limnograph.services.changes import Observed
from limnograph.services.gaps import gaps_of, lost_parents
from limnograph.services.ledger import Ledger
from limnograph.services.survey import (
    Survey,
    candidates,
    due_tables,
    first_sights,
    observed_tables,
    other_changes,
    survey,
)


class PassReport(msgspec.Struct, frozen=True, kw_only=True):
    """What a pass did (DESIGN §11). `pending`: something is left for the next one; `more`: of tables that
    answered; `failed`: who did not answer, each a sentence `name: reason`; `waiting`: how many of those this pass did
    not try, because their turn comes later; `changed`: series with a new row.
    """

    run_id: str
    tables_seen: int
    tables_changed: int
    snapshots_appended: int
    gaps: int
    unreadable: int
    seconds: float
    pending: bool = False
    more: bool = False
    failed: tuple[str, ...] = ()
    waiting: int = 0
    changed: frozenset[str | None] = frozenset()


class Passes:
    """Makes passes over one lake into one meta store. Remembers only what saves reads: nothing rests on it."""

    def __init__(
        self,
        lake: Lake,
        store: MetaStore,
        extraction: Extraction,
        clock: Clock,
        *,
        failpoints: Failpoints | None = None,
        progress: Callable[[str], None] = lambda _line: None,
        to_arrow: Callable[[Sequence[ChangeFact]], pa.Table],
        backoff: BackOff | None = None,
    ) -> None:
        self._lake, self._store, self._extraction, self._clock = lake, store, extraction, clock
        self._failpoints = failpoints or Failpoints()
        self._progress = progress
        self._appending = Appending(store, to_arrow, progress)
        self._settled: dict[TableName, str] = {}
        self._backoff = backoff or BackOff(cap=0)
        self._settled_heads: tuple[int | None, int | None] | None = None

    def run(self) -> PassReport:
        """One pass. Raises SourceError when the meta store does not answer or every attempt lost."""
        started = time.monotonic()
        run_id = str(uuid.uuid4())
        self._ensure()
        heads = (self._store.head(SNAPSHOTS), self._store.head(CHANGES))
        if heads != self._settled_heads:
            self._settled.clear()  # somebody else wrote: what was settled may not be any more
        listing = self._lake.listing()
        now = self._clock.now()
        self._backoff.forget({pointer.name for pointer in listing.pointers})
        waiting = self._backoff.waiting(now)
        moved = [p for p in listing.pointers if self._settled.get(p.name) != p.location and p.name not in waiting]
        found = survey(self._lake, listing, moved)
        if moved:
            self._progress(f"{len(listing.pointers)} tables listed, {len(moved)} to look at")
        report, left = self._append_news(found, heads, run_id)
        self._settle(found, report, left, heads)
        self._backoff.settle((pointer.name for pointer in moved), found.failed, now)
        self._failpoints.reach("after_finish_pass")
        failed = {name: failure.reason for name, failure in waiting.items()} | found.failed
        return msgspec.structs.replace(
            report,
            tables_seen=len(listing.pointers),
            failed=(*listing.failed, *(f"{name}: {reason}" for name, reason in sorted(failed.items()))),
            waiting=len(waiting),
            pending=report.pending or bool(waiting),
            seconds=round(time.monotonic() - started, 3),
        )

    def _ensure(self) -> None:
        self._failpoints.reach("before_create_tables")
        self._store.ensure()
        self._failpoints.reach("after_create_tables")

    def _append_news(
        self, found: Survey, heads: tuple[int | None, int | None], run_id: str
    ) -> tuple[PassReport, set[TableName]]:
        """The report, and the tables of which some is left for the next pass."""
        now = self._clock.now()
        ledger = Ledger(self._store.changes(heads[1]))
        tables = observed_tables(found, self._lake, ledger)
        wanted = candidates(tables)
        known = self._known(heads[0], tables, wanted, ledger, now)
        # Before the snapshots: where these stand, first sight is over and a gap below them would never show again.
        early = first_sights(tables, ledger, now) + still_new(gaps_of(tables, known, ledger, now), ledger)
        if early:
            self._failpoints.reach("before_append_first_seen")
            self._appending.changes(early, heads[1], run_id, now)
            self._failpoints.reach("after_append_first_seen")
            # Others may have written between: what follows is taken from what stands there now.
            heads = (heads[0], self._store.head(CHANGES))
            ledger = Ledger(self._store.changes(heads[1]))
        due, left = due_tables(tables, known, ledger, run_id, self._backoff.failing)
        appended, changed = self._extract(found, due, heads[0], wanted, run_id)
        changes = other_changes(found, tables, ledger, now)
        if changes:
            self._failpoints.reach("before_append_changes")
            self._appending.changes(changes, heads[1], run_id, now)
            self._failpoints.reach("after_append_changes")
        if appended or early or changes:
            self._progress(f"{appended} snapshots and {len(early) + len(changes)} changes appended")
        self._failpoints.reach("before_finish_pass")
        changed |= {row.table_uuid for row in (*early, *changes)}
        report = PassReport(
            run_id=run_id,
            tables_seen=0,
            tables_changed=len(changed),
            snapshots_appended=appended,
            gaps=sum(row.kind == "gap" for row in early),
            unreadable=len(found.damaged),
            seconds=0.0,
            pending=bool(left or found.failed),
            more=bool(left - found.failed.keys()),
            changed=frozenset(changed),
        )
        return report, left

    def _known(
        self, head: int | None, tables: list[Observed], wanted: list[Candidates], ledger: Ledger, now: int
    ) -> Known:
        """Rows that the tables' snapshots have; where a parent is missing, all rows of the series."""
        if head is None or not wanted:
            return {}
        known = self._store.known(head, wanted)
        lost = lost_parents(tables, known, ledger, now)
        return known | self._store.known(head, lost) if lost else known

    def _extract(
        self, found: Survey, due: Sequence[DueTable], head: int | None, wanted: Sequence[Candidates], run_id: str
    ) -> tuple[int, set[str | None]]:
        """Snapshots appended, and the series that they are of."""
        if not due:
            return 0, set()
        self._progress(f"{sum(len(table.snapshot_ids) for table in due)} new snapshots in {len(due)} tables")
        rows = self._extraction.run(due)
        found.failed.update(shortfall(due, rows))
        self._failpoints.reach("before_append_snapshots")
        appended = self._appending.snapshots(rows, head, wanted, run_id)
        self._failpoints.reach("after_append_snapshots")
        return appended, set(rows.column("table_uuid").to_pylist())

    def _settle(
        self, found: Survey, report: PassReport, left: Collection[TableName], heads: tuple[int | None, int | None]
    ) -> None:
        """After a pass with nothing to write: these pointers need no second look until they, or the heads, move."""
        if report.tables_changed:
            return
        looked: list[TablePointer] = [*found.readable, *(damage.pointer for damage in found.damaged)]
        open_ends = {*left, *found.failed}
        self._settled.update({pointer.name: pointer.location for pointer in looked if pointer.name not in open_ends})
        self._settled_heads = heads


def shortfall(due: Sequence[DueTable], rows: pa.Table) -> dict[TableName, str]:
    """Tables of which fewer rows came than were due; they stay due."""
    got = Counter(rows.column("table_uuid").to_pylist())
    missing = ((table, len(table.snapshot_ids) - got[table.table_uuid]) for table in due)
    return {
        table.name: f"{count} of {len(table.snapshot_ids)} snapshots could not be read now"
        for table, count in missing
        if count > 0
    }
