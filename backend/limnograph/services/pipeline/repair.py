"""Repairs rows of the meta table: damaged ones that are readable again, and those of a table on demand.

A row is replaced only if it exists, if the lake's metadata still has its snapshot, and never by a worse row. A replaced
row is a new observation: `on_main` and `refs` (provenance), like the name, the schema and spec ids of the table and
`metadata_location`, are those of the lake at its new `observed_at`; `source` is `backfill`.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import NamedTuple

import msgspec
import pyarrow as pa

from limnograph.domain.errors import InvalidInput, SourceUnavailable
from limnograph.domain.facts.meta_tables import CHANGES, SNAPSHOTS
from limnograph.domain.failpoints import Failpoints
from limnograph.domain.ids import TableName
from limnograph.domain.time import Micros
from limnograph.ports.catalog import TablePointer
from limnograph.ports.extraction import Extraction
from limnograph.ports.lake import LakeListing, ObservedLake
from limnograph.ports.meta_store import Candidates, Known, KnownRow, MetaStore
from limnograph.services.extraction.extract import ENTRIES_AT_ONCE
from limnograph.services.pipeline.appending import MetaAppender
from limnograph.services.pipeline.changes import ObservedTable
from limnograph.services.pipeline.ledger import Ledger, ledger_at
from limnograph.services.pipeline.portions import extracted_whole, shortfall
from limnograph.services.pipeline.survey import Survey, due_of, observed_tables, one_name_each, survey

TABLES_AT_ONCE = 200


class RepairReport(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a repair: the fields of a pass and `snapshots_replaced`. `failed`: tables or snapshots
    that could not be read, as sentences `name: reason`; their rows stay unchanged.
    """

    run_id: str
    tables_seen: int
    tables_changed: int
    snapshots_appended: int = 0
    snapshots_replaced: int
    gaps: int = 0
    unreadable: int
    seconds: float
    failed: tuple[str, ...] = ()

    def document(self) -> dict[str, object]:
        """The report as the contract's JSON."""
        return {name: getattr(self, name) for name in self.__struct_fields__ if name != "failed"}


class _RepairTarget(NamedTuple):
    """A table and the snapshots to read again, in commit order."""

    table: ObservedTable
    ids: list[int]


class Repairs:
    """Replaces rows of one meta store, reading from one lake."""

    def __init__(
        self,
        lake: ObservedLake,
        store: MetaStore,
        extraction: Extraction,
        appending: MetaAppender,
        progress: Callable[[str], None] = lambda _line: None,
        *,
        failpoints: Failpoints | None = None,
    ) -> None:
        self._lake, self._store, self._extraction = lake, store, extraction
        self._appending, self._progress = appending, progress
        self._failpoints = failpoints or Failpoints()

    def damaged(self) -> int:
        """The number of rows that are currently `partial` or `unreadable`. Raises SourceError."""
        return sum(map(len, self._damaged().values()))

    def retry_damaged(self) -> RepairReport:
        """Read rows again that are `partial` or `unreadable`, and replace those that improve.

        Raises SourceError.
        """
        started = time.monotonic()
        damaged = self._damaged()
        self._progress(f"{sum(map(len, damaged.values()))} damaged rows of {len(damaged)} tables")
        return self._improve(damaged, started)

    def deepen(self, rows: Mapping[str, Collection[int]]) -> RepairReport:
        """Read rows (ids by series) again to their manifests' entries, and replace those that improve. Raises
        SourceError.
        """
        return self._improve(rows, time.monotonic())

    def _improve(self, rows: Mapping[str, Collection[int]], started_s: float) -> RepairReport:
        if not rows:
            return _report(_Sum(), None, started_s)
        ledger, listing = self._ledger(), self._lake.listing()
        owners = ledger.owners()
        pointers = [p for p in listing.pointers if owners.get(str(p.name)) in rows]
        found = survey(self._lake, listing, pointers)
        wanted = [
            _RepairTarget(table, [s.snapshot_id for s in table.metadata.ordered if s.snapshot_id in rows[table.uuid]])
            for table in one_name_each(observed_tables(found, self._lake, ledger))
            if table.uuid in rows
        ]
        return self._repair(found, wanted, started_s, only_better=True)

    def reextract(self, name: TableName, since: Micros | None, field: str = "table") -> RepairReport:
        """Read all rows of a table again (`since`: only those committed then, in microseconds, or later). Raises
        InvalidInput on `field` if no such table is observed, SourceError.
        """
        started = time.monotonic()
        listing = self._lake.listing()
        found = survey(self._lake, listing, [_pointer(listing, name, field)])
        head = self._store.head(SNAPSHOTS)
        wanted: list[_RepairTarget] = []
        for table in observed_tables(found, self._lake, self._ledger()):
            if table.name == name:
                everything = [Candidates(table.uuid, None, None)]
                seen = {} if head is None else self._store.known(head, everything).get(table.uuid, {})
                wanted.append(_RepairTarget(table, [i for i in _since(table, since) if i in seen]))
        return self._repair(found, wanted, started, only_better=False)

    def _damaged(self) -> Known:
        head = self._store.head(SNAPSHOTS)
        return {} if head is None else self._store.damaged(head)

    def _ledger(self) -> Ledger:
        return ledger_at(self._store, self._store.head(CHANGES))

    def _repair(
        self, found: Survey, wanted: Sequence[_RepairTarget], started_s: float, *, only_better: bool
    ) -> RepairReport:
        done = _Sum()
        self._progress(f"{sum(len(w.ids) for w in wanted)} snapshots of {len(wanted)} tables to re-extract")
        for part in _rounds(wanted):
            stand = self._standing(part)
            due = [due_of(w.table, w.ids, stand.get(w.table.uuid, {}), done.run_id, source="backfill") for w in part]
            extracted = extracted_whole(self._extraction, due)
            done.failed |= shortfall(due, extracted)
            rows = _worth_it(extracted.rows, stand, only_better=only_better)
            self._replace(rows)
            done.changed |= set(rows.column("table_uuid").to_pylist())
            done.replaced += rows.num_rows
            self._progress(f"{done.replaced} rows replaced")
        return _report(done, found, started_s)

    def _replace(self, rows: pa.Table) -> None:
        if rows.num_rows:
            self._failpoints.reach("before_replace_rows")
            self._appending.repair(rows)
            self._failpoints.reach("after_replace_rows")

    def _standing(self, part: Sequence[_RepairTarget]) -> Known:
        """The current rows of the tables."""
        return self._store.known(self._store.head(SNAPSHOTS), [Candidates(w.table.uuid, None, None) for w in part])


