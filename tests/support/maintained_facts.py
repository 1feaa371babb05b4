"""Facts of one action, of which a test changes one."""

from __future__ import annotations

from typing import Any

from advised_facts import DAY, GIB, HOUR, NOW, commits, metadata
from limnograph.analysis.advice.planned import PlannedAction
from limnograph.analysis.maintenance.decision import DecisionFacts, PlanApproval
from limnograph.analysis.maintenance.guards.facts import GuardFacts, OtherTable
from limnograph.domain.advice.document import Estimate, PlanGuard, PlanValue, Predicted
from limnograph.domain.facts.plans import PlanFact
from limnograph.domain.ids import Patterns, TableName
from limnograph.domain.maintenance.actions import PROCEDURES
from limnograph.domain.maintenance.policy import MaintenancePolicy, PolicyRule
from limnograph.domain.time import Micros, to_micros

NAME = TableName("lake", "sales", "orders")
NOW_US = to_micros(NOW)
HOUR_US, DAY_US = HOUR * 1_000, DAY * 1_000
UUID = "0b7a2f0c-0d5e-4c2f-9d11-1f2e3d4c5b6a"
QUIET = PlanGuard(code="quiet", ok=True, text="The last commit to these files was 24 h ago.")


def planned(rule: str = "compact", **fields: Any) -> PlannedAction:
    """A plan that rewrites 1 GiB at a cost of 0.1."""
    given: dict[str, Any] = {
        "action": PROCEDURES.get(rule, "set_properties"),
        "because": [],
        "arguments": {},
        "predicted": Predicted(files_in=100, files_out=2, bytes_in=GIB, cost=Estimate(low=0.05, mid=0.1, high=0.3)),
        "value": PlanValue(money_per_month=5.0, payback_days=1.0),
        "guards": [QUIET],
    }
    return PlannedAction(rule=rule, **{**given, **fields})


def rule(**fields: Any) -> PolicyRule:
    """A policy that does everything by itself."""
    return PolicyRule(**{"name": "sales", "tables": Patterns(("lake.sales.**",)), "mode": "auto", **fields})


def policy(*rules: PolicyRule, **fields: Any) -> MaintenancePolicy:
    """A policy with one rule, if none is given."""
    return MaintenancePolicy(rules=rules or (rule(),), **fields)


def decided(**fields: Any) -> DecisionFacts:
    """Facts with which the action runs."""
    given: dict[str, Any] = {
        "policy": policy(),
        "name": NAME,
        "table_uuid": UUID,
        "now": NOW_US,
        "plan": planned(),
        "live_bytes": 10 * GIB,
        "unknown_streams": False,
        "currency": "USD",
    }
    return DecisionFacts(**{**given, **fields})


def approved(approver: str | None = "ann", ago_us: int = HOUR_US, proposer: str | None = "ben") -> PlanApproval:
    """An approval an hour ago."""
    return PlanApproval(approver, Micros(NOW_US - ago_us), proposer)


def guarded(rule_name: str = "compact", **fields: Any) -> GuardFacts:
    """Facts with which every guard holds."""
    plan = fields.pop("plan", None) or planned(rule_name)
    given: dict[str, Any] = {
        "plan": plan,
        "metadata": metadata(commits(*range(7 * DAY, 0, -DAY))),
        "name": NAME,
        "now": NOW_US,
        "machine_now": NOW_US,
        "table_uuid": UUID,
        "own_plans": frozenset({"ours"}),
        "others": [OtherTable(TableName("lake", "sales", "items"), "s3://lake/sales/items", "another")],
        "meta_namespaces": frozenset({"lake.limnograph"}),
        "readers": [],
        "unknown_streams": False,
        "longest_run_us": HOUR_US,
        "unreferenced": [],
        "engine": "spark",
        "base_recorded": True,
    }
    return GuardFacts(**{**given, **fields})


def plan_fact(state: str, seq: int = 1, ago_us: int = 0, **fields: Any) -> PlanFact:
    """A transition of a plan of the table."""
    given: dict[str, Any] = {
        "plan_id": "a" * 32,
        "at": Micros(NOW_US - ago_us),
        "attempt": 1,
        "table_uuid": UUID,
        "action": "rewrite_data_files",
        "rule": "compact",
    }
    return PlanFact(seq=seq, state=state, **{**given, **fields})
