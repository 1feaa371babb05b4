"""Keeps the advice of all tables up to date: the tables that changed, those with findings first, one at a time.

Cost: choosing is O(tables); evaluating reads the current manifests of one table and those that its snapshots hold, in a
child process. A table is read again when other findings open, an hour after a commit, and every six hours, because
snapshots grow old without a commit.
"""

from __future__ import annotations

import logging
from typing import NamedTuple

from limnograph.domain.advice.prices import Prices
from limnograph.domain.errors import LimnographError
from limnograph.domain.ids import TableName
from limnograph.domain.time import MICROS_PER_SECOND, Micros
from limnograph.ports.clock import Clock
from limnograph.services.advice.board import AdviceBoard
from limnograph.services.advice.judging import TableJudge
from limnograph.services.findings.board import FindingsBoard
from limnograph.services.lake.history import History
from limnograph.services.lake.store import HotStore
from limnograph.services.plans.plan_log import PlanLog
from limnograph.services.table.due import newest_location

AFTER_COMMIT = 3_600 * MICROS_PER_SECOND
ALWAYS = 6 * AFTER_COMMIT
AFTER_FINDING = 30 * MICROS_PER_SECOND
"""Microseconds between two evaluations of a table: after a commit, in any case, and when other findings are open."""
CHOOSE_EVERY = 10 * MICROS_PER_SECOND
_log = logging.getLogger("limnograph.advice")


class _EvaluatedState(NamedTuple):
    """The state for which a table was evaluated, and when."""

    location: str | None
    codes: frozenset[str]
    at: Micros


class AdviceEvaluator:
    """`evaluate_next` is called by one thread at a time; `board` is an immutable value that it replaces."""

    def __init__(self, store: HotStore, judge: TableJudge, plans: PlanLog, clock: Clock) -> None:
        self._store, self._judge, self._plans, self._clock = store, judge, plans, clock
        self.board = AdviceBoard()
        self._seen: dict[str, _EvaluatedState] = {}
        self._queue: list[str] = []
        self._wanted: set[str] = set()
        self._chosen_at = Micros(0)

    @property
    def prices(self) -> Prices:
        """The prices of all costs and savings."""
        return self._judge.inputs.prices

    def want(self, uuid: str) -> None:
        """Evaluate a table next, because someone looks at it, unless it was evaluated already. Thread-safe."""
        if uuid not in self._seen:
            self._wanted.add(uuid)

    def evaluate_next(self) -> bool:
        """Evaluate the table that needs it most; False if none does. Blocks."""
        now = self._clock.now()
        if not self._queue and now - self._chosen_at >= CHOOSE_EVERY:
            self._chosen_at, self._queue = now, self._due(now)
            self._plans.sweep()
        # A copy: a page in another thread may add to the set meanwhile.
        wanted, self._wanted = tuple(self._wanted), set()
        first = [uuid for uuid in wanted if uuid not in self._seen]
        self._queue = [*(uuid for uuid in self._queue if uuid not in wanted), *first]
        lake = self._store.reading.lake
        while self._queue:
            uuid = self._queue.pop()
            table = lake.tables.get(uuid)
            if table is not None and table.name is not None and not table.dropped:
                self._evaluate(uuid, table.name, lake.histories[uuid])
                return True
        return False

    def _due(self, now: Micros) -> list[str]:
        """Tables to evaluate, the most urgent last."""
        lake = self._store.reading.lake
        gone = frozenset(uuid for uuid in self._seen if uuid not in lake.tables or lake.tables[uuid].dropped)
        if gone:
            self.board = self.board.without(gone)
            for uuid in gone:
                del self._seen[uuid]
        findings = self._judge.inputs.findings()
        found = []
        for uuid, table in lake.tables.items():
            if table.name is None or table.dropped:
                continue
            codes = _codes(findings, uuid)
            seen = self._seen.get(uuid)
            if seen is None or now - seen.at >= ALWAYS or self._is_due(seen, codes, lake.histories[uuid], now):
                found.append((bool(codes), seen is None, -(seen.at if seen else 0), uuid))
        return [uuid for *_, uuid in sorted(found)]

    def _is_due(self, seen: _EvaluatedState, codes: frozenset[str], history: History, now: Micros) -> bool:
        if codes != seen.codes and now - seen.at >= AFTER_FINDING:
            return True
        return now - seen.at >= AFTER_COMMIT and newest_location(history) != seen.location

    def _evaluate(self, uuid: str, name: TableName, history: History) -> None:
        now, location = self._clock.now(), newest_location(history)
        findings = self._judge.inputs.findings()
        self._seen[uuid] = _EvaluatedState(location, _codes(findings, uuid), now)
        if location is None:
            self.board = self.board.with_failure(uuid, "no readable metadata of the table is known")
            return
        try:
            judged = self._judge.judge(uuid, name, history, now)
        except LimnographError as error:
            _log.info("advice: %s cannot be read: %s", name, error)
            self.board = self.board.with_failure(uuid, f"its files cannot be read: {error}")
            return
        self.board = self.board.with_table(uuid, judged.advice)
        self._plans.record(uuid, judged.advice.advised, judged.arguments)


def _codes(findings: FindingsBoard, uuid: str) -> frozenset[str]:
    return frozenset(fact.code or "" for fact in findings.by_table.get(uuid, ()) if fact.state == "open")
