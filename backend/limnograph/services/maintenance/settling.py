"""What became of an action: the table's stamps decide, Limnograph's own reader verifies, and the result is recorded."""

from __future__ import annotations

from typing import Any, NamedTuple

from limnograph.analysis.advice.facts import DAY_MS
from limnograph.analysis.advice.planned import PlannedAction
from limnograph.analysis.maintenance.limits import rule_of
from limnograph.domain.advice.reading import AdviceReading
from limnograph.domain.errors import (
    ActionCancelled,
    ActionConflict,
    LimnographError,
    MetadataError,
    SourceError,
    SourceUnavailable,
)
from limnograph.domain.facts.plans import PlanFact
from limnograph.domain.ids import TableName
from limnograph.domain.maintenance.actions import DELETING
from limnograph.domain.maintenance.evidence import TableEvidence
from limnograph.domain.maintenance.states import IN_TABLE, UNCONFIRMED, PlanState
from limnograph.domain.time import Micros, to_millis
from limnograph.ports.table_maintainer import ActionOutcome, OpenedTable
from limnograph.services.maintenance import problems as codes
from limnograph.services.maintenance.breaker_panel import BreakerPanel
from limnograph.services.maintenance.judging import PlanJudge
from limnograph.services.maintenance.parts import ExecutorParts
from limnograph.services.maintenance.plan_progress import PlanProgress
from limnograph.services.maintenance.planning import ExactPlan, due_at
from limnograph.services.maintenance.requests import request_of
from limnograph.services.maintenance.results import amounts, committed, recorded_plan
from limnograph.services.maintenance.verification import (
    CheckedAction,
    VerificationProblem,
    evidence_request,
    part_of,
    stamp_of,
    verify,
)

STOPPED = "the executor was stopped while it was running"
KEPT = "the files that only the expired snapshots needed are not deleted."


class ActionEnd(NamedTuple):
    """How the engine ended. `error`: None if it reports success. `where`: condition of the plan's partitions. `note`:
    for users, recorded with the verification.
    """

    action: CheckedAction
    where: str | None
    outcome: ActionOutcome
    error: LimnographError | None
    seconds: float | None
    note: str | None = None


