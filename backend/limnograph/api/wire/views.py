"""The wire of the HTTP layer itself: problems, requests and health. Responses of services are in `domain/answers`."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from limnograph.domain.access import AccessScope
from limnograph.domain.advice.plans import PlanView
from limnograph.domain.answers.explanations import LabelKind
from limnograph.domain.answers.notes import NoteKind, NoteScope, TeamNote
from limnograph.domain.answers.view import View
from limnograph.domain.time import LATEST_MS, Millis

Instant = Annotated[Millis, msgspec.Meta(ge=0, le=LATEST_MS)]
Name = Annotated[str, msgspec.Meta(min_length=1, max_length=512)]
Comment = Annotated[str, msgspec.Meta(max_length=4_096)]
ReadBytes = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
NoteKey = Annotated[str, msgspec.Meta(min_length=1, max_length=128)]
NoteEventId = Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
SnapshotId = Annotated[str, msgspec.Meta(pattern="^-?[0-9]{1,19}$")]

ProblemType = Literal[
    "bad-request",
    "unauthenticated",
    "forbidden",
    "not-found",
    "method-not-allowed",
    "conflict",
    "too-large",
    "too-many-requests",
    "internal",
    "source-failed",
    "source-unavailable",
    "source-timeout",
    "source-rejected",
    "metadata-damaged",
]


class Problem(View, frozen=True, kw_only=True):
    """RFC 9457 problem details; `type` is from a closed set, `field` names the invalid parameter."""

    type: ProblemType
    title: str
    status: int
    detail: str
    field: str | None = None
    request_id: str | None = None


class RunTableIn(View, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of an accepted run; snapshot ids are text. `written_snapshot_id`: the commit that the run wrote."""

    catalog: str
    table_namespace: str
    table: str
    role: Literal["reads", "writes"]
    read_snapshot_id: SnapshotId | None = None
    written_snapshot_id: SnapshotId | None = None


class RunIn(View, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Body of `POST /api/v1/runs`: one transition of a job run. Times epoch ms. `read_bytes`: bytes that the run read
    from all its inputs, as its engine counted them; leave it out if they are unknown.
    """

    run_id: Name
    job_name: Name
    status: Literal["running", "ok", "failed"]
    started_at: Instant
    ended_at: Instant | None = None
    application_id: str | None = None
    tables: tuple[RunTableIn, ...] = ()
    read_bytes: ReadBytes | None = None


class LabelIn(View, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Body of `POST …/labels`: a user's label on a suspect. The range is the explained one, epoch ms."""

    kind: LabelKind
    snapshot_id: SnapshotId
    start: Instant = msgspec.field(name="from")
    end: Instant = msgspec.field(name="to")
    job_name: Name | None = None
    comment: Comment | None = None


class NoteIn(View, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Body of `POST /api/v1/notes`: a new note, or an edit of the event that `replaces` names.

    `key`: chosen by the client, unique among its notes; a request that is repeated with the same key changes nothing.
    `text`: plain text, at most 4,000 characters; of kind `owner` one line of at most 100. `author`: a name, only if
    authentication is off; otherwise the author is the caller.

    A new note has a `scope` and names its target: a finding by `target_id`; a commit by `table` and `target_id` (the
    snapshot id); an alert by `target_id` (the fingerprint) and `starts_at` (epoch ms; default: the latest episode); a
    range by `table`, `from` and `to`; a table by `table`. `table`: `catalog.namespace.table`. `kind` (default `note`):
    `ack` for findings, with `until`, epoch ms, at most 366 days ahead, and with or without text; `owner` for findings
    and tables.

    An edit has `replaces`, the `event_id` of the note as the user saw it, and `text` (`ack`: and `until`). With neither
    text nor `until` it deletes the note.
    """

    key: NoteKey
    text: str = ""
    kind: NoteKind | None = None
    scope: NoteScope | None = None
    target_id: Name | None = None
    table: Name | None = None
    start: Instant | None = msgspec.field(name="from", default=None)
    end: Instant | None = msgspec.field(name="to", default=None)
    starts_at: Instant | None = None
    until: Instant | None = None
    author: Name | None = None
    replaces: NoteEventId | None = None


class NoteProblem(Problem, frozen=True, kw_only=True):
    """A conflict: another user changed the note first, or the key belongs to another note. `note`: as it is now."""

    note: TeamNote


class PlanProblem(Problem, frozen=True, kw_only=True):
    """A conflict: the plan is no longer as the caller saw it. `plan`: as it is now; null: it is unknown."""

    plan: PlanView | None


class AcceptedEvents(View, frozen=True, kw_only=True):
    """The number of items newly stored in the inbox; repeats are accepted and not stored again."""

    accepted: int
    duplicates: int


class HealthView(View, frozen=True, kw_only=True):
    """Liveness and readiness. `detail`: what the server is still waiting for."""

    status: Literal["ok", "starting"]
    version: str
    detail: str | None = None


class SessionIn(View, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Body of `POST /api/v1/session`: an API token, and the path to redirect to."""

    token: str
    next: str = "/"


class SessionView(View, frozen=True, kw_only=True):
    """The authenticated user. `next`: a path of this server."""

    subject: str
    scopes: tuple[AccessScope, ...]
    next: str
