"""The request to the engine that a plan means: exact arguments, and nothing that is not in the plan."""

from __future__ import annotations

from limnograph.analysis.advice.planned import PlannedAction
from limnograph.ports.table_maintainer import ActionRequest


def request_of(plan_id: str, plan: PlannedAction, where: str | None) -> ActionRequest:
    """`where`: of the plan's statement for Spark; needed if the plan is for some partitions of an Iceberg table."""
    hours = plan.options.get("hours")
    return ActionRequest(
        plan_id=plan_id,
        action=plan.action,
        where=where if plan.partitions else None,
        partitions=plan.partitions,
        options=plan.options,
        snapshots=plan.snapshots,
        spec_id=plan.spec_id,
        files=plan.arguments.get("paths", ()),
        retention_hours=int(hours) if hours is not None else None,
    )
