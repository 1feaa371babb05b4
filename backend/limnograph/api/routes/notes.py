"""Notes of a team: what users write on findings, commits, alerts, ranges and tables."""

from __future__ import annotations

from typing import Annotated, Any

from litestar import Request, Response, get, post
from litestar.di import NamedDependency
from litestar.openapi.datastructures import ResponseSpec
from litestar.params import QueryParameter

from limnograph.api.front.bodies import parsed
from limnograph.api.front.gate import peer
from limnograph.api.wire import parameters as p
from limnograph.api.wire import values as v
from limnograph.api.wire.access import ANNOTATE, READ
from limnograph.api.wire.pagination import resolved
from limnograph.api.wire.problems import MEDIA_TYPE, STATUS, documented, encode
from limnograph.api.wire.views import NoteIn, NoteProblem
from limnograph.domain.access import Identity
from limnograph.domain.answers.notes import NoteKind, NoteScope, NotesPage, TeamNote
from limnograph.domain.errors import InvalidInput, NoteSuperseded
from limnograph.domain.queries import DEFAULT_LIMIT, NotesQuery
from limnograph.domain.time import LATEST_MS, Millis
from limnograph.services.notes.drafts import NO_AUTHOR, NoteDraft, check_line_or_text
from limnograph.services.server.backend import Backend

AnyRequest = Request[Any, Any, Any]
OfScope = Annotated[NoteScope | None, QueryParameter(name="scope", description="Only notes on this kind of thing.")]
OfTarget = Annotated[
    str, QueryParameter(name="target_id", description="Only this finding, snapshot id, or alert's fingerprint.")
]
OfKind = Annotated[NoteKind | None, QueryParameter(name="kind", description="Only this kind of note.")]
Until = Annotated[
    Millis | None,
    QueryParameter(
        name="to", description="End, epoch ms, exclusive.", schema_extra={"minimum": 0, "maximum": LATEST_MS}
    ),
]
OfTable = Annotated[
    str,
    QueryParameter(
        name="table", description="Only notes on this table and all that belongs to it: `catalog.namespace.table`."
    ),
]


def _superseded(request: AnyRequest, error: NoteSuperseded) -> Response[bytes]:
    """409 with the note as it is now, so that the client loses neither text."""
    status, title = STATUS["conflict"]
    request_id = request.scope["state"].get("request_id")
    found = NoteProblem(
        type="conflict", title=title, status=status, detail=str(error), request_id=request_id, note=error.note
    )
    return Response(encode(found), status_code=status, media_type=MEDIA_TYPE)


_CONFLICT = ResponseSpec(
    NoteProblem, description="Problem details with the note.", media_type=MEDIA_TYPE, generate_examples=False
)


@post(
    "/notes",
    operation_id="postNote",
    summary="Write, edit or delete a note",
    status_code=202,
    responses={**documented(404, 413, 503), 409: _CONFLICT},
    opt=ANNOTATE,
    exception_handlers={NoteSuperseded: _superseded},
)
async def post_note(request: AnyRequest, backend: NamedDependency[Backend]) -> TeamNote:
    """Requires the scope `annotate`; notes are visible to everyone. Durable in the inbox before the response. A repeat
    with the same `key` changes nothing. If another user changed the note since, the response is 409 with the note as it
    is now: show both texts, and send the edit again with its `event_id`. At most 200 notes on one target, and 60
    requests a minute from one caller (429). Events are never deleted from the meta table.
    """
    data = await parsed(request, NoteIn)
    caller, author = _who(request, data)
    draft = NoteDraft(
        key=data.key,
        text=data.text,
        kind=data.kind,
        scope=data.scope,
        target_id=data.target_id,
        table=data.table,
        start=data.start,
        end=data.end,
        starts_at=data.starts_at,
        until=data.until,
        replaces=data.replaces,
    )
    return await backend.notes.accept(draft, caller, author)


def _who(request: AnyRequest, data: NoteIn) -> tuple[str, str]:
    """The caller, whose rate is limited and who owns keys, and the author. Raises InvalidInput."""
    identity: Identity | None = request.scope["state"].get("identity")
    if identity is not None and identity.method != "none":
        if data.author is not None:
            raise InvalidInput("author", "is the authenticated caller; omit it")
        return f"{identity.method}:{identity.subject}", identity.subject
    author = (data.author or NO_AUTHOR).strip()
    check_line_or_text("author", author, one_line=True)
    return f"none:{peer(request.scope)}", author or NO_AUTHOR


@get("/notes", operation_id="listNotes", summary="Notes", responses=documented(), opt=READ, sync_to_thread=False)
def list_notes(
    request: AnyRequest,
    backend: NamedDependency[Backend],
    *,
    start: p.From = None,
    end: Until = None,
    of: OfScope = None,
    target_id: OfTarget = "",
    kind: OfKind = None,
    table: OfTable = "",
    cursor: p.Cursor = None,
    limit: p.Limit = DEFAULT_LIMIT,
) -> NotesPage:
    """Notes that are not deleted, the newest first. With `from` or `to`, those that are drawn in that range of time: at
    the start of their finding, commit or alert, over their range, or when they were written on a table.
    """
    given = {"from": start, "to": end, "scope": of, "target_id": target_id, "kind": kind, "table": table}
    asked = resolved(request, "notes", cursor, given)
    first, last = _span(asked.pop("from"), asked.pop("to"))
    return backend.notes.page(NotesQuery(start=first, end=last, **asked, cursor=cursor, limit=v.page_size(limit)))


def _span(start: Millis | None, end: Millis | None) -> tuple[Millis | None, Millis | None]:
    """Both ends as sent. Raises InvalidInput."""
    for field, value in (("from", start), ("to", end)):
        if value is not None and not 0 <= value <= LATEST_MS:
            raise InvalidInput(field, "must be epoch milliseconds between 1970 and 3000")
    if start is not None and end is not None and end <= start:
        raise InvalidInput("to", "must be later than from")
    return start, end


HANDLERS: list[Any] = [post_note, list_notes]