class PlanSettling:
    """Immutable after construction. All methods record transitions, and raise LeaseLost and SourceError: then the state
    stays as it is, and the next round decides.
    """

    def __init__(self, parts: ExecutorParts, panel: BreakerPanel, judge: PlanJudge) -> None:
        self._parts, self._panel, self._judge = parts, panel, judge

    def settle(self, progress: PlanProgress, name: TableName, end: ActionEnd) -> str | None:
        """Record what is in the table after an action; returns a sentence if it is not simply done."""
        opened = self._parts.maintainer.open(name)
        if opened.table_uuid != progress.fact.table_uuid:
            return self.lost(progress, name)
        stamped = self._parts.maintainer.stamped(opened, stamp_of(progress.fact))
        if end.error is not None and not stamped:
            return self._without_commit(progress, opened, end)
        is_part = end.error is not None or self._is_part(end)
        action = end.action._replace(partial=is_part)
        progress.enter(
            "partly" if is_part else "committed", **committed(stamped, end.outcome, end.seconds, self._parts.prices)
        )
        note = None if end.error is None else str(end.error)
        return self.verified(progress, opened, end._replace(action=action, note=note)) or note

    def lost(self, progress: PlanProgress, name: TableName, *, gone: bool = False) -> str:
        """End a plan whose table is no longer there, so that nothing of it can be verified."""
        what = "is no longer in the catalog" if gone else "is another table now"
        text = f"{name} {what}: what the plan did to the approved table cannot be verified."
        progress.enter("failed", problem=codes.TABLE_GONE if gone else codes.ANOTHER_TABLE, reason=text)
        return text

    def verified(self, progress: PlanProgress, opened: OpenedTable, end: ActionEnd) -> str | None:
        """Verify commits that are recorded as committed; returns what the table does not confirm."""
        found, evidence = self._checked(progress.fact, opened, end)
        self._parts.failpoints.reach("maintain.verified")
        if found:
            return self._unconfirmed(progress, opened.name, found)
        if progress.fact.state in IN_TABLE and evidence is not None:
            notes = [each for each in (part_of(end.action, evidence), end.note) if each]
            progress.enter(
                "verified", reason=" ".join(notes) or None, **amounts(end.action.plan, evidence, end.outcome)
            )
        base = end.action.base
        self._panel.after(progress.fact, opened.name, base.survey.bytes if base and base.survey else None)
        return None

    def _checked(
        self, fact: PlanFact, opened: OpenedTable, end: ActionEnd
    ) -> tuple[list[VerificationProblem], TableEvidence | None]:
        plan = end.action.plan
        try:
            evidence = self._parts.evidence.evidence(due_at(opened), evidence_request(stamp_of(fact), plan))
        except MetadataError as error:
            text = f"The metadata of the table cannot be read after the action: {error}"
            return [VerificationProblem(codes.MISSING_FILES, text)], None

        def rows(snapshot_id: int) -> int | None:
            return self._parts.maintainer.rows(opened, snapshot_id, end.where)

        return verify(end.action, evidence, rows), evidence

    def _unconfirmed(self, progress: PlanProgress, name: TableName, found: list[VerificationProblem]) -> str:
        """A failed verification stops the action for the fleet until a user closes the breaker."""
        text = " ".join(each.text for each in found)
        self._panel.unconfirmed(progress.fact, name, text)
        progress.enter("failed", problem=found[0].code, reason=f"{UNCONFIRMED}{text}")
        return text

    def _without_commit(self, progress: PlanProgress, opened: OpenedTable, end: ActionEnd) -> str | None:
        """The engine failed, and no stamp is in the table. A deletion has no stamp: the table decides."""
        error, text = end.error, str(end.error)
        if isinstance(error, ActionConflict):
            return self._conflicted(progress, opened.name, text)
        left = self._left_behind(progress.fact, opened, end.outcome)
        if isinstance(error, ActionCancelled) and not progress.is_cancelled_by_user:
            progress.enter("unknown", reason=STOPPED, **left)
            return self.resume(progress, opened)
        if end.action.plan.action in DELETING:
            progress.enter("unknown", reason=text, **left)
            return self.resume(progress, opened, end)
        if isinstance(error, ActionCancelled):
            progress.enter("cancelled", problem=codes.CANCELLED, reason="a user cancelled it", **left)
            return "A user cancelled it: nothing of it is in the table."
        progress.enter("failed", problem=codes.ENGINE, reason=text, **left)
        return text

    def resume(self, progress: PlanProgress, opened: OpenedTable, end: ActionEnd | None = None) -> str | None:
        """Decide by the table what became of an action whose end is not known: it is in the state `unknown`,
        `cancelling`, `committed` or `partly`. `end`: if this process ran it.
        """
        fact, note = progress.fact, None
        is_known = fact.state in IN_TABLE
        plan = end.action.plan if end else recorded_plan(fact, opened.table_uuid)
        stamped = self._parts.maintainer.stamped(opened, stamp_of(fact))
        if plan is None:
            text = "The recorded arguments are not those of the plan's id: what it did cannot be verified."
            state: PlanState = "failed" if stamped or is_known else "cancelled"
            progress.enter(state, problem=codes.FORGED, reason=text, snapshot_ids=stamped)
            return text
        outcome = ActionOutcome(left_behind=None)
        if plan.action == "expire_snapshots" and not is_known:
            if not self._are_expired(opened, plan):
                return self._again(progress, opened, end)
            if (note := self._kept_back(opened, plan, fact)) is None:
                outcome = self._finished(opened, plan, fact)
        elif not stamped and not is_known:
            return self._again(progress, opened, end)
        base = end.action.base if end else self._base(opened, fact)
        action = CheckedAction(plan, base, partial=_is_partial(plan) or fact.state == "partly")
        if not is_known:
            progress.enter("committed", **committed(stamped, outcome, None, self._parts.prices))
        return self.verified(progress, opened, ActionEnd(action, None, outcome, None, None, note))

    def _again(self, progress: PlanProgress, opened: OpenedTable, end: ActionEnd | None) -> str:
        """Nothing of it is in the table: it is queued once more, or ends."""
        fact = progress.fact
        left = self._left_behind(fact, opened, ActionOutcome(left_behind=None))
        if fact.state == "cancelling" or progress.is_cancelled_by_user:
            progress.enter("cancelled", problem=codes.CANCELLED, reason="a user cancelled it", **left)
            return "A user cancelled it: nothing of it is in the table."
        if end is not None and not isinstance(end.error, ActionCancelled):
            progress.enter("failed", problem=codes.ENGINE, reason=str(end.error), **left)
            return str(end.error)
        if fact.problem == codes.INTERRUPTED:
            text = "Executors ended twice while it was running; nothing of it is in the table."
            progress.enter("failed", problem=codes.INTERRUPTED, reason=text, **left)
            return text
        text = "Its executor ended while it was running; nothing of it is in the table, and it is queued again."
        progress.enter("queued", problem=codes.INTERRUPTED, reason=text, **left)
        return text

    def _are_expired(self, opened: OpenedTable, plan: PlannedAction) -> bool:
        request = evidence_request("", plan)
        evidence = self._parts.evidence.evidence(due_at(opened), request)
        return bool(plan.snapshots) and not set(plan.snapshots) & set(evidence.metadata.snapshots)

    def _kept_back(self, opened: OpenedTable, plan: PlannedAction, fact: PlanFact) -> str | None:
        """Why the files of an interrupted expiry stay, although its snapshots are gone: a policy that became stricter,
        another table that may need them. None: they are deleted. Raises SourceUnavailable if that is not known yet.
        """
        rule = rule_of(self._parts.policy, opened.name)
        if rule is None:
            return f"No policy names {opened.name} any more: {KEPT}"
        table = self._parts.planner.plan(opened, rule, self._parts.states.now(), listing=False)
        if table.known.others is None:
            raise SourceUnavailable("catalogs", "not all have answered; an interrupted expiry continues when they do")
        found = self._judge.forbids_deletion(table, ExactPlan(fact.plan_id, plan), fact)
        return None if found is None else f"{found} {KEPT[0].upper()}{KEPT[1:]}"

    def _finished(self, opened: OpenedTable, plan: PlannedAction, fact: PlanFact) -> ActionOutcome:
        """Delete what the interrupted expiry should have deleted, and only if the recorded metadata file is one of this
        table's own: it decides what is deleted.
        """
        location = fact.base_metadata_location
        if location is None or not self._is_earlier(opened, location):
            return ActionOutcome(left_behind=None)
        return self._parts.maintainer.finish(opened, request_of(stamp_of(fact), plan), location)

    def _is_earlier(self, opened: OpenedTable, location: str) -> bool:
        """Whether a metadata file is in the table's own log."""
        log = self._parts.planner.read_at(opened, opened.metadata_location, self._parts.states.now())
        return location in {entry.value for entry in log.metadata.metadata_log}

    def _base(self, opened: OpenedTable, fact: PlanFact) -> AdviceReading | None:
        """The table before the action; None: it can no longer be read."""
        location = fact.base_metadata_location
        try:
            if location is None or not self._is_earlier(opened, location):
                return None
            return self._parts.planner.read_at(opened, location, self._parts.states.now())
        except MetadataError:
            return None

    def _conflicted(self, progress: PlanProgress, name: TableName, text: str) -> str:
        """Another writer was first: a new plan is made later, never from old outputs."""
        progress.enter("conflicted", problem=codes.CONFLICT, reason=text)
        self._panel.after(progress.fact, name)
        retry_at = self._panel.retry_at(progress.fact)
        progress.enter("queued", problem=codes.CONFLICT, reason=text, not_before=retry_at)
        return text

    def retry_at(self, fact: PlanFact) -> Micros:
        """When a plan is tried again after another writer was first."""
        return self._panel.retry_at(fact)

    def _left_behind(self, fact: PlanFact, opened: OpenedTable, outcome: ActionOutcome) -> dict[str, Any]:
        """Unreferenced files since it began to run: those of other writers that have not committed yet are among them,
        so it is an upper bound.
        """
        if outcome.left_behind is not None and not outcome.left_behind:
            return {"left_behind_files": 0, "left_behind_bytes": 0}
        if opened.format != "iceberg" or fact.at is None:
            return {}
        since_ms, until_ms = to_millis(fact.at), to_millis(self._parts.states.now()) + DAY_MS
        try:
            files = [
                each
                for each in self._parts.maintainer.unreferenced(opened, until_ms)
                if each.modified_at_ms >= since_ms
            ]
        except (MetadataError, SourceError):
            return {}
        return {"left_behind_files": len(files), "left_behind_bytes": sum(each.size for each in files)}

    @staticmethod
    def _is_part(end: ActionEnd) -> bool:
        """Whether the engine reports success, but left groups out (iceberg #17202)."""
        planned, done = end.action.plan.predicted.files_in, end.outcome.files_in
        return _is_partial(end.action.plan) and planned is not None and done is not None and done < planned


def _is_partial(plan: PlannedAction) -> bool:
    return plan.options.get("partial-progress.enabled") == "true"
