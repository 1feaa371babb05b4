"""Whether the table itself confirms an action: by Limnograph's own reader, never by what the engine reports.

Checked after every action: the stamped commits are the planned ones, they removed exactly the approved files, no row
was lost or returned, every file exists, and exactly the named snapshots are gone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from limnograph.analysis.advice.planned import PlannedAction
from limnograph.analysis.advice.retention import past_refs
from limnograph.analysis.advice.words import counted
from limnograph.domain.advice.reading import AdviceReading
from limnograph.domain.facts.plans import PlanFact
from limnograph.domain.maintenance.actions import DELETING, REWRITING
from limnograph.domain.maintenance.evidence import ChangedFiles, EvidenceRequest, TableEvidence
from limnograph.domain.metadata.table import Snapshot
from limnograph.services.maintenance import problems as codes

_NAMED = 3
"""Ids or locations that a text names."""
RowCount = Callable[[int], int | None]
"""Rows of the table at a snapshot, counted by the engine with all deletes applied; None: it cannot count them."""


class VerificationProblem(NamedTuple):
    """What the table does not confirm. `text` names rows, files or snapshots."""

    code: str
    text: str


class CheckedAction(NamedTuple):
    """An action that may have run. `base`: the table before it; None: no longer known. `partial`: whether some of its
    groups may have failed, so that their files stay.
    """

    plan: PlannedAction
    base: AdviceReading | None
    partial: bool = False


def stamp_of(fact: PlanFact) -> str:
    """The stamp of a plan's commits. A plan may be due again, such as that of manifests: each attempt has its own."""
    return stamp(fact.plan_id, fact.attempt or 1)


def stamp(plan_id: str, attempt: int) -> str:
    """The stamp of an attempt of a plan."""
    return plan_id if attempt == 1 else f"{plan_id}-{attempt}"


def evidence_request(stamp: str, plan: PlannedAction) -> EvidenceRequest:
    """What to look for after an action."""
    return EvidenceRequest(
        plan_id=stamp,
        groups=[[(spec_id, text) for spec_id, text in group["partitions"]] for group in _groups(plan)],
        deletes=plan.action == "rewrite_position_delete_files",
        compare_live=plan.action == "rewrite_manifests",
        every_snapshot=plan.action in DELETING,
    )


def verify(action: CheckedAction, evidence: TableEvidence, rows: RowCount) -> list[VerificationProblem]:
    """All that the table does not confirm; empty: it confirms the action."""
    if action.plan.action in REWRITING:
        found = [*_commits(action, evidence), *_files(action, evidence), *_rows(action, evidence, rows)]
    elif action.plan.action == "rewrite_manifests":
        found = [*_commits(action, evidence), *_unchanged(evidence)]
    else:
        found = [*_snapshots(action, evidence)]
    return [*found, *_existence(evidence)]


def part_of(action: CheckedAction, evidence: TableEvidence) -> str | None:
    """A sentence if only some of the approved files were rewritten; None: all, or the plan names no files."""
    planned = sum(int(group["files"]) for group in _groups(action.plan))
    is_deletes = action.plan.action == "rewrite_position_delete_files"
    done = (evidence.removed_deletes if is_deletes else evidence.removed_data).files
    if not action.partial or done >= planned:
        return None
    return f"{done:,} of {counted(planned, 'approved file')} were rewritten; what is still due is planned again."


def _commits(action: CheckedAction, evidence: TableEvidence) -> Iterator[VerificationProblem]:
    options, count, most = action.plan.options, len(evidence.stamped), 1
    if action.plan.action == "optimize":
        most = max(1, len(_groups(action.plan)))  # deltalake commits each partition
    elif _is_partial(options):
        most = int(options.get("partial-progress.max-commits", "1"))
    if not count:
        yield VerificationProblem(codes.NO_COMMIT, "The table contains no commit of the action.")
    elif count > most:
        yield VerificationProblem(
            codes.TOO_MANY_COMMITS, f"The table contains {count} commits of the action, {most} at most were planned."
        )


def _is_partial(options: Mapping[str, str]) -> bool:
    return options.get("partial-progress.enabled", "").lower() == "true"


def _files(action: CheckedAction, evidence: TableEvidence) -> Iterator[VerificationProblem]:
    if not evidence.stamped:
        return
    if evidence.elsewhere:
        yield VerificationProblem(
            codes.FOREIGN_FILES,
            f"The action removed {counted(evidence.elsewhere, 'file')} outside the approved groups.",
        )
    for group, found in zip(_groups(action.plan), evidence.groups, strict=True):
        is_whole = (found.files, found.bytes, found.sha256) == (group["files"], group["bytes"], group["files_sha256"])
        is_part = action.partial and found.files <= group["files"] and found.bytes <= group["bytes"]
        if not is_whole and not is_part:
            where = ", ".join(text or "the whole table" for _, text in group["partitions"][:_NAMED])
            yield VerificationProblem(
                codes.FOREIGN_FILES,
                f"In {where}, the action removed {counted(found.files, 'file')} of {found.bytes:,} bytes; "
                f"{counted(group['files'], 'other file')} of {group['bytes']:,} bytes had been approved.",
            )


