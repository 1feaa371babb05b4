"""One pass of the pipeline: pin the meta heads, read the lake, append what is new. Exactly once, whoever else runs.

What is new is the set difference against the pinned head, never a checkpoint. Every append is a compare-and-set on the
head that the difference was taken from; who loses re-reads, drops what is there by now, and appends the rest.
"""

from __future__ import annotations

import random
import time
import uuid
from collections import Counter
from collections.abc import Callable, Sequence

import msgspec
import pyarrow as pa

from limnograph import __version__
from limnograph.domain.due import DueTable
from limnograph.domain.errors import Conflict, SourceError, SourceUnavailable
from limnograph.domain.facts import CHANGES, SNAPSHOTS, ChangeFact
from limnograph.domain.failpoints import Failpoints
from limnograph.domain.ids import TableName
from limnograph.ports.catalog import TablePointer
from limnograph.ports.clock import Clock
from limnograph.ports.extraction import Extraction
from limnograph.ports.lake import Lake
from limnograph.ports.meta_store import Candidates, MetaStore
from limnograph.services.ledger import Ledger
from limnograph.services.survey import (
    Survey,
    candidates,
    due_tables,
    first_sights,
    gaps_of,
    observed_tables,
    other_changes,
    survey,
)

ATTEMPTS = 20
"""Compare-and-set attempts before a pass gives up; the next pass finds the same rows new again."""


