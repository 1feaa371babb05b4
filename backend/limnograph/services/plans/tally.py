"""Counts transitions of plans for `/metrics`."""

from __future__ import annotations

import re
import threading
from bisect import bisect_left
from collections import Counter, OrderedDict
from collections.abc import Iterable

from limnograph.domain.facts.plans import PlanFact
from limnograph.domain.maintenance.leases import MaintenanceBreaker
from limnograph.domain.maintenance.states import STATES
from limnograph.domain.metrics.maintenance import ACTIONS, OTHER, SECONDS, ActionDurations, MaintenanceNumbers

MOST_CODES = 20
"""Different codes of breakers; further ones are counted as `other`."""
_CODE = re.compile(r"[a-zA-Z][a-zA-Z0-9_]{0,39}")
_SCOPES = frozenset({"table", "action", "rule", "fleet"})
_REMEMBERED = 10_000


class PlanTally:
    """Thread-safe: guarded by `_lock`. An attempt's result is counted once, although several transitions carry it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._plans: Counter[tuple[str, str]] = Counter()
        self._durations: dict[str, ActionDurations] = {}
        self._rewritten: Counter[str] = Counter()
        self._unverified = 0
        self._counted: OrderedDict[tuple[str, int | None], None] = OrderedDict()

    def count(self, before: str, fact: PlanFact) -> None:
        """Count a transition from the state `before`."""
        if fact.state not in STATES:
            return
        action = fact.action if fact.action in ACTIONS else OTHER
        with self._lock:
            if not any(known == action for known, _ in self._plans):  # from 0, so that `increase` sees the first one
                self._plans.update(dict.fromkeys(((action, state) for state in STATES), 0))
            self._plans[action, fact.state] += 1
            if fact.state == "failed" and before in {"committed", "partly"}:
                self._unverified += 1
            if fact.state in {"verified", "failed", "partly"}:
                self._count_result(action, fact)

    def numbers(self, breakers: Iterable[MaintenanceBreaker]) -> MaintenanceNumbers:
        """What was counted, and the open breakers."""
        with self._lock:
            plans, durations = dict(self._plans), dict(self._durations)
            rewritten, unverified = dict(self._rewritten), self._unverified
        return MaintenanceNumbers(plans, durations, rewritten, _by_labels(breakers), unverified)

    def _count_result(self, action: str, fact: PlanFact) -> None:
        key = fact.plan_id, fact.attempt
        if key in self._counted or (fact.result_seconds is None and fact.result_bytes_in is None):
            return
        self._counted[key] = None
        while len(self._counted) > _REMEMBERED:
            self._counted.popitem(last=False)
        if fact.result_seconds is not None and fact.result_seconds >= 0:
            counts, total_s = self._durations.get(action, ActionDurations())
            place = bisect_left(SECONDS, fact.result_seconds)
            more = tuple(count + (index == place) for index, count in enumerate(counts))
            self._durations[action] = ActionDurations(more, total_s + fact.result_seconds)
        self._rewritten[action] += max(0, fact.result_bytes_in or 0)


def _by_labels(breakers: Iterable[MaintenanceBreaker]) -> dict[tuple[str, str], int]:
    """Open breakers by scope and code. Both are read from a database that other programs write."""
    found: Counter[tuple[str, str]] = Counter()
    codes = set[str]()
    for each in breakers:
        code = each.code if _CODE.fullmatch(each.code) and (each.code in codes or len(codes) < MOST_CODES) else OTHER
        codes.add(code)
        found[each.scope if each.scope in _SCOPES else OTHER, code] += 1
    return dict(found)
