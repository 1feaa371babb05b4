"""The request to the engine that a plan means: exact arguments, and nothing that is not in the plan."""

from __future__ import annotations

from limnograph.analysis.advice.planned import PlannedAction
from limnograph.ports.table_maintainer import ActionRequest


def request_of(
    stamp: str, plan: PlannedAction, where: str | None = None, older_than_ms: int | None = None
) -> ActionRequest:
    """`where`: of the plan's statement for Spark; needed if the plan is for some partitions of an Iceberg table.
    `older_than_ms`: only unreferenced files that are older are deleted.
    """
    hours = plan.options.get("hours")
    return ActionRequest(
        plan_id=stamp,
        action=plan.action,
        where=where if plan.partitions else None,
        partitions=plan.partitions,
        options=plan.options,
        snapshots=plan.snapshots,
        spec_id=plan.spec_id,
        files=plan.files,
        older_than_ms=older_than_ms,
        retention_hours=int(hours) if hours is not None else None,
    )