class _Sum:
    """The results of one repair's rounds so far."""

    def __init__(self) -> None:
        self.run_id = str(uuid.uuid4())
        self.replaced = 0
        self.changed: set[str] = set()
        self.failed: dict[TableName, str] = {}


def _report(done: _Sum, found: Survey | None, started_s: float) -> RepairReport:
    failed = done.failed | found.failed if found else {}
    sentences = [f"{name}: {reason}" for name, reason in sorted(failed.items())]
    return RepairReport(
        run_id=done.run_id,
        tables_seen=len(found.readable) + len(found.damaged) + len(found.failed) if found else 0,
        tables_changed=len(done.changed),
        snapshots_replaced=done.replaced,
        unreadable=len(found.damaged) if found else 0,
        seconds=round(time.monotonic() - started_s, 3),
        failed=(*(found.listing.failed if found else ()), *sentences),
    )


def _since(table: ObservedTable, since: Micros | None) -> list[int]:
    """Snapshots in commit order; one without a time is always included."""
    return [
        s.snapshot_id
        for s in table.metadata.ordered
        if since is None or s.committed_at is None or s.committed_at >= since
    ]


def _pointer(listing: LakeListing, name: TableName, field: str) -> TablePointer:
    found = next((pointer for pointer in listing.pointers if pointer.name == name), None)
    if found is None and name.catalog not in listing.complete and listing.failed:
        raise SourceUnavailable(f"catalog {name.catalog}", "; ".join(listing.failed))
    if found is None:
        raise InvalidInput(field, f"{name} is not among the {len(listing.pointers)} observed tables")
    return found


def _rounds(wanted: Sequence[_RepairTarget]) -> Iterator[list[_RepairTarget]]:
    """Parts that are extracted and committed together: per table no more snapshots than are read to their entries at
    once, in commit order, so that a row may be a difference from its parent's.
    """
    for first in range(0, len(wanted), TABLES_AT_ONCE):
        group = wanted[first : first + TABLES_AT_ONCE]
        parts = [[_RepairTarget(w.table, ids) for ids in _chunks(w.ids)] for w in group]
        for part in zip_longest(*parts):
            yield [w for w in part if w is not None]


def _chunks(ids: list[int]) -> list[list[int]]:
    return [ids[i : i + ENTRIES_AT_ONCE] for i in range(0, len(ids), ENTRIES_AT_ONCE)]


def _worth_it(rows: pa.Table, stand: Known, *, only_better: bool) -> pa.Table:
    """Rows that are better than the ones they would replace; `only_better` false: at least as good."""
    names = ("table_uuid", "snapshot_id", "status", "tier")
    keep: list[bool] = []
    for series, snapshot_id, status, tier in zip(*(rows.column(name).to_pylist() for name in names), strict=True):
        old = stand.get(series, {}).get(snapshot_id)
        new = KnownRow(has_partitions=False, status=status, tier=tier)
        keep.append(old is not None and (new.rank > old.rank or (not only_better and new.rank == old.rank)))
    return rows.filter(pa.array(keep, pa.bool_()))
