"""How the hot lake changes: a new read of the window, new rows, facts of the watcher, evicted hours. Pure functions
that return a new lake; tables that did not change remain the same objects.
"""

from __future__ import annotations

from collections import defaultdict

from limnograph.domain.facts.meta_tables import ChangeFact, SnapshotFact
from limnograph.domain.time import Micros
from limnograph.services.lake.fresh import ArrivedRows
from limnograph.services.lake.lake import Facts, Lake
from limnograph.services.lake.loading import LoadedSpan
from limnograph.services.lake.table import HotTable, states_once


def renewed(lake: Lake, read: LoadedSpan, observed_at: Micros | None) -> Lake:
    """The window as read again, plus what only the watcher knows."""
    watched = (_with_watched(read.tables.get(old.uuid), old) for old in lake.tables.values())
    kept = {table.uuid: table for table in watched if table is not None}
    gone = [uuid for uuid in lake.tables if uuid not in kept]
    tables = [*kept.values(), *(table for uuid, table in read.tables.items() if uuid not in lake.tables)]
    nameless = states_once([*read.nameless, *(c for c in lake.nameless if c not in read.nameless)])
    return lake.changed(tables, gone=gone, observed_at=observed_at, nameless=nameless, edges={})


def _with_watched(read: HotTable | None, old: HotTable) -> HotTable | None:
    """A table as read again, plus its earlier moves and changes and the rows that only the watcher has seen."""
    watched = old.provisional | old.completed
    if read is None:
        return old if watched or not old.rows.height else None
    return read.with_moves(old.moves()).with_changes(old.changes).with_watched(old)


def grown(lake: Lake, read: ArrivedRows, observed_at: Micros | None) -> Lake:
    """The lake with new rows. O(new rows)."""
    tables = [read.put(lake.tables.get(uuid, HotTable(uuid))) for uuid in sorted(read.uuids)]
    tables = [table for table in tables if lake.tables.get(table.uuid) is not table]
    nameless = states_once([*lake.nameless, *read.nameless]) if read.nameless else None
    return lake.changed(tables, observed_at=observed_at, nameless=nameless)


def watched(lake: Lake, facts: Facts) -> Lake:
    """The lake with the watcher's facts merged into the durable ones. O(new facts)."""
    rows, changes = _by_table(facts)
    tables = []
    for uuid in sorted({*rows, *(uuid for uuid in changes if uuid is not None)}):
        old = lake.tables.get(uuid, HotTable(uuid))
        table = old.with_provisional(rows.get(uuid, ())).with_changes(changes.get(uuid, ()))
        if table is not old:
            tables.append(table)
    nameless = states_once([*lake.nameless, *changes[None]]) if None in changes else None
    return lake.changed(tables, nameless=nameless)


def _by_table(facts: Facts) -> tuple[dict[str, list[SnapshotFact]], dict[str | None, list[ChangeFact]]]:
    rows: dict[str, list[SnapshotFact]] = defaultdict(list)
    changes: dict[str | None, list[ChangeFact]] = defaultdict(list)
    for row in facts.snapshots:
        rows[row.table_uuid].append(row)
    for change in facts.changes:
        changes[change.table_uuid].append(change)
    return rows, changes


def trimmed(lake: Lake, floor: Micros) -> Lake:
    """The lake without rows and moves before `floor` (epoch microseconds), except for the states at that edge."""
    found = []
    for table in lake.tables.values():
        shorter = table.trimmed(floor)
        if shorter is not table:
            found.append(shorter)
    return lake.changed(found, floor=floor)
