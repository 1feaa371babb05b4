"""Commits that expired before any pass saw them: rows `gap` of `changes`, with number and bounds.

A gap is detected by a new snapshot whose parent is in neither the metadata nor the meta table. Its number comes from
sequence numbers: every commit of a table takes one, on any branch. If history that existed when the table was first
observed expired before it was read, the number is unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

from limnograph.domain.facts.meta_tables import ChangeFact
from limnograph.domain.metadata.table import Snapshot, TableMetadata
from limnograph.domain.time import Micros
from limnograph.ports.meta_store import Candidates, Known, KnownRow
from limnograph.services.pipeline.changes import ObservedTable
from limnograph.services.pipeline.ledger import Ledger

REBUILD = "rebuild:"
"""Prefix of the subject of a gap that a rebuild recorded."""


class _Last(NamedTuple):
    """The newest row before a gap."""

    snapshot_id: int
    row: KnownRow


def lost_parents(tables: Iterable[ObservedTable], known: Known, ledger: Ledger, now: Micros) -> list[Candidates]:
    """Series whose rows of all days are needed to decide whether an expired parent was ever seen."""
    return [
        Candidates(table.uuid, None, None)
        for table in tables
        if ledger.seen_before(table.uuid, now) and any(_unseen(table.metadata, known.get(table.uuid, {})))
    ]


def gaps_of(tables: Iterable[ObservedTable], known: Known, ledger: Ledger, now: Micros) -> list[ChangeFact]:
    """Gaps before new snapshots of series that an earlier pass has seen."""
    rows: list[ChangeFact] = []
    for table in tables:
        if ledger.seen_before(table.uuid, now):
            rows += _gaps(table, known.get(table.uuid, {}), ledger, now)
    return rows


def _gaps(table: ObservedTable, seen: dict[int, KnownRow], ledger: Ledger, now: Micros) -> Iterator[ChangeFact]:
    counted = 0
    for child in _unseen(table.metadata, seen):
        last = _last_known(seen, child)
        if last is None:
            # No earlier row: the history of the first observation begins here, or its remaining part.
            if _began_earlier(table, seen, child, ledger):
                yield _gap(table, child, None, None, now)
            continue
        yield _gap(table, child, last, _missed(table.metadata, seen, child, last, counted), now)
        counted = child.sequence_number or 0


def _began_earlier(table: ObservedTable, seen: dict[int, KnownRow], child: Snapshot, ledger: Ledger) -> bool:
    """Whether the oldest snapshot of the first observation expired before it was read, by its number. How many expired
    with it is unknown: not every number in between existed.
    """
    first, ordered = ledger.first_seen(table.uuid), table.metadata.ordered
    told = msgspec.json.decode(first.detail or "{}").get("floor") if first else None
    if first is None or told != "sequence_number" or not (first.to_value or "").isdecimal():
        return False
    if ledger.event(table.uuid, "gap", f"{REBUILD}{ordered[0].snapshot_id}"):
        return False
    floor = int(first.to_value or 0)
    numbers = {s.sequence_number for s in ordered} | {row.sequence_number for row in seen.values()}
    return 0 < floor < (child.sequence_number or 0) and floor not in numbers


def _unseen(metadata: TableMetadata, seen: dict[int, KnownRow]) -> list[Snapshot]:
    """New snapshots whose parent is in neither the metadata nor a known row, in commit order."""
    held = metadata.snapshots.keys() | seen.keys()
    return [
        s for s in metadata.ordered if s.snapshot_id not in seen and s.parent_id is not None and s.parent_id not in held
    ]


def _last_known(seen: dict[int, KnownRow], child: Snapshot) -> _Last | None:
    """The newest row before `child`: by sequence number if both have one, else (format v1, or just upgraded from it) by
    time.
    """
    number, time = child.sequence_number, child.committed_at
    numbered = [
        (row.sequence_number, i)
        for i, row in seen.items()
        if number and row.sequence_number and row.sequence_number < number
    ]
    timed = [
        (row.committed_at, i)
        for i, row in seen.items()
        if time is not None and row.committed_at is not None and row.committed_at <= time
    ]
    chosen = max(numbered or timed, default=None)
    return None if chosen is None else _Last(chosen[1], seen[chosen[1]])


def _missed(
    metadata: TableMetadata, seen: dict[int, KnownRow], child: Snapshot, last: _Last, counted: int
) -> int | None:
    """Sequence numbers between the two that no snapshot has, without those of a previously recorded gap."""
    low, high = last.row.sequence_number, child.sequence_number
    if not low or not high:
        return None
    low = max(low, counted)
    there = {s.sequence_number for s in metadata.snapshots.values()} | {row.sequence_number for row in seen.values()}
    return max(0, high - low - 1) - sum(1 for number in there if number and low < number < high)


def _gap(table: ObservedTable, child: Snapshot, last: _Last | None, missed: int | None, now: Micros) -> ChangeFact:
    bounds: dict[str, Any] = {
        "missed_snapshots": missed,
        "last_known": {"snapshot_id": str(last.snapshot_id), "committed_at": last.row.committed_at} if last else None,
        "first_new": {"snapshot_id": str(child.snapshot_id), "committed_at": child.committed_at},
    }
    return ChangeFact(
        table_uuid=table.uuid,
        catalog=table.name.catalog,
        namespace=table.name.namespace,
        table=table.name.table,
        kind="gap",
        subject=str(child.parent_id),
        from_value=str(last.snapshot_id) if last else None,
        to_value=str(child.snapshot_id),
        not_before=last.row.committed_at if last else None,
        at=now if child.committed_at is None else child.committed_at,
        detail=msgspec.json.encode(bounds).decode(),
        metadata_location=table.metadata.metadata_location,
    )
