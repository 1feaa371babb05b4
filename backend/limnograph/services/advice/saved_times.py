"""Seconds per day that an action saves jobs: from the effects that were measured on the same table, else borrowed from
other tables.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Mapping
from statistics import median
from typing import NamedTuple

from limnograph.domain.advice.document import BORROWED, MEASURED
from limnograph.domain.errors import LimnographError
from limnograph.domain.facts.effects import EffectFact
from limnograph.domain.time import EPOCH, MICROS_PER_SECOND, Micros
from limnograph.ports.clock import Clock
from limnograph.services.effects.records import EffectRecords

RULES = {
    "rewrite_data_files": ("compact", "compact_deletes"),
    "rewrite_position_delete_files": ("position_deletes",),
    "rewrite_manifests": ("manifests",),
    "expire_snapshots": ("expire",),
    "optimize": ("delta_compact", "delta_purge"),
}
"""Rules that lead to an action. No two formats share a rule, so that the tables of a rule are a class."""
LEAST_VERDICTS = 5
"""Verdicts of other tables from which a table without an own one borrows."""
_DECIDED = frozenset({"helped", "none", "worse"})
KEPT = 600 * MICROS_PER_SECOND
DAY_S = 86_400
_log = logging.getLogger("limnograph.advice")


class Savings(NamedTuple):
    """Seconds per day that actions save jobs.

    own       by table and rule: sums over the jobs for which the newest measurement of the action says `helped`
    decided   tables and rules with a verdict of their own
    borrowed  by rule: the median over all jobs with a verdict, those that were not helped included; only of rules with
              LEAST_VERDICTS of them, and only if time is saved
    """

    own: Mapping[str, Mapping[str, float]] = {}
    decided: frozenset[tuple[str, str]] = frozenset()
    borrowed: Mapping[str, float] = {}

    def of_table(self, table_uuid: str) -> dict[str, tuple[float, str]]:
        """By rule, with the basis. A table borrows only without an own verdict, so all that it borrows is of others."""
        found = {
            rule: (saved, BORROWED) for rule, saved in self.borrowed.items() if (table_uuid, rule) not in self.decided
        }
        return found | {rule: (saved, MEASURED) for rule, saved in self.own.get(table_uuid, {}).items()}


class MeasuredSavings:
    """Port SavedTimes. Reads the ledger at most every ten minutes. Used by one thread at a time."""

    def __init__(self, records: EffectRecords, clock: Clock) -> None:
        self._records, self._clock = records, clock
        self._at, self._found = EPOCH, Savings()

    def of_table(self, table_uuid: str) -> Mapping[str, tuple[float, str]]:
        """By rule, with the basis."""
        now = self._clock.now()
        if now - self._at >= KEPT:
            try:
                self._found, self._at = savings(self._records.newest(EPOCH, Micros(now + 1))), now
            except LimnographError as error:
                _log.warning("measured effects cannot be read: %s", error)
        return self._found.of_table(table_uuid)


def savings(facts: list[EffectFact]) -> Savings:
    """Of all tables. O(measurements)."""
    newest: dict[tuple[str, str, str], EffectFact] = {}
    decided = set[tuple[str, str]]()
    for fact in sorted(facts, key=lambda each: each.committed_at or EPOCH):
        if fact.measure == "duration" and fact.job_name and fact.action:
            newest[fact.table_uuid, fact.action, fact.job_name] = fact
            if fact.verdict in _DECIDED:
                decided.update((fact.table_uuid, rule) for rule in RULES.get(fact.action, ()))
    own: dict[str, dict[str, float]] = defaultdict(dict)
    of_rule: dict[str, list[float]] = defaultdict(list)
    for (uuid, action, _), fact in newest.items():
        saved = _per_day(fact)
        if saved is None:
            continue
        for rule in RULES.get(action, ()):
            of_rule[rule].append(saved)
            if saved > 0:
                own[uuid][rule] = own[uuid].get(rule, 0.0) + saved
    middle = {rule: median(each) for rule, each in of_rule.items() if len(each) >= LEAST_VERDICTS}
    return Savings(own, frozenset(decided), {rule: saved for rule, saved in middle.items() if saved > 0})


def _per_day(fact: EffectFact) -> float | None:
    """Seconds that the job saved each day since the action, at the pace of its measured runs; negative: it lost them.
    None: no verdict.
    """
    if fact.verdict == "none":
        return 0.0
    if fact.verdict not in _DECIDED or fact.change is None or fact.committed_at is None or fact.measured_at is None:
        return None
    days = (fact.measured_at - fact.committed_at) / MICROS_PER_SECOND / DAY_S
    return -fact.change * fact.runs_after / days if days > 0 else None
