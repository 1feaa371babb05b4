"""A server with plans in any state, asked by callers with chosen scopes."""

from __future__ import annotations

import asyncio
import hashlib
from pathlib import Path
from typing import Any

import httpx

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
PATHS = {
    "propose": "/api/v1/maintenance/plans",
    **{name: f"/api/v1/maintenance/{PLAN.plan_id}/{name}" for name in ("approve", "dismiss", "withdraw", "cancel")},
    "close": "/api/v1/maintenance/breakers/close",
}
DETAIL = f"/api/v1/maintenance/{PLAN.plan_id}"


def seen(seq: int = 1, **more: Any) -> dict[str, Any]:
    """The body of a decision."""
    return {"arguments_sha256": DIGEST, "seq": seq, **more}


def body_of(name: str, seq: int = 1) -> dict[str, Any]:
    """A correct body of each POST of PATHS."""
    return {"propose": {"plan_id": PLAN.plan_id}, "close": {"key": BREAKER.key}}.get(name, seen(seq))


class PlannedLake:
    """`states`: where the plans are; `gate`: tokens with scopes, and what it wrote into the audit log."""

    def __init__(self, folder: Path, **given: Any) -> None:
        self.inbox, self.clock = MemoryInbox(), FixedClock()
        self.states = MemoryPlanStates(self.inbox, lambda: Micros(self.clock.now()))
        self.gate: Guarded = guarded(folder, **given)
        engine = lake([row(1, NOW - HOUR, 40)], [moved(1, NOW - HOUR)])
        services = parts(engine, inbox=self.inbox, clock=self.clock)
        self.server = with_advice(services, LocalSource(), Prices(), self.states)

    def add(self, *path: str, plan: PlanFact = PLAN, actor: str = "limnograph", **fields: Any) -> PlanFact:
        """A plan after these transitions; `fields`: of the last one."""
        (fact,) = self.states.record([plan])
        for place, state in enumerate(path, 1):
            self.clock.micros += 1_000_000
            after = following(fact, state, actor)  # type: ignore[arg-type]
            (fact,) = self.states.record([_with(after, fields) if place == len(path) else after])
        return fact

    def token(self, *scopes: str, name: str = "ann") -> dict[str, str]:
        """Headers of a caller."""
        return self.gate.bearer(*scopes, name=name)

    def ask(self, method: str, path: str, *, gate: Any = None, **given: Any) -> httpx.Response:
        """The response to one request. `gate`: another than that with tokens."""

        async def asked() -> httpx.Response:
            async with client(self.server, gate=gate or self.gate.gate) as http:
                return await http.request(method, path, **given)

        return asyncio.run(asked())


def _with(fact: PlanFact, fields: dict[str, Any]) -> PlanFact:
    from msgspec.structs import replace

    return replace(fact, **fields)
