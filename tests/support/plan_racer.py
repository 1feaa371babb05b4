"""Another process that works on the states of plans: `python plan_racer.py URL (race|hold) …`.

race PLAN NUMBER    moves a plan between `approved` and `leased`, whoever is first, until it has won NUMBER times
hold TABLE SECONDS  takes a lease that lasts SECONDS, beats ten times as often, and says when it was lost
"""

from __future__ import annotations

import contextlib
import sys
import time

from limnograph.adapters.inbox.database import InboxDatabase
from limnograph.adapters.inbox.plan_states import SqlPlanStates
from limnograph.domain.errors import LeaseLost, PlanMoved, SourceUnavailable
from limnograph.domain.maintenance.moves import following
from limnograph.ports.plan_states import PlanStates


def race(states: PlanStates, plan_id: str, wins: int, actor: str) -> list[int]:
    """Transitions that this caller made. Each attempt either won or received the transition of the winner."""
    won: list[int] = []
    while len(won) < wins:
        seen = states.plan(plan_id)
        assert seen is not None
        try:
            (made,) = states.record([following(seen, "approved" if seen.state == "leased" else "leased", actor)])
        except PlanMoved as moved:
            if moved.plan is None or moved.plan.seq <= seen.seq:
                raise AssertionError("a caller that lost was not told who won") from moved
        else:
            assert made.seq == seen.seq + 1
            won.append(made.seq)
    return won


def _hold(states: PlanStates, table_uuid: str, lease_s: float) -> None:
    lease = states.acquire(table_uuid, "holder", "p1")
    assert lease is not None
    print("held", lease.epoch, flush=True)
    try:
        while True:
            time.sleep(lease_s / 10)
            # One that was stopped within its transaction finds its connection ended, and asks again.
            with contextlib.suppress(SourceUnavailable):
                lease = states.renew(lease)
    except LeaseLost as lost:
        states.release(lease)
        print("lost", lost, flush=True)


if __name__ == "__main__":
    url, what, subject, number = sys.argv[1:]
    lease_us = int(float(number) * 1_000_000) if what == "hold" else 300_000_000
    opened = SqlPlanStates(InboxDatabase(url), lease_us)
    if what == "hold":
        _hold(opened, subject, float(number))
    else:
        print(*race(opened, subject, int(number), "another process"))
