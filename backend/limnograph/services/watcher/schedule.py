"""When tables of a catalog are probed: often where commits are frequent, less and less where nothing moves, and never
more of them per second than the catalog's budget. Pure: callers pass the time in seconds, and nothing is read here.

A tick costs O(due tables), not O(all tables). All state is in memory: losing it costs probes, never correctness.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Collection, Iterable
from typing import NamedTuple

from limnograph.domain.ids import TableName
from limnograph.ports.catalog import CatalogNames, ProbeResult, TablePointer

INTERVALS_S = (1, 2, 4, 8, 15, 30, 60, 120, 240, 480, 900)
"""The possible intervals between probes of a table; all tables of an interval share one queue."""
PER_GAP, PER_QUIET = 8, 16
"""Probes between two usual commits, and probes while a table is quiet for as long as it has been."""
LONGEST_GAP_S = 60
"""Commits come in bursts: right after one, a table that usually commits once a day is probed like a busy one."""
FAILED_S = 30
LISTED_S = 60
"""Tables with at least this interval are not probed separately if the listing returns pointers."""
NEW_S = 60
"""The weight of waiting: a table that was never probed counts like one with an interval of a minute."""
BURST_S = 2
"""Most budget that may accumulate, in seconds."""


class Budget:
    """Token bucket. `rate` per second; if infinite, every due probe is allowed."""

    def __init__(self, rate: float) -> None:
        self._rate, self._most = rate, max(1.0, rate * BURST_S)
        self._tokens, self._at = self._most, 0.0

    def wait_s(self, now_s: float) -> float:
        """Seconds until a probe is allowed."""
        self._fill(now_s)
        return 0.0 if self._tokens >= 1 else (1 - self._tokens) / self._rate

    def spend(self, now_s: float) -> None:
        """Take one token."""
        self._fill(now_s)
        self._tokens -= 1

    def _fill(self, now_s: float) -> None:
        if self._tokens < self._most:
            self._tokens = min(self._most, self._tokens + max(0.0, now_s - self._at) * self._rate)
        self._at = now_s


class _TableState:
    """One table.

    `place`: its only valid entry in a queue
    `moved_at`: when it was last seen to move
    `gap`: usual time between moves
    """

    __slots__ = ("failures", "gap", "moved_at", "name", "place", "pointer", "tried")

    def __init__(self, name: TableName) -> None:
        self.name = name
        self.pointer: TablePointer | None = None
        self.place = self.failures = 0
        self.moved_at: float | None = None
        self.gap: float | None = None
        self.tried = False


class _QueueEntry(NamedTuple):
    table: _TableState
    place: int
    since_s: float


class ProbeSchedule:
    """Schedule of one catalog's tables. `rate`: probes per second. Not thread-safe."""

    def __init__(self, rate: float) -> None:
        self._budget = Budget(rate)
        self._tables: dict[TableName, _TableState] = {}
        self._urgent: dict[TableName, None] = {}
        self._new: deque[_QueueEntry] = deque()
        self._queues = tuple(deque[_QueueEntry]() for _ in INTERVALS_S)
        self._places = 0
        self.fresh = 0
        """Tables that were never probed."""

    def __len__(self) -> int:
        return len(self._tables)

    def pointers(self) -> list[TablePointer]:
        """Last known pointer of every table that has one."""
        return [table.pointer for table in self._tables.values() if table.pointer is not None]

    def knows(self, name: TableName) -> bool:
        """Whether the schedule has this table."""
        return name in self._tables

    def listed(self, names: CatalogNames, wanted: Collection[TableName], now_s: float, *, probed: bool = True) -> bool:
        """Apply a listing; pointers of `wanted` tables are kept and probed. Returns whether one of them was added,
        moved or removed.
        """
        changed = False
        for name in wanted:
            pointer = names.tables[name]
            table = self._tables.get(name)
            if table is None:
                table = self._tables[name] = _TableState(name)
                self.fresh += 1
                if pointer is None:
                    self._enter(table, self._new, now_s)
            if pointer is not None and pointer is not table.pointer:
                changed |= self._take_listed(table, pointer, now_s, probed=probed)
        if not names.troubles and len(self._tables) > len(wanted):
            for name in self._tables.keys() - set(wanted):
                changed |= self.drop(name)
        return changed

    def hurry(self, names: Iterable[TableName]) -> None:
        """Probe these first: a page shows them, or a notification says that they moved."""
        self._urgent.update((name, None) for name in names if name in self._tables)

    def all_due(self, now_s: float) -> None:
        """Make every probed table due, whatever its interval."""
        for table in self._tables.values():
            if table.place:
                self._enter(table, self._new, now_s)

    def take(self, now_s: float) -> TableName | None:
        """The table to probe now, if one is due and the budget allows. Must be settled by `found` or `failed`."""
        if self._budget.wait_s(now_s) > 0:
            return None
        table = self._next(now_s)
        if table is None:
            return None
        self._budget.spend(now_s)
        self._leave(table)
        return table.name

    def rest(self, now_s: float) -> float:
        """Seconds until `take` may return a table: 0 if it can now, a long time if nothing is listed."""
        heads = [_ready(queue, seconds) for seconds, queue in zip(INTERVALS_S, self._queues, strict=True)]
        ready = [at for at in heads if at is not None]
        if self._urgent or _ready(self._new, 0) is not None:
            ready.append(now_s)
        return max(min(ready, default=now_s + INTERVALS_S[-1]) - now_s, self._budget.wait_s(now_s))

    def found(self, name: TableName, found: ProbeResult, now_s: float) -> bool:
        """Apply a probe's response. Returns whether the pointer was added, moved or removed."""
        table = self._tables.get(name)
        if table is None:
            return False
        self._tried(table)
        table.failures = 0
        before, table.pointer = table.pointer, found.pointer
        if found.pointer is None:
            self._again(table, INTERVALS_S[-1], now_s)
            return before is not None
        moved = before is not None and before.location != found.pointer.location
        if found.quiet_s is not None:
            table.moved_at, table.gap = now_s - found.quiet_s, found.gap_s if found.gap_s is not None else table.gap
        else:
            _learn(table, now_s, moved=moved)
        self._again(table, _interval_s(table, now_s), now_s)
        return before != found.pointer

    def failed(self, name: TableName, now_s: float) -> None:
        """The probe got no response for this table: it waits, longer each time, and keeps its pointer."""
        if table := self._tables.get(name):
            self._tried(table)
            table.failures += 1
            self._again(table, FAILED_S * 2 ** min(table.failures - 1, 10), now_s)

    def again(self, name: TableName, now_s: float) -> None:
        """The catalog did not respond: not a failure of the table, which stays due."""
        if table := self._tables.get(name):
            self._enter(table, self._new, now_s)

    def drop(self, name: TableName) -> bool:
        """Forget a table. Returns whether it had a pointer."""
        table = self._tables.pop(name, None)
        if table is None:
            return False
        self._tried(table)
        self._leave(table)
        return table.pointer is not None

    def _take_listed(self, table: _TableState, pointer: TablePointer, now_s: float, *, probed: bool) -> bool:
        """Apply a pointer in a listing. Tables for which listings are frequent enough are not probed additionally."""
        before, table.pointer = table.pointer, pointer
        moved = before is not None and before.location != pointer.location
        first = not table.tried
        self._tried(table)
        if moved or first:
            table.failures = 0
            _learn(table, now_s, moved=moved)
        seconds = _interval_s(table, now_s)
        if not probed or seconds >= LISTED_S:
            self._leave(table)
        elif moved or first:
            self._again(table, seconds, now_s)
        return before != pointer

    def _again(self, table: _TableState, seconds: float, now_s: float) -> None:
        self._enter(table, self._queues[max(0, bisect_right(INTERVALS_S, seconds) - 1)], now_s)

    def _enter(self, table: _TableState, queue: deque[_QueueEntry], now_s: float) -> None:
        self._places += 1
        table.place = self._places
        queue.append(_QueueEntry(table, table.place, now_s))

    def _leave(self, table: _TableState) -> None:
        table.place = 0
        self._urgent.pop(table.name, None)

    def _tried(self, table: _TableState) -> None:
        if not table.tried:
            table.tried = True
            self.fresh -= 1

    def _next(self, now_s: float) -> _TableState | None:
        """The first of the tables that go first, else the one that has waited longest relative to its interval."""
        if self._urgent:
            return self._tables[next(iter(self._urgent))]
        best, late = None, 1.0
        queues = ((NEW_S, 0, self._new), *((s, s, q) for s, q in zip(INTERVALS_S, self._queues, strict=True)))
        for measure, least, queue in queues:
            if _ready(queue, least) is None:
                continue
            table, _, since_s = queue[0]
            waited = (now_s - since_s) / measure + (1 if queue is self._new else 0)
            if waited >= late:
                best, late = table, waited
        return best


def _ready(queue: deque[_QueueEntry], seconds: float) -> float | None:
    """When the head of a queue is due; invalid entries are discarded."""
    while queue and queue[0].table.place != queue[0].place:
        queue.popleft()
    return queue[0].since_s + seconds if queue else None


def _learn(table: _TableState, now_s: float, *, moved: bool) -> None:
    """Update how often a table commits, from when it was seen to move."""
    if moved and table.moved_at is not None:
        gap = now_s - table.moved_at
        table.gap = gap if table.gap is None else (gap + table.gap) / 2
    if moved or table.moved_at is None:
        table.moved_at = now_s


def _interval_s(table: _TableState, now_s: float) -> float:
    quiet = now_s - table.moved_at if table.moved_at is not None else 0.0
    return max(min(table.gap or 0.0, LONGEST_GAP_S) / PER_GAP, quiet / PER_QUIET)
