"""Seconds per day that an action saves jobs, from the effects that were measured on the same table."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Mapping

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
}
"""Rules that lead to an action."""
KEPT = 600 * MICROS_PER_SECOND
DAY_S = 86_400
_log = logging.getLogger("limnograph.advice")


class MeasuredSavings:
    """Port SavedTimes. Reads the ledger at most every ten minutes. Used by one thread at a time."""

    def __init__(self, records: EffectRecords, clock: Clock) -> None:
        self._records, self._clock = records, clock
        self._at, self._found = EPOCH, dict[str, Mapping[str, tuple[float, str]]]()

    def of_table(self, table_uuid: str) -> Mapping[str, tuple[float, str]]:
        """Sums over the jobs for which the newest measurement of the action says `helped`."""
        now = self._clock.now()
        if now - self._at >= KEPT:
            try:
                self._found, self._at = savings(self._records.newest(EPOCH, Micros(now + 1))), now
            except LimnographError as error:
                _log.warning("measured effects cannot be read: %s", error)
        return self._found.get(table_uuid, {})


def savings(facts: list[EffectFact]) -> dict[str, Mapping[str, tuple[float, str]]]:
    """By table and rule. O(measurements)."""
    newest: dict[tuple[str, str, str], EffectFact] = {}
    for fact in sorted(facts, key=lambda each: each.committed_at or EPOCH):
        if fact.measure == "duration" and fact.job_name and fact.action:
            newest[fact.table_uuid, fact.action, fact.job_name] = fact
    found: dict[str, dict[str, tuple[float, str]]] = defaultdict(dict)
    for (uuid, action, _), fact in newest.items():
        saved = _per_day(fact)
        for rule in RULES.get(action, ()) if saved > 0 else ():
            found[uuid][rule] = (found[uuid].get(rule, (0.0, ""))[0] + saved, "measured")
    return dict(found)


def _per_day(fact: EffectFact) -> float:
    """Seconds that the job saved each day since the action, at the pace of its measured runs."""
    if fact.verdict != "helped" or fact.change is None or fact.committed_at is None or fact.measured_at is None:
        return 0.0
    days = (fact.measured_at - fact.committed_at) / MICROS_PER_SECOND / DAY_S
    return -fact.change * fact.runs_after / days if days > 0 else 0.0