class PassReport(msgspec.Struct, frozen=True, kw_only=True):
    """What a pass did (DESIGN §11). `pending`: something is left for the next one; `more`: of tables that
    answered; `failed`: who did not answer, each a sentence `name: reason`; `changed`: series with a new row.
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
    ) -> None:
        self._lake, self._store, self._extraction, self._clock = lake, store, extraction, clock
        self._failpoints = failpoints or Failpoints()
        self._progress = progress
        self._to_arrow = to_arrow
        self._settled: dict[TableName, str] = {}
        self._failing: frozenset[TableName] = frozenset()
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
        moved = [p for p in listing.pointers if self._settled.get(p.name) != p.location]
        found = survey(self._lake, listing, moved)
        if moved:
            self._progress(f"{len(listing.pointers)} tables listed, {len(moved)} to look at")
        report = self._append_news(found, heads, run_id)
        self._settle(found, report, heads)
        self._failing = frozenset(found.failed)
        self._failpoints.reach("after_finish_pass")
        return msgspec.structs.replace(
            report,
            tables_seen=len(listing.pointers),
            failed=(*listing.failed, *(f"{name}: {reason}" for name, reason in sorted(found.failed.items()))),
            seconds=round(time.monotonic() - started, 3),
        )

    def _ensure(self) -> None:
        self._failpoints.reach("before_create_tables")
        self._store.ensure()
        self._failpoints.reach("after_create_tables")

    def _append_news(self, found: Survey, heads: tuple[int | None, int | None], run_id: str) -> PassReport:
        now = self._clock.now()
        ledger = Ledger(self._store.changes(heads[1]))
        tables = observed_tables(found, self._lake, ledger)
        sights = first_sights(tables, ledger, now)
        if sights:
            self._failpoints.reach("before_append_first_seen")
            self._append_changes(sights, heads[1], run_id, now)
            self._failpoints.reach("after_append_first_seen")
            # Others may have written between: what follows is taken from what stands there now.
            heads = (heads[0], self._store.head(CHANGES))
            ledger = Ledger(self._store.changes(heads[1]))
        wanted = candidates(tables, ledger, now)
        known = self._store.known(heads[0], wanted) if heads[0] is not None and wanted else {}
        gaps = gaps_of(tables, known, ledger, now)
        due, left = due_tables(tables, known, ledger, run_id, self._failing)
        asked = sum(len(table.snapshot_ids) for table in due)
        appended = 0
        changed: set[str | None] = {row.table_uuid for row in sights}
        if due:
            self._progress(f"{asked} new snapshots in {len(due)} tables")
            rows = self._extraction.run(due)
            found.failed.update(_shortfall(due, rows))
            self._failpoints.reach("before_append_snapshots")
            appended = self._append_snapshots(rows, heads[0], wanted, run_id)
            self._failpoints.reach("after_append_snapshots")
            changed |= set(rows.column("table_uuid").to_pylist())
        changes = other_changes(found, tables, ledger, gaps, now)
        if changes:
            self._failpoints.reach("before_append_changes")
            self._append_changes(changes, heads[1], run_id, now)
            self._failpoints.reach("after_append_changes")
        if appended or sights or changes:
            self._progress(f"{appended} snapshots and {len(sights) + len(changes)} changes appended")
        self._failpoints.reach("before_finish_pass")
        changed |= {row.table_uuid for row in changes}
        return PassReport(
            run_id=run_id,
            tables_seen=0,
            tables_changed=len(changed),
            snapshots_appended=appended,
            gaps=sum(row.kind == "gap" for row in changes),
            unreadable=len(found.damaged),
            seconds=0.0,
            pending=bool(left or found.failed),
            more=bool(left - found.failed.keys()),
            changed=frozenset(changed),
        )

    def _append_snapshots(self, rows: pa.Table, head: int | None, wanted: Sequence[Candidates], run_id: str) -> int:
        """Rows appended. After a conflict or a lost reply the rows that are there by now are dropped."""
        for attempt in range(ATTEMPTS):
            if rows.num_rows == 0:
                return 0
            try:
                self._store.append(SNAPSHOTS, rows, head, run_id)
            except (Conflict, SourceError) as error:
                self._wait(attempt, error)
                head = self._store.head(SNAPSHOTS)
                known = self._store.known(head, wanted) if head is not None else {}
                keys = zip(rows.column("table_uuid").to_pylist(), rows.column("snapshot_id").to_pylist(), strict=True)
                rows = rows.filter(pa.array([key not in known.get(series, {}) for series, key in keys], pa.bool_()))
            else:
                return int(rows.num_rows)
        raise SourceUnavailable("meta store", f"{ATTEMPTS} appends to snapshots lost against other writers")

    def _append_changes(self, rows: list[ChangeFact], head: int | None, run_id: str, now: int) -> None:
        """After a conflict or a lost reply rows that now say nothing new are dropped."""
        for attempt in range(ATTEMPTS):
            if not rows:
                return
            stamped = [
                msgspec.structs.replace(row, observed_at=now, run_id=run_id, extractor_version=__version__)
                for row in rows
            ]
            try:
                self._store.append(CHANGES, self._to_arrow(stamped), head, run_id)
            except (Conflict, SourceError) as error:
                self._wait(attempt, error)
                head = self._store.head(CHANGES)
                rows = still_new(rows, Ledger(self._store.changes(head)))
            else:
                return
        raise SourceUnavailable("meta store", f"{ATTEMPTS} appends to changes lost against other writers")

    def _wait(self, attempt: int, error: Exception) -> None:
        self._progress(f"append lost ({error}); taking the difference again")
        time.sleep(random.uniform(0.05, 0.3) * min(attempt + 1, 5))  # noqa: S311 - jitter, not a secret

    def _settle(self, found: Survey, report: PassReport, heads: tuple[int | None, int | None]) -> None:
        """After a pass with nothing to write: these pointers need no second look until they, or the heads, move."""
        if report.pending or report.tables_changed:
            return
        looked: list[TablePointer] = [*found.readable, *(damage.pointer for damage in found.damaged)]
        self._settled.update({pointer.name: pointer.location for pointer in looked})
        self._settled_heads = heads


def _shortfall(due: Sequence[DueTable], rows: pa.Table) -> dict[TableName, str]:
    """Tables of which fewer rows came than were due; they stay due."""
    got = Counter(rows.column("table_uuid").to_pylist())
    missing = ((table, len(table.snapshot_ids) - got[table.table_uuid]) for table in due)
    return {
        table.name: f"{count} of {len(table.snapshot_ids)} snapshots could not be read now"
        for table, count in missing
        if count > 0
    }


def still_new(rows: Sequence[ChangeFact], ledger: Ledger) -> list[ChangeFact]:
    """Rows that the ledger does not hold: events and main's log by key, states by value and time."""
    kept: list[ChangeFact] = []
    for row in rows:
        if ledger.holds(row):
            continue
        ledger.add(row)
        kept.append(row)
    return kept
