"""Plans that an executor left: the table's stamps decide what became of them."""

from __future__ import annotations

from collections.abc import Collection

from limnograph.domain.errors import ActionCancelled, LimnographError, NotFound
from limnograph.domain.facts.plans import PlanFact
from limnograph.domain.ids import TableName
from limnograph.domain.maintenance.states import HELD
from limnograph.ports.table_maintainer import OpenedTable
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

    def recover(self, names: Collection[TableName], complete: Collection[str], report: RoundReport) -> None:
        """Decide on all plans whose executor is gone, also if no policy names their table any more. `names`: tables of
        this executor's catalogs; `complete`: those of its catalogs of which `names` has all tables. One failure does
        not stop the others.
        """
        for fact in self._parts.states.plans(LEFT):
            name = TableName(fact.catalog or "", fact.namespace or "", fact.table or "")
            if (name not in names and name.catalog not in complete) or self._parts.stopping():
                continue
            try:
                self._recover(fact, name, report)
            except LimnographError as error:
                report.trouble(str(name), error)

    def _recover(self, fact: PlanFact, name: TableName, report: RoundReport) -> None:
        parts, uuid = self._parts, fact.table_uuid or ""
        own = any(each.table_uuid == uuid and each.executor_id == parts.executor_id for each in parts.states.holders())
        lease = parts.states.acquire(uuid, parts.executor_id, fact.plan_id)
        if lease is None:
            return  # it is being worked on
        with LeaseKeeper(parts.states, lease, parts.timing, end=parts.end) as keeper:
            if lease.taken_over and not own:
                parts.pause(parts.timing.grace_s)
            found = parts.states.plan(fact.plan_id)
            if found is None or found.state not in LEFT or found.table_uuid != uuid:
                return
            progress = PlanProgress(parts.states, found, keeper, parts.stopping)
            text = self._decided(progress, name)
            report.recovered += 1
            report.plans.append(report_of(progress.fact, name, text))
            parts.progress(f"{name}: {found.action} {found.plan_id[:8]} recovered: {progress.fact.state}")

    def _decided(self, progress: PlanProgress, name: TableName) -> str | None:
        state, opened = progress.fact.state, self._opened(name)
        if opened is None or opened.table_uuid != progress.fact.table_uuid:
            return self._ended(progress, name, gone=opened is None)
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
        return self._settling.resume(progress, opened)

    def _opened(self, name: TableName) -> OpenedTable | None:
        """The table as it is now; None: the catalog has none of this name."""
        try:
            return self._parts.maintainer.open(name)
        except NotFound:
            return None

    def _ended(self, progress: PlanProgress, name: TableName, *, gone: bool) -> str:
        """The end of a plan whose table was dropped or renamed, or lost its name to another one."""
        if progress.fact.state not in _NOT_RUN | {"conflicted"}:
            return self._settling.lost(progress, name, gone=gone)
        text = f"{name} {'is no longer in the catalog' if gone else 'is another table now'}; nothing of the plan ran."
        progress.enter("superseded", problem=codes.TABLE_GONE if gone else codes.ANOTHER_TABLE, reason=text)
        return text
