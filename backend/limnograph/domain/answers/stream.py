"""Events of the live stream, as on the wire."""

from __future__ import annotations

from typing import Literal

from limnograph.domain.answers.alerts import AlertStreamEvent
from limnograph.domain.answers.findings import FindingState
from limnograph.domain.answers.notes import NoteKind, NoteScope
from limnograph.domain.answers.tables import SourceStatus
from limnograph.domain.answers.view import View
from limnograph.domain.finding_codes import FindingCode, FindingSeverity
from limnograph.domain.time import Millis


class CommitStreamEvent(View, frozen=True, kw_only=True):
    """Event `commit`: a new commit, or the pipeline's row that replaces the watcher's (`provisional` false)."""

    catalog: str
    table_namespace: str
    table: str
    snapshot_id: str
    t: Millis | None
    operation: str | None
    added_data_files: int | None
    removed_data_files: int | None
    provisional: bool


class TableStreamEvent(View, frozen=True, kw_only=True):
    """Event `table`: the facts of a table changed; clients should reload its pages. `commits`: number of new commits,
    at most a hundred of which are sent as events.
    """

    catalog: str
    table_namespace: str
    table: str
    commits: int


class FindingStreamEvent(View, frozen=True, kw_only=True):
    """Event `finding`: a finding opened, closed, or changed its severity or the verdict of an effect."""

    finding_id: str
    catalog: str
    table_namespace: str
    table: str
    code: FindingCode
    severity: FindingSeverity
    state: FindingState


class NoteStreamEvent(View, frozen=True, kw_only=True):
    """Event `note`: a note was written, edited or deleted; clients should reload it. Ids only, as in `TeamNote`."""

    note_id: str
    event_id: str
    kind: NoteKind
    scope: NoteScope
    target_id: str
    catalog: str | None
    table_namespace: str | None
    table: str | None


class PlanStreamEvent(View, frozen=True, kw_only=True):
    """Event `plan`: a plan of maintenance entered a state; clients should reload it. `problem`: code of what stopped
    it; null: nothing did.
    """

    plan_id: str
    seq: int
    state: str
    action: str
    rule: str
    problem: str | None
    catalog: str
    table_namespace: str
    table: str


class SourcesStreamEvent(View, frozen=True, kw_only=True):
    """Event `sources`: a source became available or unavailable."""

    sources: tuple[SourceStatus, ...]


class ResetStreamEvent(View, frozen=True, kw_only=True):
    """Event `reset`: missed events are no longer available; clients should reload the page's data."""

    reason: Literal["new-server", "too-long-ago", "too-much"]


STREAM_EVENTS: dict[str, type[View]] = {
    "commit": CommitStreamEvent,
    "alert": AlertStreamEvent,
    "table": TableStreamEvent,
    "finding": FindingStreamEvent,
    "note": NoteStreamEvent,
    "plan": PlanStreamEvent,
    "sources": SourcesStreamEvent,
    "reset": ResetStreamEvent,
}
"""Event names -> what their data is."""
