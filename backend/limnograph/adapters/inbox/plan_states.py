"""State of plans, leases, budgets and breakers on SQLAlchemy, in the database of the inbox.

A transition compares and sets `seq`, and inserts its row into the inbox, in one transaction: of racing callers one
wins, and the meta table `plans` gets exactly what was recorded.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import msgspec
import sqlalchemy as sa

from limnograph.adapters.inbox.database import InboxDatabase
from limnograph.adapters.inbox.schema import BREAKERS, BUDGETS, ITEMS, LEASES, OUTCOMES, PLANS
from limnograph.adapters.inbox.store import row_of
from limnograph.domain.errors import LeaseLost, PlanMoved, SourceUnavailable
from limnograph.domain.facts.plans import PlanFact
from limnograph.domain.maintenance import states
from limnograph.domain.maintenance.leases import LEASE_US, BudgetSpent, MaintenanceBreaker, TableLease
from limnograph.domain.maintenance.moves import lost_lease, moved, stamped
from limnograph.domain.time import Micros
from limnograph.ports.inbox import InboxItem, item_key
from limnograph.ports.plan_states import BudgetLimits

_fact = msgspec.json.Decoder(PlanFact).decode
_lease = msgspec.json.Decoder(TableLease).decode
_breaker = msgspec.json.Decoder(MaintenanceBreaker).decode
_LONGEST, _MOST = 200, 500
"""Characters of an indexed column; values in a condition, beyond which rows are chosen after they were read."""


class SqlPlanStates:
    """`lease_us`: how long a lease lasts without a beat. Immutable after construction; calls block."""

    def __init__(self, database: InboxDatabase, lease_us: int = LEASE_US) -> None:
        self._database, self._lease_us = database, lease_us
        self._put = database.insert(ITEMS).on_conflict_do_nothing(index_elements=["kind", "key"])
        self._outcome = database.insert(OUTCOMES).on_conflict_do_nothing(index_elements=["plan_id", "seq"])
        self._new = database.insert(PLANS).on_conflict_do_nothing(index_elements=["plan_id"])

    def now(self) -> Micros:
        return self._database.read(self._time)

    def plan(self, plan_id: str) -> PlanFact | None:
        return self._database.read(lambda c: _recorded(c, plan_id))

    def plans(self, states: Collection[str] = (), table_uuids: Collection[str] = ()) -> list[PlanFact]:
        wanted = {_column(uuid) for uuid in table_uuids}
        query = sa.select(PLANS.c.table_uuid, PLANS.c.fact).order_by(PLANS.c.at.desc(), PLANS.c.plan_id)
        if states:
            query = query.where(PLANS.c.state.in_(sorted(states)))
        if 0 < len(wanted) <= _MOST:
            query = query.where(PLANS.c.table_uuid.in_(sorted(wanted)))
        rows = self._database.read(lambda c: c.execute(query).all())
        return [_fact(bytes(row.fact)) for row in rows if not wanted or row.table_uuid in wanted]

    def outcomes(self, since: Micros, table_uuids: Collection[str] = ()) -> list[PlanFact]:
        wanted = {_column(uuid) for uuid in table_uuids}
        query = sa.select(OUTCOMES.c.table_uuid, OUTCOMES.c.fact).where(OUTCOMES.c.at >= since)
        if 0 < len(wanted) <= _MOST:
            query = query.where(OUTCOMES.c.table_uuid.in_(sorted(wanted)))
        query = query.order_by(OUTCOMES.c.at, OUTCOMES.c.plan_id, OUTCOMES.c.seq)
        rows = self._database.read(lambda c: c.execute(query).all())
        return [_fact(bytes(row.fact)) for row in rows if not wanted or row.table_uuid in wanted]

    def record(self, facts: Sequence[PlanFact]) -> list[PlanFact]:
        stored: list[PlanFact] = []

        def act(connection: sa.Connection) -> None:
            at = self._time(connection)
            stored[:] = [stamped(fact, at) for fact in facts]
            # A fixed order for all callers: they wait for each other instead of deadlocking.
            for fact in sorted(stored, key=lambda fact: (fact.plan_id, fact.seq)):
                self._move(connection, fact)
                item = InboxItem("plan", item_key(fact.plan_id, fact.seq), msgspec.json.encode(fact), at)
                connection.execute(self._put, row_of(item))
                if fact.state in states.OUTCOMES:
                    connection.execute(OUTCOMES.delete().where(OUTCOMES.c.at < at - states.OUTCOMES_US))
                    connection.execute(self._outcome.values(_outcome_row(fact)))

        try:
            self._database.write("record a plan", act)
        except SourceUnavailable:
            # The answer of a commit can be lost after the commit: what is recorded tells.
            last = {fact.plan_id: fact for fact in sorted(stored, key=lambda fact: fact.seq)}
            if not last or any(self.plan(plan_id) != fact for plan_id, fact in last.items()):
                raise
        return stored

    def _move(self, connection: sa.Connection, fact: PlanFact) -> None:
        """Compare and set one plan. Raises PlanMoved."""
        before = _recorded(connection, fact.plan_id)
        if (problem := moved(before, fact)) is not None:
            raise PlanMoved(problem, before)
        row = _plan_row(fact)
        if before is None:
            statement = self._new.values(row)
        else:
            mine = sa.and_(PLANS.c.plan_id == row.pop("plan_id"), PLANS.c.seq == before.seq)
            statement = PLANS.update().where(mine).values({**row, "seq": PLANS.c.seq + 1})
        if connection.execute(statement).rowcount != 1:
            winner = _recorded(connection, fact.plan_id)
            raise PlanMoved(moved(winner, fact) or f"plan {fact.plan_id} moved; read it again", winner)

    def restore(self, facts: Sequence[PlanFact]) -> int:
        insert = self._database.insert(PLANS)
        new = {name: insert.excluded[name] for name in ("seq", "state", "table_uuid", "at", "fact")}
        upsert = insert.on_conflict_do_update(
            index_elements=["plan_id"], set_=new, where=PLANS.c.seq < insert.excluded.seq
        )
        rows = [_plan_row(fact) for fact in sorted(facts, key=lambda fact: fact.plan_id)]
        return self._database.write("restore plans", lambda c: sum(c.execute(upsert, row).rowcount for row in rows))

    def acquire(self, table_uuid: str, executor_id: str, plan_id: str) -> TableLease | None:
        return self._database.write("take a lease", lambda c: self._acquired(c, table_uuid, executor_id, plan_id))

    def _acquired(self, c: sa.Connection, table_uuid: str, executor_id: str, plan_id: str) -> TableLease | None:
        key, clock = _column(table_uuid), self._database.clock
        empty = {"table_uuid": key, "executor_id": "", "epoch": 0, "until": 0, "held": False, "lease": b""}
        c.execute(self._database.insert(LEASES).on_conflict_do_nothing(index_elements=["table_uuid"]).values(empty))
        last = c.execute(sa.select(LEASES).where(LEASES.c.table_uuid == key)).one()
        lease = TableLease(
            table_uuid=table_uuid,
            executor_id=executor_id,
            plan_id=plan_id,
            epoch=last.epoch + 1,
            until=Micros(self._time(c) + self._lease_us),
            taken_over=last.held,
        )
        is_own = LEASES.c.executor_id == _column(executor_id)
        free = sa.or_(LEASES.c.held.is_(False), LEASES.c.until <= clock, is_own)
        mine = sa.and_(LEASES.c.table_uuid == key, LEASES.c.epoch == last.epoch, free)
        taken = {
            "executor_id": _column(executor_id),
            "epoch": lease.epoch,
            "until": lease.until,
            "held": True,
            "lease": msgspec.json.encode(lease),
        }
        return lease if c.execute(LEASES.update().where(mine).values(taken)).rowcount == 1 else None

    def renew(self, lease: TableLease) -> TableLease:
        return self._database.write("renew a lease", lambda c: self._renewed(c, lease))

    def _renewed(self, connection: sa.Connection, lease: TableLease) -> TableLease:
        until = self._database.clock + self._lease_us
        mine = sa.and_(_held_by(lease), LEASES.c.until > self._database.clock)
        if connection.execute(LEASES.update().where(mine).values(until=until)).rowcount != 1:
            raise LeaseLost(lost_lease(lease))
        found = connection.execute(sa.select(LEASES.c.until).where(_held_by(lease))).scalar_one()
        return msgspec.structs.replace(lease, until=Micros(found))

    def release(self, lease: TableLease) -> None:
        self._database.write(
            "release a lease", lambda c: c.execute(LEASES.update().where(_held_by(lease)).values(held=False))
        )

    def holders(self) -> list[TableLease]:
        held = sa.and_(LEASES.c.held.is_(True), LEASES.c.until > self._database.clock)
        query = sa.select(LEASES.c.lease, LEASES.c.until).where(held).order_by(LEASES.c.table_uuid)
        rows = self._database.read(lambda c: c.execute(query).all())
        return [msgspec.structs.replace(_lease(bytes(row.lease)), until=row.until) for row in rows]

    def spend(self, spent: BudgetSpent, limits: BudgetLimits) -> bool:
        return self._database.write("spend a budget", lambda c: self._spent(c, spent, limits))

    def _spent(self, connection: sa.Connection, spent: BudgetSpent, limits: BudgetLimits) -> bool:
        nothing = self._database.insert(BUDGETS).on_conflict_do_nothing(index_elements=["day"])
        connection.execute(nothing.values(day=spent.day, bytes=0, cost=0.0))
        used, paid = BUDGETS.c.bytes + spent.bytes, BUDGETS.c.cost + spent.cost
        within = [BUDGETS.c.day == spent.day]
        within += [used <= limits.bytes] if limits.bytes is not None else []
        within += [paid <= limits.cost] if limits.cost is not None else []
        return connection.execute(BUDGETS.update().where(*within).values(bytes=used, cost=paid)).rowcount == 1

    def spent(self, day: int) -> BudgetSpent:
        query = sa.select(BUDGETS).where(BUDGETS.c.day == day)
        row = self._database.read(lambda c: c.execute(query).one_or_none())
        return BudgetSpent(day=day) if row is None else BudgetSpent(day=day, bytes=row.bytes, cost=row.cost)

    def breakers(self) -> list[MaintenanceBreaker]:
        query = sa.select(BREAKERS.c.breaker).order_by(BREAKERS.c.opened_at, BREAKERS.c.key)
        return [_breaker(bytes(found)) for found in self._database.read(lambda c: c.execute(query).scalars().all())]

    def open_breaker(self, breaker: MaintenanceBreaker) -> bool:
        row = {
            "key": _column(breaker.key),
            "opened_at": breaker.opened_at,
            "breaker": msgspec.json.encode(breaker),
        }
        new = self._database.insert(BREAKERS).on_conflict_do_nothing(index_elements=["key"]).values(row)
        return self._database.write("open a breaker", lambda c: c.execute(new).rowcount == 1)

    def close_breaker(self, key: str) -> bool:
        mine = BREAKERS.delete().where(BREAKERS.c.key == _column(key))
        return self._database.write("close a breaker", lambda c: c.execute(mine).rowcount == 1)

    def _time(self, connection: sa.Connection) -> Micros:
        return Micros(connection.execute(sa.select(self._database.clock)).scalar_one())


def _recorded(connection: sa.Connection, plan_id: str) -> PlanFact | None:
    found = connection.execute(sa.select(PLANS.c.fact).where(PLANS.c.plan_id == _column(plan_id))).scalar()
    return None if found is None else _fact(bytes(found))


def _plan_row(fact: PlanFact) -> dict[str, Any]:
    return {
        "plan_id": _column(fact.plan_id),
        "seq": fact.seq,
        "state": fact.state or "",
        "table_uuid": _column(fact.table_uuid or ""),
        "at": fact.at or 0,
        "fact": msgspec.json.encode(fact),
    }


def _outcome_row(fact: PlanFact) -> dict[str, Any]:
    return {name: value for name, value in _plan_row(fact).items() if name != "state"}


def _held_by(lease: TableLease) -> sa.ColumnElement[bool]:
    """The lease itself: after a database was lost, epochs begin again, but no two executors have the same id."""
    return sa.and_(
        LEASES.c.table_uuid == _column(lease.table_uuid),
        LEASES.c.epoch == lease.epoch,
        LEASES.c.executor_id == _column(lease.executor_id),
        LEASES.c.held.is_(True),
    )


def _column(text: str) -> str:
    """Text of an indexed column: tables and users may name anything, databases limit length and characters."""
    return text if len(text) <= _LONGEST and text.isascii() and text.isprintable() else item_key(text)
