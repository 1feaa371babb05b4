"""Cuts what is new into units of work, and these into portions: newest first, whole days, fair to all tables. Pure.

A unit is what one task extracts: snapshots of one table within 32 days. A portion is what one append makes durable.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

import pyarrow as pa

from limnograph.domain.ids import TableName
from limnograph.domain.metadata.due import DueTable
from limnograph.domain.metadata.table import Snapshot
from limnograph.domain.time import MICROS_PER_SECOND
from limnograph.ports.extraction import ExtractedRows, Extraction
from limnograph.ports.meta_store import Candidates, Known
from limnograph.services.pipeline.changes import ObservedTable
from limnograph.services.pipeline.ledger import Ledger
from limnograph.services.pipeline.sightings import above_floor
from limnograph.services.pipeline.survey import due_of, one_name_each

DAY_MICROS = 86_400 * MICROS_PER_SECOND
BLOCK_DAYS = 32
"""Days of a unit, counted back from the day of the table's newest commit: 31 full days and the newest, partial one.
Calendar days, so that a day is rolled up once.
"""
UNIT_SNAPSHOTS = 500
"""Most rows of a unit, of one table or one day of it: each unit has the table's whole deadline."""
PORTION_ROWS = 2_000
"""Rows of a portion: a few seconds of work, a few megabytes. The size of rows is bounded where they are built."""


class Unit(NamedTuple):
    """`rank`: 0 for the table's newest block of days, and so on. `span`: the location of its rows."""

    rank: int
    due: DueTable
    span: Candidates

    @property
    def rows(self) -> int:
        """The number of its rows."""
        return len(self.due.snapshot_ids)


def units_of(
    tables: list[ObservedTable], known: Known, ledger: Ledger, run_id: str, failing: Collection[TableName] = ()
) -> list[Unit]:
    """New snapshots of all tables, by set difference: newest blocks first, and `failing` tables after the others, which
    they must not delay.
    """
    found: list[Unit] = []
    for table in one_name_each(tables):
        seen = known.get(table.uuid, {})
        new = [s for s in table.metadata.ordered if s.snapshot_id not in seen and above_floor(table, s, ledger)]
        for rank, part in _parts(new, _newest_day(table)):
            due = due_of(table, [s.snapshot_id for s in part], seen, run_id)
            found.append(Unit(rank, due, span_of(table.uuid, part)))
    return sorted(
        found, key=lambda unit: (unit.rank > 0, unit.due.name in failing, unit.rank, -(unit.span.latest or 0))
    )


def portions(units: Sequence[Unit], failing: Collection[TableName] = ()) -> deque[list[Unit]]:
    """Units grouped in their order: newest blocks separate from older ones, failing tables separate from others."""
    found: deque[list[Unit]] = deque()
    for _, group in groupby(units, key=lambda unit: (unit.rank > 0, unit.due.name in failing)):
        found.extend(_packed(group))
    return found


def span_of(uuid: str, snapshots: Iterable[Snapshot]) -> Candidates:
    """The location of these snapshots' rows."""
    times = [snapshot.committed_at for snapshot in snapshots]
    known = [time for time in times if time is not None]
    return Candidates(uuid, None, None) if len(known) < len(times) else Candidates(uuid, min(known), max(known))


def without(units: Sequence[Unit], known: Known) -> list[Unit]:
    """The remaining rows of units if some were written meanwhile."""
    found: list[Unit] = []
    for unit in units:
        seen = known.get(unit.due.table_uuid, {})
        ids = [i for i in unit.due.snapshot_ids if i not in seen]
        if ids:
            found.append(unit if len(ids) == unit.rows else unit._replace(due=unit.due.only(ids)))
    return found


def extracted_whole(extraction: Extraction, due: Sequence[DueTable]) -> ExtractedRows:
    """Rows of all due tables, in as many rounds as necessary."""
    rows: list[pa.Table] = []
    missed: dict[int, str] = {}
    places = list(range(len(due)))
    while places or not rows:
        found = extraction.run([due[place] for place in places])
        rows.append(found.rows)
        missed |= {places[place]: reason for place, reason in found.missed.items()}
        places = [places[place] for place in sorted(found.unreached)]
    return ExtractedRows(pa.concat_tables(rows), missed)


def shortfall(due: Sequence[DueTable], extracted: ExtractedRows) -> dict[TableName, str]:
    """Tables that were tried and returned fewer rows than were due; they stay due."""
    got = Counter(extracted.rows.column("table_uuid").to_pylist())
    wanted: Counter[tuple[TableName, str]] = Counter()
    reasons: dict[TableName, str] = {}
    for place, table in enumerate(due):
        if place not in extracted.unreached:
            wanted[table.name, table.table_uuid] += len(table.snapshot_ids)
        if place in extracted.missed:
            reasons.setdefault(table.name, f": {extracted.missed[place]}")
    return {
        name: f"{count - got[uuid]} of {count} snapshots could not be read{reasons.get(name, '')}"
        for (name, uuid), count in wanted.items()
        if count > got[uuid]
    }


def _newest_day(table: ObservedTable) -> int:
    times = (snapshot.committed_at for snapshot in table.metadata.snapshots.values())
    return max((time for time in times if time is not None), default=0) // DAY_MICROS


def _parts(new: Sequence[Snapshot], newest_day: int) -> Iterator[tuple[int, list[Snapshot]]]:
    """Blocks of days, newest first, split if they are large. Snapshots without a time belong to the newest."""
    blocks: dict[int, dict[int, list[Snapshot]]] = {}
    for snapshot in new:
        day = newest_day if snapshot.committed_at is None else snapshot.committed_at // DAY_MICROS
        blocks.setdefault((newest_day - day) // BLOCK_DAYS, {}).setdefault(day, []).append(snapshot)
    for rank in sorted(blocks):
        part: list[Snapshot] = []
        for day in sorted(blocks[rank], reverse=True):
            snapshots = blocks[rank][day]
            if part and len(part) + len(snapshots) > UNIT_SNAPSHOTS:
                yield rank, part
                part = []
            while len(snapshots) > UNIT_SNAPSHOTS:
                yield rank, snapshots[-UNIT_SNAPSHOTS:]
                snapshots = snapshots[:-UNIT_SNAPSHOTS]
            part = [*snapshots, *part]
        yield rank, part


def _packed(units: Iterable[Unit]) -> Iterator[list[Unit]]:
    portion: list[Unit] = []
    rows = 0
    for unit in units:
        if portion and rows + unit.rows > PORTION_ROWS:
            yield portion
            portion, rows = [], 0
        portion.append(unit)
        rows += unit.rows
    if portion:
        yield portion
