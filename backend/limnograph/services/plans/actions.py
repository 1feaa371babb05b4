"""When an executor worked on a table: from the lease of each attempt to its commit, from the transitions of its plans.

Cost: the meta table `plans` is read once, in the background; a request reads the inbox since the last one, at most once
a second, and no engine. In memory is one value for each attempt that ran.
"""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import NamedTuple

import msgspec

from limnograph.domain.facts.plans import PlanFact
from limnograph.domain.maintenance.states import HELD, IN_TABLE, PlanState
from limnograph.domain.time import EPOCH, Micros
from limnograph.ports.inbox import Inbox, Kind
from limnograph.ports.query_engine import MetaQuery, QueryEngine
from limnograph.services.sources.inbox_items import facts_of_items

_KIND: Kind = "plan"
_COLUMNS = ("plan_id", "seq", "at", "state", "attempt", "table_uuid", "action", "result_files_in", "result_files_out")
_DONE: frozenset[PlanState] = frozenset({"verified", "measured", *IN_TABLE})
_LEAST_S, _STALE_S = 1.0, 1_800.0
"""Least time between two looks at the inbox; most, after which committed items may be gone from it."""
_SKEW = 3_600_000_000
_decoder = msgspec.json.Decoder(PlanFact)


class AttemptSpan(NamedTuple):
    """One attempt. `end`: its commit, or when it ended without one; None: it is running. `state`: the last one of the
    attempt. `files_in`, `files_out`: files that it replaced and added; None: unknown.
    """

    action: str
    start: Micros
    end: Micros | None
    state: str
    files_in: int | None
    files_out: int | None


class ActionLog:
    """Thread-safe: guarded by `_lock`, which is held while sources are read, so that they are read once."""

    def __init__(self, inbox: Inbox, engine: QueryEngine, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._inbox, self._engine, self._monotonic = inbox, engine, monotonic
        self._lock = threading.Lock()
        self._facts: dict[str, dict[tuple[str, int], PlanFact]] = defaultdict(dict)
        self._seen_to = EPOCH
        self._looked_at: float | None = None
        self._read_at: float | None = None

    def of_table(self, uuid: str, start: Micros, end: Micros) -> list[AttemptSpan]:
        """Attempts on a table that overlap a range, in order of their start: those that `keep_up` has read, and those
        in the inbox. Blocks. Raises SourceError.
        """
        with self._lock:
            if self._looked_at is None or self._monotonic() - self._looked_at >= _LEAST_S:
                self._look()
            facts = list(self._facts.get(uuid, {}).values())
        return [span for span in spans_of(facts) if span.start < end and (span.end is None or span.end > start)]

    def keep_up(self) -> None:
        """Read the meta table, if it was not read yet, or so long ago that items may be gone from the inbox. Blocks.
        Raises SourceError.
        """
        with self._lock:
            now = self._monotonic()
            if self._read_at is None or now - max(self._read_at, self._looked_at or now) > _STALE_S:
                since = Micros(max(self._seen_to - _SKEW, EPOCH)) if self._read_at is not None else EPOCH
                rows = self._engine.select(MetaQuery(table="plans", columns=_COLUMNS, start=since))
                self._add(msgspec.convert(rows.to_dicts(), list[PlanFact]))
                self._read_at = now
            self._look()

    def _look(self) -> None:
        items = self._inbox.items(_KIND, Micros(max(self._seen_to - _SKEW, EPOCH)))
        self._add(facts_of_items(items, _decoder, "a plan"))
        self._seen_to = max((item.accepted_at for item in items), default=self._seen_to)
        self._looked_at = self._monotonic()

    def _add(self, facts: Iterable[PlanFact]) -> None:
        for fact in facts:
            if fact.table_uuid and fact.state not in {"proposed", "withdrawn"}:
                self._facts[fact.table_uuid][fact.plan_id, fact.seq] = fact


def spans_of(facts: Iterable[PlanFact]) -> list[AttemptSpan]:
    """Attempts that reached an engine, or are on their way to it, in order of their start."""
    found: list[AttemptSpan] = []
    current: dict[str, _Attempt] = {}
    for fact in sorted(facts, key=lambda fact: (fact.plan_id, fact.seq)):
        if fact.state == "leased":
            _end(current, found, fact.plan_id)
            current[fact.plan_id] = _Attempt(fact)
        elif fact.plan_id in current:
            current[fact.plan_id].follow(fact)
    for plan_id in list(current):
        _end(current, found, plan_id)
    return sorted(found, key=lambda span: (span.start, span.action))


def _end(current: dict[str, _Attempt], found: list[AttemptSpan], plan_id: str) -> None:
    attempt = current.pop(plan_id, None)
    if attempt is not None and (span := attempt.span) is not None:
        found.append(span)


class _Attempt:
    """Used by one thread. What became of a lease so far."""

    def __init__(self, leased: PlanFact) -> None:
        self._start, self._last, self._end = leased.at, leased, leased.at
        self._ran = False

    def follow(self, fact: PlanFact) -> None:
        """The next transition of the plan."""
        self._ran = self._ran or fact.state == "running"
        if self._end is None or self._last.state not in _DONE:
            self._end = fact.at
        self._last = fact

    @property
    def span(self) -> AttemptSpan | None:
        """None if it ended before its action began."""
        is_open = self._last.state in HELD - IN_TABLE - {"unknown"}
        if self._start is None or not (self._ran or is_open):
            return None
        last = self._last
        end = None if is_open else self._end
        return AttemptSpan(
            last.action or "action", self._start, end, last.state or "", last.result_files_in, last.result_files_out
        )
