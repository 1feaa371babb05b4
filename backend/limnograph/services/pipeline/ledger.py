"""The contents of `changes`, indexed: latest value of every state, main's log, first observations, owners of names.
Rows that a pass adds are added here too, so that one pass writes nothing twice. Names and health of all tables are
loaded at the start; the states of a series are read on demand, because a lake has many tables and a pass reads few.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable

from limnograph.domain.facts.meta_tables import ChangeFact
from limnograph.domain.ids import TableName
from limnograph.domain.metadata.table import MAIN
from limnograph.domain.time import EPOCH, Micros
from limnograph.ports.meta_store import MetaStore

EVENTS = ("first_seen", "gap")
States = Callable[[Collection[str]], Iterable[ChangeFact]]
"""Rows of some series other than names and health."""


def ledger_at(store: MetaStore, head: int | None) -> Ledger:
    """The rows at a head of `changes`. Raises SourceError, also later when states are read."""
    return Ledger(store.names(head), lambda series: store.states(head, series))


class Ledger:
    """Index over rows of `changes` in any order. Without `states` the rows are complete."""

    def __init__(self, rows: Iterable[ChangeFact] = (), states: States | None = None) -> None:
        self._latest: dict[tuple[str, str], dict[str | None, ChangeFact]] = {}
        self._events: dict[tuple[str, str], dict[str | None, ChangeFact]] = {}
        self._main: dict[str, set[tuple[str | None, int]]] = {}
        self._newest: dict[str, Micros] = {}
        self._names: dict[str, dict[str | None, ChangeFact]] = {}
        self._dropped: dict[str, dict[str | None, ChangeFact]] = {}
        self._named_series: set[str | None] = set()
        self._owners: dict[str, str] | None = None
        self._states, self._asked = states, set[str]()
        for row in rows:
            self.add(row)

    def need(self, series: Iterable[str]) -> None:
        """Load the states of these series. Raises SourceError."""
        absent = set(series) - self._asked
        if self._states is not None and absent:
            for row in self._states(absent):
                self.add(row)
        self._asked |= absent

    def add(self, row: ChangeFact) -> None:
        """Add a row. Of two rows with the same key the later event counts; rows of this pass take precedence."""
        who = row.table_uuid or name_of(row)
        if row.kind in EVENTS:
            _put_oldest(self._events.setdefault((who, row.kind), {}), row.subject, row)
        elif row.kind == "ref" and row.subject == MAIN:
            self._main.setdefault(who, set()).add((row.to_value, row.at))
        elif row.kind in {"named", "dropped"}:
            self._add_name(who, row)
        elif row.kind != "unreadable" or not self._dropped_since(row):
            _put_newest(self._latest.setdefault((who, row.kind), {}), row.subject, row)
        if row.kind not in {*EVENTS, "named", "dropped", "unreadable"}:
            self._newest[who] = max(self._newest.get(who, EPOCH), row.at)

    def _add_name(self, who: str, row: ChangeFact) -> None:
        name = row.subject or name_of(row)
        _put_newest(self._names.setdefault(name, {}), row.table_uuid, row)
        self._named_series.add(row.table_uuid)
        self._owners = None
        if row.kind == "dropped":
            _put_newest(self._dropped.setdefault(who, {}), row.subject, row)
            sick = self._latest.get((who, "unreadable"), {})
            if row.subject in sick and _order(sick[row.subject]) <= _order(row):
                del sick[row.subject]

    def _dropped_since(self, row: ChangeFact) -> bool:
        """Whether the name in a row of health was dropped after that row."""
        there = self._dropped.get(row.table_uuid or name_of(row), {}).get(row.subject)
        return there is not None and _order(there) > _order(row)

    def latest(self, who: str, kind: str, subject: str | None) -> ChangeFact | None:
        """Newest row of a state."""
        return self._latest.get((who, kind), {}).get(subject)

    def subjects(self, who: str, kind: str) -> list[str | None]:
        """Subjects of a kind of state that currently have a value."""
        return [s for s, row in self._latest.get((who, kind), {}).items() if row.to_value is not None]

    def main_log(self, uuid: str) -> set[tuple[str | None, int]]:
        """`(snapshot id, instant)` of every known move of main."""
        return self._main.get(uuid, set())

    def newest(self, uuid: str) -> Micros:
        """Instant up to which the table's own metadata has been read; 0 if never."""
        return self._newest.get(uuid, EPOCH)

    def event(self, uuid: str, kind: str, subject: str | None) -> ChangeFact | None:
        """An event by its subject."""
        return self._events.get((uuid, kind), {}).get(subject)

    def holds(self, row: ChangeFact) -> bool:
        """Whether a row is redundant: its event exists, or its state is current or superseded."""
        who = row.table_uuid or name_of(row)
        if row.kind == "first_seen":
            return self.first_seen(who) is not None
        if row.kind == "gap":
            return self.event(who, "gap", row.subject) is not None
        if row.kind == "ref" and row.subject == MAIN:
            return (row.to_value, row.at) in self.main_log(who)
        if row.kind in {"named", "dropped"}:
            there = self._names.get(row.subject or name_of(row), {}).get(row.table_uuid)
            return there is not None and there.kind == row.kind
        latest = self.latest(who, row.kind, row.subject)
        return latest is not None and (latest.to_value == row.to_value or latest.at > row.at)

    def first_seen(self, uuid: str) -> ChangeFact | None:
        """The row that must exist before a snapshot of the series is written."""
        rows = self._events.get((uuid, "first_seen"))
        return min(rows.values(), key=_order) if rows else None

    def seen_before(self, uuid: str, now: Micros) -> bool:
        """Whether an earlier pass saw the series."""
        row = self.first_seen(uuid)
        return row is not None and row.at < now

    def owners(self) -> dict[str, str]:
        """The series that has each name now; if several do, the one that took it last."""
        if self._owners is None:
            self._owners = {}
            for name, bearers in self._names.items():
                standing = [row for uuid, row in bearers.items() if uuid and row.kind == "named"]
                if standing:
                    self._owners[name] = max(standing, key=_order).table_uuid or ""
        return self._owners

    def ever_named(self, name: str, uuid: str) -> bool:
        """Whether any series had the name before, or the series had any name."""
        return name in self._names or uuid in self._named_series

    def nameless_unreadable(self) -> set[str]:
        """Names that were never readable and are still unreadable."""
        return {
            row.subject
            for (_, kind), rows in self._latest.items()
            if kind == "unreadable"
            for row in rows.values()
            if row.table_uuid is None and row.to_value is not None and row.subject
        }


def _order(row: ChangeFact) -> tuple[int, int]:
    """Sort key: when it happened, then when it was recorded; unrecorded rows are the latest."""
    return row.at, sys.maxsize if row.observed_at is None else row.observed_at


def _put_newest(rows: dict[str | None, ChangeFact], key: str | None, row: ChangeFact) -> None:
    old = rows.get(key)
    if old is None or _order(row) >= _order(old):
        rows[key] = row


def _put_oldest(rows: dict[str | None, ChangeFact], key: str | None, row: ChangeFact) -> None:
    old = rows.get(key)
    if old is None or _order(row) < _order(old):
        rows[key] = row


def name_of(row: ChangeFact) -> str:
    """Dotted name of the table that a row is about."""
    return str(TableName(row.catalog or "", row.namespace or "", row.table or ""))
