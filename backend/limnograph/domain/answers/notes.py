"""Notes of a team: what users write on findings, commits, alerts, ranges and tables. Wire structs, as
`domain/answers/tables.py`.
"""

from __future__ import annotations

from typing import Literal, get_args

import msgspec

from limnograph.domain.answers.view import View
from limnograph.domain.time import Millis

NoteKind = Literal["note", "ack", "owner"]
"""`note`: plain text. `ack`: an acknowledgement of a finding, with an end. `owner`: who is responsible."""
NoteScope = Literal["finding", "commit", "alert", "range", "table"]
"""What a note is about."""
NOTE_KINDS: tuple[NoteKind, ...] = get_args(NoteKind)


class TeamNote(View, frozen=True, kw_only=True):
    """A note as it is now. `note_id` never changes; `event_id` is that of its newest event, which an edit names in
    `replaces`. `target_id`: id of the finding, snapshot id, or fingerprint of the alert; empty for a range and a table.
    `from`: where it is drawn (start of the finding, commit, alert or range); null: at `created_at`. `to`: end of a
    range. `text` is plain text, never markup. `author` and `at`: of the newest event; `created_by` and `created_at`: of
    the first. `until`: end of an acknowledgement. `edits`: events after the first. `deleted`: its newest event has
    neither text nor `until`; lists do not contain it.
    """

    note_id: str
    event_id: str
    kind: NoteKind
    scope: NoteScope
    target_id: str
    catalog: str | None
    namespace: str | None
    table: str | None
    table_uuid: str | None
    start: Millis | None = msgspec.field(name="from")
    end: Millis | None = msgspec.field(name="to")
    text: str
    author: str
    at: Millis
    until: Millis | None
    created_by: str
    created_at: Millis
    edits: int
    deleted: bool


class NotesPage(View, frozen=True, kw_only=True):
    """Notes that match, the newest first. `complete` is false until the meta table `notes` was read after a start; only
    notes that have not been appended to it yet are then known.
    """

    rows: list[TeamNote]
    total: int
    complete: bool
    next_cursor: str | None
