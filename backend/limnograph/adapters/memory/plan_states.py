"""State of plans in memory: lost with the process, otherwise the same contract as in a database."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Sequence

import msgspec

from limnograph.adapters.memory.inbox import MemoryInbox
from limnograph.domain.errors import LeaseLost, PlanMoved
from limnograph.domain.facts.plans import PlanFact
from limnograph.domain.maintenance.leases import LEASE_US, BudgetSpent, MaintenanceBreaker, TableLease
from limnograph.domain.maintenance.moves import lost_lease, moved, stamped
from limnograph.domain.maintenance.states import OUTCOMES, OUTCOMES_US
from limnograph.domain.time import Micros
from limnograph.ports.inbox import InboxItem, item_key
from limnograph.ports.plan_states import BudgetLimits


def _system_time() -> Micros:
    return Micros(time.time_ns() // 1000)


class MemoryPlanStates:
    """`inbox`: gets each transition; `now`: the clock. Thread-safe: guarded by `_lock`."""

    def __init__(
        self,
        inbox: MemoryInbox | None = None,
        now: Callable[[], Micros] = _system_time,
        lease_us: int = LEASE_US,
    ) -> None:
        self.inbox = MemoryInbox() if inbox is None else inbox
        self.now, self._lease_us = now, lease_us
        self._lock = threading.Lock()
        self._plans: dict[str, PlanFact] = {}
        self._outcomes: list[PlanFact] = []
        self._leases: dict[str, TableLease] = {}
        self._epochs: dict[str, int] = {}
        self._spent: dict[int, BudgetSpent] = {}
        self._breakers: dict[str, MaintenanceBreaker] = {}
        self.failure: Exception | None = None

    def plan(self, plan_id: str) -> PlanFact | None:
        self._check()
        with self._lock:
            return self._plans.get(plan_id)

    def plans(self, states: Collection[str] = (), table_uuids: Collection[str] = ()) -> list[PlanFact]:
        self._check()
        with self._lock:
            found = [
                fact
                for fact in self._plans.values()
                if (not states or fact.state in states) and (not table_uuids or fact.table_uuid in table_uuids)
            ]
        return sorted(found, key=lambda fact: (-(fact.at or 0), fact.plan_id))

    def outcomes(self, since: Micros, table_uuids: Collection[str] = ()) -> list[PlanFact]:
        self._check()
        with self._lock:
            found = [
                each
                for each in self._outcomes
                if (each.at or 0) >= since and (not table_uuids or each.table_uuid in table_uuids)
            ]
        return sorted(found, key=lambda each: (each.at or 0, each.plan_id, each.seq))

    def record(self, facts: Sequence[PlanFact]) -> list[PlanFact]:
        self._check()
        with self._lock:
            at, new, recorded = self.now(), dict(self._plans), dict[tuple[str, int], PlanFact]()
            for fact in sorted(facts, key=lambda fact: (fact.plan_id, fact.seq)):
                before = new.get(fact.plan_id)
                if (problem := moved(before, fact)) is not None:
                    raise PlanMoved(problem, before)
                stored = stamped(fact, at)
                new[fact.plan_id] = stored
                recorded[fact.plan_id, fact.seq] = stored
            self.inbox.put(
                [InboxItem("plan", item_key(f.plan_id, f.seq), msgspec.json.encode(f), at) for f in recorded.values()]
            )
            self._plans = new
            kept = [each for each in self._outcomes if (each.at or 0) >= at - OUTCOMES_US]
            self._outcomes = kept + [each for each in recorded.values() if each.state in OUTCOMES]
        return [recorded[fact.plan_id, fact.seq] for fact in facts]

    def restore(self, facts: Sequence[PlanFact]) -> int:
        self._check()
        changed = 0
        with self._lock:
            for fact in facts:
                known = self._plans.get(fact.plan_id)
                if known is None or known.seq < fact.seq:
                    self._plans[fact.plan_id] = fact
                    changed += 1
        return changed

    def acquire(self, table_uuid: str, executor_id: str, plan_id: str) -> TableLease | None:
        self._check()
        with self._lock:
            now, last = self.now(), self._leases.get(table_uuid)
            if last is not None and last.until > now and last.executor_id != executor_id:
                return None
            lease = TableLease(
                table_uuid=table_uuid,
                executor_id=executor_id,
                plan_id=plan_id,
                epoch=self._epochs.get(table_uuid, 0) + 1,
                until=now + self._lease_us,
                taken_over=last is not None,
            )
            self._leases[table_uuid], self._epochs[table_uuid] = lease, lease.epoch
            return lease

    def renew(self, lease: TableLease) -> TableLease:
        self._check()
        with self._lock:
            now, held = self.now(), self._leases.get(lease.table_uuid)
            if not _is(held, lease) or held is None or held.until <= now:
                raise LeaseLost(lost_lease(lease))
            renewed = msgspec.structs.replace(held, until=now + self._lease_us)
            self._leases[lease.table_uuid] = renewed
            return renewed

    def release(self, lease: TableLease) -> None:
        self._check()
        with self._lock:
            if _is(self._leases.get(lease.table_uuid), lease):
                del self._leases[lease.table_uuid]

    def holders(self) -> list[TableLease]:
        self._check()
        with self._lock:
            now = self.now()
            held = [lease for lease in self._leases.values() if lease.until > now]
        return sorted(held, key=lambda lease: lease.table_uuid)

    def spend(self, spent: BudgetSpent, limits: BudgetLimits) -> bool:
        self._check()
        with self._lock:
            before = self._spent.get(spent.day, BudgetSpent(day=spent.day))
            total = BudgetSpent(day=spent.day, bytes=before.bytes + spent.bytes, cost=before.cost + spent.cost)
            if limits.bytes is not None and total.bytes > limits.bytes:
                return False
            if limits.cost is not None and total.cost > limits.cost:
                return False
            self._spent[spent.day] = total
            return True

    def spent(self, day: int) -> BudgetSpent:
        self._check()
        with self._lock:
            return self._spent.get(day, BudgetSpent(day=day))

    def breakers(self) -> list[MaintenanceBreaker]:
        self._check()
        with self._lock:
            return sorted(self._breakers.values(), key=lambda breaker: (breaker.opened_at, breaker.key))

    def open_breaker(self, breaker: MaintenanceBreaker) -> bool:
        self._check()
        with self._lock:
            return self._breakers.setdefault(breaker.key, breaker) is breaker

    def close_breaker(self, key: str) -> bool:
        self._check()
        with self._lock:
            return self._breakers.pop(key, None) is not None

    def _check(self) -> None:
        if self.failure is not None:
            raise self.failure


def _is(held: TableLease | None, lease: TableLease) -> bool:
    return held is not None and (held.epoch, held.executor_id) == (lease.epoch, lease.executor_id)
