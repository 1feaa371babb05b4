"""Finds the existing rows of tables' snapshots: only the days that can contain them are read."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from limnograph.domain.time import MICROS_PER_SECOND, truncated
from limnograph.ports.meta_store import Candidates, Known, MetaStore
from limnograph.services.pipeline.changes import ObservedTable

DAY_MICROS = 86_400 * MICROS_PER_SECOND
FRESH_DAYS = 3
"""Tables whose candidates are all this close to the latest one are read separately from those with older history."""


def known_of(store: MetaStore, head: int | None, tables: Collection[ObservedTable], settled: Known) -> Known:
    """Rows at `head` of the snapshots that are not settled, and all rows of the same days: a new row may be a
    difference from one. Raises SourceError.
    """
    found: Known = {}
    if head is not None:
        for group in _groups(list(candidates(tables, settled))):
            for series, rows in store.known(head, group).items():
                found.setdefault(series, {}).update(rows)
    return found


def candidates(tables: Collection[ObservedTable], settled: Known) -> Iterator[Candidates]:
    """Where rows of snapshots that are not settled can be, in whole days."""
    for table in tables:
        known = settled.get(table.uuid, {})
        times = [s.committed_at for s in table.metadata.snapshots.values() if s.snapshot_id not in known]
        told = [time for time in times if time is not None]
        if times:
            whole = len(told) == len(times)
            yield Candidates(
                table.uuid,
                truncated(min(told), DAY_MICROS) if whole else None,
                max(told) if whole else None,
            )


def _groups(wanted: Sequence[Candidates]) -> Iterator[list[Candidates]]:
    """A table with old candidates must not cause the history of all others to be read."""
    newest = max((c.latest for c in wanted if c.latest is not None), default=0)
    border = newest - FRESH_DAYS * DAY_MICROS
    fresh = [c for c in wanted if c.earliest is not None and c.earliest >= border]
    dated = [c for c in wanted if c.earliest is not None and c.earliest < border]
    undated = [c for c in wanted if c.earliest is None]
    yield from (group for group in (fresh, dated, undated) if group)
