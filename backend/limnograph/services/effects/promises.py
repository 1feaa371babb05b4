"""Which plan caused a maintenance operation: by the stamp in its commit. An expiry has none: it is found by time, among
those whose metadata file is newer than the one from which the plan began.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

from limnograph.domain.facts.plans import PlanFact
from limnograph.domain.time import MICROS_PER_SECOND, Micros
from limnograph.services.effects.operations import EXPIRE_SNAPSHOTS, EXPIRED_PREFIX

BEFORE_US, AFTER_US = 3_600 * MICROS_PER_SECOND, 300 * MICROS_PER_SECOND
"""How long an expiry may have been committed before its verification was recorded, and after it: clocks differ. A table
has one lease, so no two plans acted on it at the same time.
"""
_NUMBERED = re.compile(r"(?:.*/)?v?(\d+)[-.][^/]*metadata\.json(?:\.gz)?")
"""Names of metadata files of Iceberg: `00012-….metadata.json`, `v12.metadata.json`."""


class OperationPlans:
    """Transitions of plans at which the table confirmed their result. Immutable after construction."""

    def __init__(self, confirmed: Iterable[PlanFact]) -> None:
        self._by_commit: dict[tuple[str, str], PlanFact] = {}
        self._expiries: dict[str, list[PlanFact]] = defaultdict(list)
        for fact in confirmed:
            uuid = fact.table_uuid or ""
            self._by_commit.update({(uuid, str(each)): fact for each in fact.snapshot_ids or ()})
            if fact.action == EXPIRE_SNAPSHOTS and fact.at is not None:
                self._expiries[uuid].append(fact)

    def of(self, table_uuid: str, operation_id: str, committed_at: Micros) -> PlanFact | None:
        """The plan of an operation; None: the operation was not one of a plan."""
        if not operation_id.startswith(EXPIRED_PREFIX):
            return self._by_commit.get((table_uuid, operation_id))
        number = _number(operation_id)
        near = [
            each
            for each in self._expiries.get(table_uuid, ())
            if _is_near(each, committed_at) and _is_later(number, _number(each.base_metadata_location or ""))
        ]
        return min(near, key=lambda each: abs((each.at or 0) - committed_at), default=None)


def _is_near(fact: PlanFact, committed_at: Micros) -> bool:
    return fact.at is not None and fact.at - BEFORE_US <= committed_at <= fact.at + AFTER_US


def _number(metadata_location: str) -> int | None:
    """Number of a metadata file: each commit has the next one. None: its name has none."""
    found = _NUMBERED.fullmatch(metadata_location)
    return None if found is None else int(found[1])


def _is_later(number: int | None, base: int | None) -> bool:
    return number is None or base is None or number > base
