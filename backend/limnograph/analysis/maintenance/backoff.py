"""When a plan is tried again after another writer committed first: 15 minutes, twice as long each time, up to a day."""

from __future__ import annotations

from collections.abc import Sequence

from limnograph.analysis.maintenance.history import conflicts_in_a_row, of_table
from limnograph.domain.facts.plans import PlanFact
from limnograph.domain.maintenance.policy import DAY_US, MaintenancePolicy
from limnograph.domain.time import Micros

_MOST_DOUBLINGS = 32


def conflict_delay_us(policy: MaintenancePolicy, conflicts: int) -> int:
    """The delay after so many conflicts in a row, microseconds."""
    doublings = min(max(conflicts - 1, 0), _MOST_DOUBLINGS)
    return min(policy.conflict_after_us << doublings, DAY_US)


def retry_at(policy: MaintenancePolicy, history: Sequence[PlanFact], table_uuid: str, now: Micros) -> Micros:
    """When a plan of a table is tried again. `history`: with the conflict that has just happened."""
    count = max(1, conflicts_in_a_row(of_table(history, table_uuid)))
    return Micros(now + conflict_delay_us(policy, count))