def _rows(action: CheckedAction, evidence: TableEvidence, rows: RowCount) -> Iterator[VerificationProblem]:
    """Without deletes, the metadata is exact; with them, the engine counts both sides of the commits."""
    survey = action.base.survey if action.base else None
    removed, added = evidence.removed_data.rows, evidence.added_data.rows
    if not evidence.stamped or action.plan.action == "rewrite_position_delete_files":
        if evidence.removed_data.files or evidence.added_data.files:
            yield VerificationProblem(codes.FOREIGN_FILES, "The action changed data files, but only delete files may.")
        if not evidence.stamped:
            return
    elif removed is None or added is None:
        pass  # a file without statistics in a Delta log: the engine counts
    elif survey is not None and not survey.delete_files:
        if removed != added:
            yield VerificationProblem(
                codes.ROWS_DIFFER, f"The replaced files had {removed:,} rows, the written ones have {added:,}."
            )
        return
    elif added > removed:
        yield VerificationProblem(
            codes.ROWS_DIFFER, f"The replaced files had {removed:,} rows at most, the written ones have {added:,}."
        )
    for before, after in _steps(evidence):
        counts = rows(before), rows(after)
        if None not in counts and counts[0] != counts[1]:
            yield VerificationProblem(
                codes.ROWS_DIFFER,
                f"The table had {counts[0]:,} rows before commit {after}, and {counts[1]:,} after it.",
            )


def _steps(evidence: TableEvidence) -> list[tuple[int, int]]:
    """Each run of consecutive stamped commits: the commit before it, and the last of it."""
    snapshots, stamped = evidence.metadata.snapshots, set(evidence.stamped)
    found = []
    for last in evidence.stamped:
        if any(_parent(snapshots, each) == last for each in stamped):
            continue
        first: int | None = last
        while first in stamped:
            first = _parent(snapshots, first)
        if first is not None and first in snapshots:
            found.append((first, last))
    return found


def _parent(snapshots: Mapping[int, Snapshot], snapshot_id: int) -> int | None:
    found = snapshots.get(snapshot_id)
    return None if found is None else found.parent_id


def _unchanged(evidence: TableEvidence) -> Iterator[VerificationProblem]:
    before, after = evidence.live_before, evidence.live_after
    if before is not None and after is not None and before != after:
        yield VerificationProblem(
            codes.FOREIGN_FILES,
            f"The live files changed: {_amount(before)} before the action, {_amount(after)} after it.",
        )


def _amount(files: ChangedFiles) -> str:
    rows = "an unknown number of" if files.rows is None else f"{files.rows:,}"
    return f"{counted(files.files, 'file')} with {rows} rows"


def _snapshots(action: CheckedAction, evidence: TableEvidence) -> Iterator[VerificationProblem]:
    """What a deletion may have done to snapshots and references. Commits and references of others may be new."""
    now, named = evidence.metadata, set(action.plan.snapshots)
    if left := sorted(named & set(now.snapshots)):
        yield VerificationProblem(codes.SNAPSHOTS_KEPT, f"Not expired: {_ids(left)}.")
    if action.base is None:
        return
    base = action.base.metadata
    lost = sorted(set(base.snapshots) - named - set(now.snapshots))
    if base.format == "iceberg" and lost:
        yield VerificationProblem(codes.SNAPSHOTS_LOST, f"Expired without having been named: {_ids(lost)}.")
    # One that a user dropped meanwhile was not past its own age.
    dropped = [name for name in past_refs(base, action.base.now) if name not in now.refs]
    if dropped:
        yield VerificationProblem(
            codes.SNAPSHOTS_LOST,
            f"Branches or tags were dropped without having been named: {', '.join(dropped[:_NAMED])}.",
        )


def _ids(ids: list[int]) -> str:
    more = f" and {len(ids) - _NAMED} more" if len(ids) > _NAMED else ""
    return f"snapshots {', '.join(map(str, ids[:_NAMED]))}{more}"


def _existence(evidence: TableEvidence) -> Iterator[VerificationProblem]:
    if evidence.missing_count:
        named = ", ".join(evidence.missing[:_NAMED])
        more = f" and {evidence.missing_count - _NAMED} more" if evidence.missing_count > _NAMED else ""
        yield VerificationProblem(codes.MISSING_FILES, f"Files of the table do not exist: {named}{more}.")


def _groups(plan: PlannedAction) -> list[dict[str, Any]]:
    return list(plan.arguments.get("groups", ()))
