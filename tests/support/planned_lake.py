"""A server with plans in any state, asked by callers with chosen scopes."""

from __future__ import annotations

import asyncio
import hashlib
from pathlib import Path
from typing import Any

import httpx
from msgspec.structs import replace

from access_kit import Guarded, guarded
from advised_lake import LocalSource
from limnograph.adapters.memory.inbox import MemoryInbox
from limnograph.adapters.memory.plan_states import MemoryPlanStates
from limnograph.domain.advice.prices import Prices
from limnograph.domain.facts.plans import PlanFact
from limnograph.domain.maintenance.leases import MaintenanceBreaker
from limnograph.domain.maintenance.moves import following
from limnograph.domain.time import Micros
from limnograph.wiring.on_request.advice import with_advice
from serving_kit import HOUR, NOW, UUID, FixedClock, client, lake, moved, parts, row

ARGUMENTS = '{"action":"rewrite_data_files","groups":[{"partitions":[[0,"day=2026-11-20"]]}],"whole_table":false}'
DIGEST = hashlib.sha256(ARGUMENTS.encode()).hexdigest()
PLAN = PlanFact(
    plan_id="3f2a9c1d7be04a55b1c2d3e4f5a60718",
    seq=1,
    state="proposed",
    attempt=1,
    table_uuid=UUID,
    catalog="lake",
    namespace="sales",
    table="orders",
    format="iceberg",
    action="rewrite_data_files",
    rule="compact",
    because=["small_files"],
    base_snapshot_id=1,
    arguments=ARGUMENTS,
    arguments_sha256=DIGEST,
    statement="CALL lake.system.rewrite_data_files(table => 'sales.orders')",
    files_in=40,
    files_out=1,
    bytes_in=1_000,
    bytes_out=900,
    seconds_low=1.0,
    seconds_mid=2.0,
    seconds_high=4.0,
    saved_per_month=2.5,
    currency="USD",
    guards=["quiet"],
    actor="limnograph",
    proposed_by="limnograph",
)
BREAKER = MaintenanceBreaker(
    key=f"table:{UUID}:conflicts",
    scope="table",
    subject=UUID,
    code="conflicts",
    opened_by=PLAN.plan_id,
    opened_at=Micros(NOW),
    text="Three conflicts in a row. It closes after a success.",
)
DECISIONS = ("propose", "approve", "dismiss", "withdraw", "cancel", "close")


def path_of(name: str, plan_id: str = PLAN.plan_id) -> str:
    """Where a decision is sent."""
    fixed = {"propose": "/api/v1/maintenance/plans", "close": "/api/v1/maintenance/breakers/close"}
    return fixed.get(name) or f"/api/v1/maintenance/{plan_id}/{name}"


def seen(seq: int = 1, **more: Any) -> dict[str, Any]:
    """The body of a decision."""
    return {"arguments_sha256": DIGEST, "seq": seq, **more}


def body_of(name: str, plan: PlanFact) -> dict[str, Any]:
    """A correct body of each decision."""
    return {"propose": {"plan_id": plan.plan_id}, "close": {"key": BREAKER.key}}.get(name, seen(plan.seq))


class PlannedLake:
    """`states`: where the plans are; `gate`: tokens with scopes, and what it wrote into the audit log."""

    def __init__(self, folder: Path, **given: Any) -> None:
        self.inbox, self.clock = MemoryInbox(), FixedClock()
        self.states = MemoryPlanStates(self.inbox, lambda: Micros(self.clock.now()))
        self.gate: Guarded = guarded(folder, **given)
        engine = lake([row(1, NOW - HOUR, 40)], [moved(1, NOW - HOUR)])
        services = parts(engine, inbox=self.inbox, clock=self.clock)
        self.server = with_advice(services, LocalSource(), Prices(), self.states)
        self._plans, self._tokens = 0, dict[str, tuple[tuple[str, ...], dict[str, str]]]()

    def add(self, *path: str, actor: str = "limnograph", **fields: Any) -> PlanFact:
        """A new plan after these transitions; `fields`: of its last one. The first plan has the id of PLAN."""
        number, self._plans = self._plans, self._plans + 1
        plan_id = f"{number:032x}" if number else PLAN.plan_id
        (fact,) = self.states.record([replace(PLAN, plan_id=plan_id, **fields)])
        for state in path:
            self.clock.micros += 1_000_000
            after = replace(following(fact, state, actor), **fields)  # type: ignore[arg-type]
            (fact,) = self.states.record([after])
        return fact

    def token(self, *scopes: str, name: str = "ann") -> dict[str, str]:
        """Headers of a caller. A name has one token at a time."""
        known = self._tokens.get(name)
        if known is None or known[0] != scopes:
            if known is not None:
                self.gate.tokens.revoke(name)
            self._tokens[name] = known = scopes, self.gate.bearer(*scopes, name=name)
        return known[1]

    def ask(self, method: str, path: str, *, gate: Any = None, **given: Any) -> httpx.Response:
        """The response to one request. `gate`: another than that with tokens."""

        async def asked() -> httpx.Response:
            async with client(self.server, gate=gate or self.gate.gate) as http:
                return await http.request(method, path, **given)

        return asyncio.run(asked())
