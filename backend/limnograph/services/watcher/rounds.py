"""The watcher's rounds: probe all pointers, read the tables that changed, report their facts. Writes nothing. It starts
from the rows of the meta tables in the window: with a pipeline it reports only newer facts, without one the whole
window.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import msgspec

from limnograph import __version__
from limnograph.domain.errors import LimnographError
from limnograph.domain.facts.meta_tables import ChangeFact
from limnograph.domain.ids import TableName
from limnograph.domain.metadata.due import DueTable
from limnograph.domain.time import Micros
from limnograph.domain.watch import PartedTable, ProbeRound, Trouble
from limnograph.ports.clock import Clock
from limnograph.ports.lake import LakeListing, ObservedLake
from limnograph.ports.query_engine import MetaQuery, QueryEngine
from limnograph.services.lake.loading import change_facts
from limnograph.services.pipeline.backoff import BackOff
from limnograph.services.pipeline.changes import ObservedTable
from limnograph.services.pipeline.ledger import Ledger
from limnograph.services.pipeline.survey import first_sights, observed_tables, other_changes, survey
from limnograph.services.watcher.shared_locations import SharedLocations

FIRST_SECONDS, CAP_SECONDS = 2, 300
"""A table that does not respond may delay a round by its deadline, so it is retried with exponential back-off."""
PART = 500
"""Most snapshots of one message, about a megabyte."""


class Watcher:
    """One per process. `window_us`: how much of a table's history is reported when it is first observed."""

    def __init__(self, lake: ObservedLake, engine: QueryEngine, clock: Clock, window_us: int) -> None:
        self._lake, self._engine, self._clock, self._window_us = lake, engine, clock, window_us
        self._ledger: Ledger | None = None
        self._known: dict[str, set[int]] = defaultdict(set)
        self._settled: dict[TableName, str] = {}
        self._backoff = BackOff(FIRST_SECONDS, CAP_SECONDS)
        self._heads = SharedLocations()
        self._last: LakeListing | None = None
        self._complete: frozenset[str] = frozenset()

    def round(self) -> Iterator[ProbeRound]:
        """One round in one or more messages; the last one reports whether everything was read."""
        at_us = self._clock.now()
        try:
            ledger = self._start(at_us)
        except LimnographError as error:
            yield ProbeRound(at_us, 0, troubles=[Trouble("meta", str(error))])
            return
        listing = self._lake.listing()
        waiting = self._backoff.waiting(at_us)
        if self._nothing_new(listing) and len(waiting) == len(self._backoff.failing):
            reasons = {name: failure.reason for name, failure in waiting.items()}
            yield _ended(at_us, listing, reasons, self._heads.parted())
            return
        self._backoff.forget({pointer.name for pointer in listing.pointers})
        moved = [p for p in listing.pointers if self._settled.get(p.name) != p.location and p.name not in waiting]
        if moved and self._last is None:  # reading takes a while: report first what there is to read
            yield ProbeRound(at_us, len(listing.pointers), last=False, listed=len(listing.listed))
        found = survey(self._lake, listing, moved)
        tables = observed_tables(found, self._lake, ledger)
        self._heads.see({table.name: table.metadata for table in tables}, listing.listed)
        changes = self._stamped(
            [*first_sights(tables, ledger, at_us), *other_changes(found, tables, ledger, at_us)], at_us
        )
        if changes:
            yield ProbeRound(at_us, len(listing.pointers), changes=changes, last=False)
        for table in tables:
            with found.isolated(table.name):
                yield from self._snapshots(table, at_us, len(listing.pointers))
        self._settled.update({p.name: p.location for p in moved if p.name not in found.failed})
        self._backoff.settle((pointer.name for pointer in moved), found.failed, at_us)
        self._looked_at(listing)
        reasons = {**{name: failure.reason for name, failure in waiting.items()}, **found.failed}
        yield _ended(at_us, listing, reasons, self._heads.parted())

    def _nothing_new(self, listing: LakeListing) -> bool:
        """Whether pointers and names are unchanged since the last round; they are the same objects then."""
        last = self._last
        same = last is not None and listing.pointers is last.pointers and listing.listed is last.listed
        return same and listing.complete <= self._complete

    def _looked_at(self, listing: LakeListing) -> None:
        same = self._last is not None and self._last.listed is listing.listed
        self._complete = (self._complete if same else frozenset()) | listing.complete
        self._last = listing

    def _start(self, at_us: Micros) -> Ledger:
        """The contents of the meta tables, read once. Raises SourceError."""
        if self._ledger is None:
            ledger = Ledger(change_facts(self._engine.select(MetaQuery(table="changes"))))
            columns = ("table_uuid", "snapshot_id")
            rows = self._engine.select(MetaQuery(table="snapshots", columns=columns, start=at_us - self._window_us))
            for uuid, snapshot_id in rows.iter_rows():
                self._known[uuid].add(snapshot_id)
            self._ledger = ledger
        return self._ledger

    def _snapshots(self, table: ObservedTable, at_us: Micros, tables: int) -> Iterator[ProbeRound]:
        """Facts of the table's new snapshots inside the window, and of main's snapshot even if it is older."""
        metadata = table.metadata
        floor_us = at_us - self._window_us
        new = [
            s.snapshot_id
            for s in metadata.ordered
            if s.snapshot_id not in self._known[table.uuid]
            and (s.committed_at is None or s.committed_at >= floor_us or s.snapshot_id == metadata.head_id)
        ]
        if not new:
            return
        due = DueTable(
            catalog=table.name.catalog,
            namespace=table.name.namespace,
            table=table.name.table,
            table_uuid=table.uuid,
            metadata_location=metadata.metadata_location,
            snapshot_ids=new,
            format=metadata.format,
            source="poll",
        )
        facts = self._lake.tables.extract(due)
        for first in range(0, len(facts), PART):
            yield ProbeRound(at_us, tables, snapshots=facts[first : first + PART], last=False)
        self._known[table.uuid].update(fact.snapshot_id for fact in facts)

    @staticmethod
    def _stamped(rows: list[ChangeFact], at_us: Micros) -> list[ChangeFact]:
        return [msgspec.structs.replace(row, observed_at=at_us, extractor_version=__version__) for row in rows]


def _ended(at_us: Micros, listing: LakeListing, failing: dict[TableName, str], parted: list[PartedTable]) -> ProbeRound:
    """The last message of a round."""
    failed = [*map(str, failing), *_unlocated(listing)]
    troubles, read = _troubles(listing, failing), sorted(listing.answered)
    return ProbeRound(
        at_us,
        len(listing.pointers),
        troubles=troubles,
        read=read,
        failed=failed,
        listed=len(listing.listed),
        catalogs=list(listing.catalogs),
        unmatched=list(listing.unmatched),
        parted=parted,
    )


def _troubles(listing: LakeListing, failing: dict[TableName, str]) -> list[Trouble]:
    failed = [Trouble("catalog", sentence) for sentence in listing.failed]
    return [*failed, *(Trouble(str(name), reason) for name, reason in sorted(failing.items()))]


def _unlocated(listing: LakeListing) -> list[str]:
    """Listed tables without a pointer after a failure, including those whose metadata was not found."""
    if not listing.failed:
        return []
    return sorted(listing.listed.difference(str(pointer.name) for pointer in listing.pointers))
