"""Plans that an executor left: the table's stamps decide what became of them."""

from __future__ import annotations

from limnograph.analysis.maintenance.limits import rule_of
from limnograph.domain.errors import ActionCancelled, LeaseLost, LimnographError
from limnograph.domain.facts.plans import PlanFact
from limnograph.domain.ids import TableName
from limnograph.domain.maintenance.states import HELD
from limnograph.services.maintenance import problems as codes
from limnograph.services.maintenance.lease_keeper import LeaseKeeper
from limnograph.services.maintenance.parts import ExecutorParts
from limnograph.services.maintenance.plan_progress import PlanProgress
from limnograph.services.maintenance.report import RoundReport, report_of
from limnograph.services.maintenance.settling import PlanSettling

LEFT = HELD | {"conflicted"}
"""States of a plan of which no one works on the table, if its lease is free."""
_NOT_RUN = frozenset({"leased", "checking"})
TEXT = "Its executor ended before it ran, and it is queued again."


class PlanRecovery:
    """Immutable after construction."""

    def __init__(self, parts: ExecutorParts, settling: PlanSettling) -> None:
        self._parts, self._settling = parts, settling

    def recover(self, names: frozenset[TableName], report: RoundReport) -> None:
        """Decide on all plans whose executor is gone. `names`: tables of this executor's catalogs. One failure does not
        stop the others.
        """
        for fact in self._parts.states.plans(LEFT):
            name = TableName(fact.catalog or "", fact.namespace or "", fact.table or "")
            if name not in names or rule_of(self._parts.policy, name) is None or self._parts.stopping():
                continue
            try:
                self._recover(fact, name, report)
            except LimnographError as error:
                report.trouble(str(name), error)

    def _recover(self, fact: PlanFact, name: TableName, report: RoundReport) -> None:
        parts = self._parts
        opened = parts.maintainer.open(name)
        if opened.table_uuid != fact.table_uuid:
            return  # another table took its name; its plans expire
        own = any(
            each.table_uuid == opened.table_uuid and each.executor_id == parts.executor_id
            for each in parts.states.holders()
        )
        lease = parts.states.acquire(opened.table_uuid, parts.executor_id, fact.plan_id)
        if lease is None:
            return  # it is being worked on
        with LeaseKeeper(parts.states, lease, parts.timing, end=parts.end) as keeper:
            if lease.taken_over and not own:
                parts.pause(parts.timing.grace_s)
            found = parts.states.plan(fact.plan_id)
            if found is None or found.state not in LEFT or found.table_uuid != opened.table_uuid:
                return
            progress = PlanProgress(parts.states, found, keeper, parts.stopping)
            text = self._decided(progress, name)
            report.recovered += 1
            report.plans.append(report_of(progress.fact, name, text))
            parts.progress(f"{name}: {found.action} {found.plan_id[:8]} recovered: {progress.fact.state}")

    def _decided(self, progress: PlanProgress, name: TableName) -> str | None:
        state = progress.fact.state
        if state == "conflicted":
            progress.enter("queued", problem=codes.CONFLICT, not_before=self._settling.retry_at(progress.fact))
            return None
        if state in _NOT_RUN:
            try:
                progress.enter("queued", problem=progress.fact.problem, reason=TEXT)
            except ActionCancelled:
                progress.enter("cancelled", problem=codes.CANCELLED, reason="a user cancelled it before it ran")
            return TEXT
        if state == "running":
            progress.enter("unknown", reason="its executor ended while it was running")
        opened = self._parts.maintainer.open(name)
        if opened.table_uuid != progress.fact.table_uuid:
            raise LeaseLost(f"{name} became another table")
        return self._settling.resume(progress, opened)
