"""Leases of tables, breakers and budgets: state that executors share."""

from __future__ import annotations

from typing import Literal

import msgspec

from limnograph.domain.time import MICROS_PER_SECOND, Micros

LEASE_US = 300 * MICROS_PER_SECOND
"""How long a lease lasts without a beat, microseconds."""
BEAT_S = 20.0
"""Seconds between two beats of a holder."""
GIVE_UP_S = 240.0
"""Seconds without a successful beat after which a holder cancels its work and ends: earlier than its lease ends."""
GRACE_US = 60 * MICROS_PER_SECOND
"""How long the next holder waits after a lease ended without a release, before it acts. Microseconds."""


class TableLease(msgspec.Struct, frozen=True, kw_only=True):
    """The right to maintain one table, for all actions.

    epoch     number of the lease of this table, from 1; a later holder has a greater one (fencing)
    until     when it ends, by the database's clock, unless it is renewed
    taken_over  whether the previous holder let it end without a release: wait GRACE_US and read the stamps first
    """

    table_uuid: str
    executor_id: str
    plan_id: str
    epoch: int
    until: Micros
    taken_over: bool = False


BreakerScope = Literal["table", "action", "rule", "fleet"]


class MaintenanceBreaker(msgspec.Struct, frozen=True, kw_only=True):
    """A stop of maintenance that opened itself. `key`: `scope:subject:code`, such as `table:UUID:conflicts`.

    scope     what it stops: a table, an action on all tables, a rule on all tables, everything
    subject   table uuid, action or rule; empty for the fleet
    code      why, such as `conflicts`, `verification`, `writers_failed`
    opened_by plan that opened it
    text      a sentence: what happened, and how it closes
    half_open_at  when one plan may try again; None: only a user closes it
    """

    key: str
    scope: BreakerScope
    subject: str
    code: str
    opened_by: str
    opened_at: Micros
    text: str
    half_open_at: Micros | None = None


class BudgetSpent(msgspec.Struct, frozen=True, kw_only=True):
    """What maintenance used on one UTC day. `day`: days since 1970-01-01."""

    day: int
    bytes: int = 0
    cost: float = 0.0
