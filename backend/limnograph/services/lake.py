"""Everything known about all tables over a span of time, as one immutable value: histories, names, damaged names.

Built from facts; provisional facts of the watcher are laid over durable ones without erasing a known value.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

import msgspec

from limnograph.domain.errors import NotFound
from limnograph.domain.facts import ChangeFact, SnapshotFact
from limnograph.domain.ids import TableName
from limnograph.services.history import History, standing_names


class Facts(NamedTuple):
    """Rows of the meta tables, or what the watcher saw."""

    snapshots: list[SnapshotFact]
    changes: list[ChangeFact]


class Lake(NamedTuple):
    """`floor`: nothing older than this instant is complete, but carry-in. `damaged`: names never readable.

    `names`: who had a name last, `since` that instant.
    """

    histories: dict[str, History]
    names: dict[TableName, str]
    damaged: dict[TableName, ChangeFact]
    floor: int
    observed_at: int | None
    facts: Facts
    since: dict[TableName, int]

    def find(self, name: TableName) -> History | None:
        """History under a name, current or former; None for a name that was never readable. Raises NotFound."""
        uuid = self.names.get(name)
        if uuid is not None:
            return self.histories[uuid]
        if name in self.damaged:
            return None
        raise NotFound(f"no table {name} is known")

    def current(self) -> list[History]:
        """Histories of tables that are still listed, by name."""
        return sorted((h for h in self.histories.values() if not h.dropped), key=lambda history: history.name)


EMPTY = Lake({}, {}, {}, 0, None, Facts([], []), {})


def build(durable: Facts, provisional: Facts, floor: int) -> Lake:
    """A lake of durable facts with provisional ones laid over."""
    rows: dict[str, dict[int, SnapshotFact]] = defaultdict(dict)
    for row in durable.snapshots:
        rows[row.table_uuid][row.snapshot_id] = row
    fresh: dict[str, set[int]] = defaultdict(set)
    for row in provisional.snapshots:
        known = rows[row.table_uuid].get(row.snapshot_id)
        if known is None:
            fresh[row.table_uuid].add(row.snapshot_id)
        rows[row.table_uuid][row.snapshot_id] = row if known is None else completed(known, row)
    changes = _by_table([*durable.changes, *provisional.changes])
    names = _names(rows, changes)
    histories = {
        uuid: History(uuid, name, rows.get(uuid, {}), changes.get(uuid, ()), frozenset(fresh.get(uuid, ())))
        for uuid, name in _current_names(names, changes).items()
    }
    ordered = sorted(names, key=lambda entry: entry[2])
    by_name = {name: uuid for name, uuid, _ in ordered}
    since = {name: at for name, _, at in ordered}
    damaged = _damaged(changes.get(None, ()), by_name)
    return Lake(histories, by_name, damaged, floor, read_until(durable), durable, since)


def read_until(durable: Facts) -> int | None:
    """When the newest pass looked at the lake: its earliest observation. Its later rows were read after that."""
    passes: dict[str | int, int] = {}
    for fact in _all(durable):
        if fact.observed_at is not None:
            key = fact.run_id or fact.observed_at
            passes[key] = min(passes.get(key, fact.observed_at), fact.observed_at)
    return max(passes.values(), default=None)


def by_table(facts: Facts) -> dict[str | None, Facts]:
    """Facts of each table; None holds those of names that were never readable."""
    found: dict[str | None, Facts] = defaultdict(lambda: Facts([], []))
    for row in facts.snapshots:
        found[row.table_uuid].snapshots.append(row)
    for change in facts.changes:
        found[change.table_uuid].changes.append(change)
    return dict(found)


def patched(lake: Lake, newer: Lake, *, gone: Collection[str | None], nameless: bool) -> Lake:
    """A lake in which the tables of `newer` replace their older selves, the tables `gone`; all others are shared.

    `nameless`: `newer` also has all that is known of names that were never readable.
    """
    names = {name: uuid for name, uuid in lake.names.items() if uuid not in gone}
    for name, uuid in newer.names.items():
        # A table that was dropped and made again: the name belongs to who got it last.
        if name not in names or newer.since[name] >= lake.since[name]:
            names[name] = uuid
    damaged = newer.damaged if nameless else lake.damaged
    return lake._replace(
        histories={uuid: h for uuid, h in lake.histories.items() if uuid not in gone} | newer.histories,
        names=names,
        since={
            name: newer.since[name] if newer.names.get(name) == uuid else lake.since[name]
            for name, uuid in names.items()
        },
        damaged={name: change for name, change in damaged.items() if name not in names},
    )


def completed(durable: SnapshotFact, provisional: SnapshotFact) -> SnapshotFact:
    """The durable row; where it knows nothing, what the watcher knew."""
    missing = {
        name: value
        for name in durable.__struct_fields__
        if getattr(durable, name) is None and (value := getattr(provisional, name)) is not None
    }
    return msgspec.structs.replace(durable, **missing) if missing else durable


def _all(facts: Facts) -> Iterable[SnapshotFact | ChangeFact]:
    yield from facts.snapshots
    yield from facts.changes


def _by_table(changes: Sequence[ChangeFact]) -> dict[str | None, list[ChangeFact]]:
    """Grouped, and each said once: watcher and pipeline date the same state by when each of them saw it."""
    found: dict[str | None, dict[tuple[object, ...], ChangeFact]] = defaultdict(dict)
    for change in changes:
        found[change.table_uuid].setdefault(_identity(change), change)
    return {uuid: _states_once(group.values()) for uuid, group in found.items()}


def _states_once(changes: Iterable[ChangeFact]) -> list[ChangeFact]:
    """Without rows that repeat the state that stands; entries of main's log are events and all stay."""
    kept: list[ChangeFact] = []
    standing: dict[tuple[object, ...], str | None] = {}
    for change in sorted(changes, key=lambda change: change.at):
        if change.kind not in _STATES or (change.kind == "ref" and change.subject == "main"):
            kept.append(change)
            continue
        key = (change.catalog, change.namespace, change.table, change.kind, change.subject)
        if key not in standing or standing[key] != change.to_value:
            kept.append(change)
        standing[key] = change.to_value
    return kept


