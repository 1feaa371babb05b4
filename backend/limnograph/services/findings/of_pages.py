"""Findings that belong to what another page shows: a commit, or a job in a range."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from limnograph.domain.answers.findings import Finding
from limnograph.domain.facts.findings import FindingFact
from limnograph.domain.finding_codes import group_of, severity_rank
from limnograph.domain.ids import TableName
from limnograph.domain.time import EPOCH, Micros
from limnograph.services.findings.board import FindingsBoard, is_shown, key_of, key_of_name
from limnograph.services.findings.views import ShownFinding, view


class JobRange(NamedTuple):
    """A job in a range. `commits`: ids of commits that are held to have changed it; `tables`: those that it reads."""

    job: str
    start: Micros
    end: Micros
    commits: Sequence[str] = ()
    tables: Sequence[TableName] = ()


def findings_of_commit(board: FindingsBoard, key: str, snapshot_id: int, shown: ShownFinding = view) -> list[Finding]:
    """Findings that a commit caused or ended, in the order of the board. O(findings of the table)."""
    of_table = board.by_table.get(key, ())
    found = (each for each in of_table if is_shown(each) and _concerns(each, snapshot_id))
    return [shown(each, of_table) for each in found]


def _concerns(each: FindingFact, snapshot_id: int) -> bool:
    if snapshot_id in (each.cause_snapshot_ids or ()):
        return True
    return each.closed_by == str(snapshot_id) and group_of(each.code) != "jobs"


def finding_of_job(board: FindingsBoard, asked: JobRange, shown: ShownFinding = view) -> Finding | None:
    """The finding that says what happened to a job in a range; None if there is none. The one whose cause is a given
    commit comes first, then what slowed the job, then that the job is slow, silent or failing, then what has no
    measured effect yet. O(findings of the tables and the job).
    """
    found = {each.finding_id: each for each in _around(board, asked)}
    ranked = [(place, each) for each in found.values() if (place := _place(each, asked)) is not None]
    best = min(ranked, key=lambda pair: (pair[0], *_order(pair[1])), default=None)
    return None if best is None else shown(best[1], board.by_table.get(key_of(best[1]), ()))


def _around(board: FindingsBoard, asked: JobRange) -> Iterable[FindingFact]:
    for name in asked.tables:
        yield from board.by_name.get(key_of_name(name), ())
    yield from board.by_job.get(asked.job, ())


def _place(each: FindingFact, asked: JobRange) -> int | None:
    """The rank of a finding in the story of a job; None: it is not a part of it."""
    opened = each.opened_at or EPOCH
    if not is_shown(each) or opened > asked.end or (each.closed_at is not None and each.closed_at < asked.start):
        return None
    if {str(cause) for cause in each.cause_snapshot_ids or ()} & set(asked.commits):
        return 0
    verdicts = {effect.verdict for effect in each.effects or () if effect.job_name == asked.job}
    if "slower" in verdicts:
        return 1
    if group_of(each.code) == "jobs" and each.subject == asked.job:
        return 2
    return 3 if "no_data_yet" in verdicts and opened >= asked.start else None


def _order(each: FindingFact) -> tuple[int, int, int]:
    return int(each.state != "open"), severity_rank(each.severity), -(each.opened_at or EPOCH)
