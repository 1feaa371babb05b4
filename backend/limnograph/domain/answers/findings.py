"""Findings: what is wrong with tables. Wire structs, as `domain/answers/tables.py`."""

from __future__ import annotations

from typing import Literal

from limnograph.domain.answers.notes import TeamNote
from limnograph.domain.answers.view import View
from limnograph.domain.finding_codes import FindingCode, FindingGroup, FindingSeverity
from limnograph.domain.time import Millis

FindingState = Literal["open", "closed"]
AcknowledgedFilter = Literal["true", "false", "any"]
FindingVerdict = Literal["slower", "faster", "none", "unknown", "no_data_yet"]
"""What a finding did to a job. `no_data_yet`: too few runs have ended since; `unknown`: the runs allow no statement."""


class FindingCause(View, frozen=True, kw_only=True):
    """Commits that caused a finding, the main one first, and their writer. `share`: the writer's share of what caused
    it, 0 to 1; null if unknown.
    """

    snapshot_ids: list[str]
    writer: str | None
    share: float | None


class FindingEffect(View, frozen=True, kw_only=True):
    """What a finding did to one job that reads the table. `ratio`: duration since, divided by the duration that is
    expected without it, with bounds at 95 % (null: unbounded). `seconds`: typical difference per run. `runs`: runs
    since. `last_run_at`: end of the job's last run; null if none is known.
    """

    job_name: str
    verdict: FindingVerdict
    because: str
    ratio: float | None
    ratio_low: float | None
    ratio_high: float | None
    seconds: float | None
    runs: int
    since: Millis
    last_run_at: Millis | None


class Finding(View, frozen=True, kw_only=True):
    """A condition of one table during an interval. Its id never changes; `opened_at` may be corrected. `closed_by`: a
    snapshot id, or `run`, `expired`, `merged`, `retracted`, `retired`. `evidence`: counts and shares by name.
    `recurrences`: earlier findings of the same code and subject in the last 30 days. `evaluated_at`: facts until then
    were evaluated; it stays behind while the table's catalog does not respond.

    From notes: `acknowledged_until` and `acknowledged_by` while an acknowledgement hides the finding from the default
    list; it ends at that time, or when the severity rises. `owner`: its own or its table's note of kind `owner`, else
    the table property `owner`, else `[[owners]]`. `notes`: number of notes on it; null until the notes have been read.
    """

    finding_id: str
    code: FindingCode
    group: FindingGroup
    subject: str
    state: FindingState
    severity: FindingSeverity
    catalog: str
    namespace: str
    table: str
    table_uuid: str
    opened_at: Millis
    closed_at: Millis | None
    closed_by: str | None
    cause: FindingCause | None
    effects: list[FindingEffect]
    evidence: dict[str, str | float]
    recurrences: int
    evaluated_at: Millis | None
    acknowledged_until: Millis | None = None
    acknowledged_by: str | None = None
    owner: str | None = None
    notes: int | None = None


class FindingCounts(View, frozen=True, kw_only=True):
    """Number of findings by severity, regardless of the filter `severity`."""

    critical: int
    warning: int
    info: int


class FindingsPage(View, frozen=True, kw_only=True):
    """Findings that match, the most severe first, then the newest. `acknowledged`: the number of open findings that
    match the other filters and are acknowledged; without the filter `acknowledged` they are not among the rows.
    `not_evaluated`: tables whose history has not been read yet. `notes`: sources that did not respond.
    """

    rows: list[Finding]
    total: int
    acknowledged: int
    counts: FindingCounts
    not_evaluated: int
    notes: list[str]
    next_cursor: str | None


class FindingTransition(View, frozen=True, kw_only=True):
    """A recorded change of a finding."""

    seq: int
    at: Millis
    state: FindingState
    severity: FindingSeverity
    closed_by: str | None
    evidence: dict[str, str | float]


class EarlierEvent(View, frozen=True, kw_only=True):
    """An earlier finding of a table, or a commit that caused one or that users wrote on. `id`: of the finding, or the
    snapshot id. `at`: when it opened or was committed; null: unknown. `ended_at`, `code`, `severity`, `closed_by`: of a
    finding. `writer`: application that wrote the commit or caused the finding. `notes`: number of notes on it; null
    until the notes have been read. `last_note`: the newest one.
    """

    kind: Literal["finding", "commit"]
    id: str
    at: Millis | None
    ended_at: Millis | None
    code: FindingCode | None
    severity: FindingSeverity | None
    closed_by: str | None
    writer: str | None
    notes: int | None
    last_note: TeamNote | None


class FindingDetail(View, frozen=True, kw_only=True):
    """A finding, its recorded transitions in order, and earlier findings of the same code on the same table. `earlier`:
    commits before it that caused one of those or that users wrote on, newest first.
    """

    finding: Finding
    history: list[FindingTransition]
    seen_before: list[Finding]
    earlier: list[EarlierEvent]