_STATES = {"schema", "spec", "sort_order", "property", "ref", "unreadable"}


def _identity(change: ChangeFact) -> tuple[object, ...]:
    return (change.catalog, change.namespace, change.table, change.kind, change.subject, change.to_value, change.at)


_Named = tuple[TableName, str, int]


def _names(rows: dict[str, dict[int, SnapshotFact]], changes: dict[str | None, list[ChangeFact]]) -> list[_Named]:
    """`(name, uuid, since)`: from `named` changes; for a table without one, from its rows."""
    found: list[_Named] = []
    named: set[str] = set()
    for uuid, group in changes.items():
        for change in group:
            name = _name_of(change)
            if uuid is not None and change.kind == "named" and name:
                found.append((name, uuid, change.at))
                named.add(uuid)
    for uuid in (set(rows) | {uuid for uuid in changes if uuid is not None}) - named:
        facts: list[SnapshotFact | ChangeFact] = [*rows.get(uuid, {}).values(), *changes.get(uuid, ())]
        newest = max(facts, key=lambda fact: fact.observed_at or 0)
        if name := _name_of(newest):
            found.append((name, uuid, newest.observed_at or 0))
    return found


def _current_names(names: list[_Named], changes: dict[str | None, list[ChangeFact]]) -> dict[str, TableName]:
    """The name that a table got last and did not lose; the last one it had when it lost all."""
    found: dict[str, TableName] = {}
    lost: dict[str, set[TableName | None]] = {}
    for uuid, group in changes.items():
        if uuid is not None:
            gone = (change for change in standing_names(group).values() if change.kind == "dropped")
            lost[uuid] = {_name_of(change) for change in gone}
    for name, uuid, _ in sorted(names, key=lambda entry: entry[2]):
        if uuid not in found or name not in lost.get(uuid, ()):
            found[uuid] = name
    return found


def _name_of(fact: SnapshotFact | ChangeFact) -> TableName | None:
    return TableName(fact.catalog, fact.namespace or "", fact.table) if fact.catalog and fact.table else None


def _damaged(changes: Iterable[ChangeFact], names: dict[TableName, str]) -> dict[TableName, ChangeFact]:
    """Names that were never readable and are still listed, with their newest `unreadable` change."""
    newest: dict[TableName, ChangeFact] = {}
    for change in sorted(changes, key=lambda change: change.at):
        name = _name_of(change)
        if name is None or name in names:
            continue
        if change.kind == "dropped" or (change.kind == "unreadable" and change.to_value is None):
            newest.pop(name, None)
        elif change.kind == "unreadable":
            newest[name] = change
    return newest
