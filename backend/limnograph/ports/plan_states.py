"""State of plans, leases, breakers and budgets, in tables of their own in the database of the inbox.

Every change is one transaction, its time is the database's clock, and the inbox gets each transition in the same
transaction, so that the meta table `plans` has them all.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple, Protocol

from limnograph.domain.facts.plans import PlanFact
from limnograph.domain.maintenance.leases import BudgetSpent, MaintenanceBreaker, TableLease
from limnograph.domain.time import Micros


class BudgetLimits(NamedTuple):
    """Most bytes rewritten and cost of a UTC day. None: unlimited."""

    bytes: int | None = None
    cost: float | None = None


class PlanStates(Protocol):
    """Thread-safe, and shared by processes. All methods block and raise SourceError."""

    def now(self) -> Micros:
        """The database's clock."""
        ...

    def plan(self, plan_id: str) -> PlanFact | None:
        """The last transition of a plan; None: unknown."""
        ...

    def plans(self, states: Collection[str] = (), table_uuids: Collection[str] = ()) -> list[PlanFact]:
        """The last transition of each plan, newest first; only those in these states or of these tables, if given."""
        ...

    def record(self, facts: Sequence[PlanFact]) -> list[PlanFact]:
        """Record transitions, all or none, and return them as recorded: `at` and `observed_at` are the database's
        clock. Each fact must have `seq` one above the recorded one (1: the plan is new), and a state that may follow.
        Raises PlanMoved (a Conflict with the recorded fact) if another caller was first or the state may not follow.
        """
        ...

    def restore(self, facts: Sequence[PlanFact]) -> int:
        """Insert the last transition of plans that a lost database no longer has, as they are; known plans are
        unchanged. Returns the number inserted. Nothing is added to the inbox.
        """
        ...

    def acquire(self, table_uuid: str, executor_id: str, plan_id: str) -> TableLease | None:
        """Take the lease of a table; None: another executor holds it."""
        ...

    def renew(self, lease: TableLease) -> TableLease:
        """A beat: the lease with a later end. Raises LeaseLost (a Conflict) if its epoch is no longer current or it
        has ended.
        """
        ...

    def release(self, lease: TableLease) -> None:
        """Give up a lease; without effect if it is no longer held."""
        ...

    def holders(self) -> list[TableLease]:
        """Leases that are held and have not ended."""
        ...

    def spend(self, spent: BudgetSpent, limits: BudgetLimits) -> bool:
        """Add to the budget of a day, unless the sum would exceed a limit; whether it was added. Atomic."""
        ...

    def spent(self, day: int) -> BudgetSpent:
        """What was used on a day."""
        ...

    def breakers(self) -> list[MaintenanceBreaker]:
        """Open breakers, oldest first."""
        ...

    def open_breaker(self, breaker: MaintenanceBreaker) -> bool:
        """Open a breaker; False if it is open already, which then stays as it is."""
        ...

    def close_breaker(self, key: str) -> bool:
        """Close a breaker; whether it was open."""
        ...
