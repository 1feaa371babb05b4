"""What `changes` already says, indexed: newest value of every state, main's log, first sights, owners of names.

A value that grows while a pass adds rows to it, so that nothing is written twice in one pass either.
"""

from __future__ import annotations

from collections.abc import Iterable

from limnograph.domain.facts import ChangeFact
from limnograph.domain.ids import TableName
from limnograph.domain.metadata import MAIN

EVENTS = ("first_seen", "gap")
StateKey = tuple[str, str, str | None]
"""`(series or name, kind, subject)`: a name stands in where a table was never readable."""


class Ledger:
    """Index over rows of `changes`."""

    def __init__(self, rows: Iterable[ChangeFact] = ()) -> None:
        self._latest: dict[StateKey, ChangeFact] = {}
        self._events: dict[tuple[str, str], dict[str | None, ChangeFact]] = {}
        self._main: dict[str, set[tuple[str | None, int]]] = {}
        self._newest: dict[str, int] = {}
        self._names: dict[tuple[str | None, str], ChangeFact] = {}
        for row in sorted(rows, key=lambda r: (r.at, r.observed_at or 0)):
            self.add(row)

    def add(self, row: ChangeFact) -> None:
        """Take one more row; rows come in time order."""
        who = row.table_uuid or name_of(row)
        if row.kind in EVENTS:
            self._events.setdefault((who, row.kind), {}).setdefault(row.subject, row)
        elif row.kind == "ref" and row.subject == MAIN:
            self._main.setdefault(who, set()).add((row.to_value, row.at))
        elif row.kind in {"named", "dropped"}:
            self._names[row.table_uuid, row.subject or name_of(row)] = row
            if row.kind == "dropped":
                self._latest.pop((who, "unreadable", row.subject), None)
        else:
            self._latest[who, row.kind, row.subject] = row
        if row.kind not in {*EVENTS, "named", "dropped", "unreadable"}:
            self._newest[who] = max(self._newest.get(who, 0), row.at)

    def latest(self, who: str, kind: str, subject: str | None) -> ChangeFact | None:
        """Newest row of a state."""
        return self._latest.get((who, kind, subject))

    def subjects(self, who: str, kind: str) -> list[str | None]:
        """Subjects of a kind of state that have a value now."""
        return [s for (w, k, s), row in self._latest.items() if w == who and k == kind and row.to_value is not None]

    def main_log(self, uuid: str) -> set[tuple[str | None, int]]:
        """`(snapshot id, instant)` of every known move of main."""
        return self._main.get(uuid, set())

    def newest(self, uuid: str) -> int:
        """Instant up to which the table's own metadata has been read; 0 when never."""
        return self._newest.get(uuid, 0)

    def event(self, uuid: str, kind: str, subject: str | None) -> ChangeFact | None:
        """An event by its subject."""
        return self._events.get((uuid, kind), {}).get(subject)

    def holds(self, row: ChangeFact) -> bool:
        """Whether a row would say nothing new: its event is there, or its state stands so or is newer."""
        who = row.table_uuid or name_of(row)
        if row.kind == "first_seen":
            return self.first_seen(who) is not None
        if row.kind == "gap":
            return self.event(who, "gap", row.subject) is not None
        if row.kind == "ref" and row.subject == MAIN:
            return (row.to_value, row.at) in self.main_log(who)
        if row.kind in {"named", "dropped"}:
            there = self._names.get((row.table_uuid, row.subject or name_of(row)))
            return there is not None and there.kind == row.kind
        latest = self.latest(who, row.kind, row.subject)
        return latest is not None and (latest.to_value == row.to_value or latest.at > row.at)

    def first_seen(self, uuid: str) -> ChangeFact | None:
        """The row without which no snapshot of the series may be written."""
        return next(iter(self._events.get((uuid, "first_seen"), {}).values()), None)

    def seen_before(self, uuid: str, now: int) -> bool:
        """Whether an earlier pass had seen the series."""
        row = self.first_seen(uuid)
        return row is not None and row.at < now

    def owners(self) -> dict[str, str]:
        """Series that has each name now."""
        return {name: uuid for (uuid, name), row in self._names.items() if uuid and row.kind == "named"}

    def ever_named(self, name: str, uuid: str) -> bool:
        """Whether any series had the name before, or the series any name."""
        return any(name == known or uuid == bearer for bearer, known in self._names)

    def nameless_unreadable(self) -> set[str]:
        """Names that were never readable and stand as unreadable."""
        return {
            row.subject
            for row in self._latest.values()
            if row.kind == "unreadable" and row.table_uuid is None and row.to_value is not None and row.subject
        }


def name_of(row: ChangeFact) -> str:
    """Dotted name of the table that a row speaks of."""
    return str(TableName(row.catalog or "", row.namespace or "", row.table or ""))
