"""What a caller sends, checked against the rules of notes, and turned into the event that is stored."""

from __future__ import annotations

import re

import msgspec

from limnograph.domain.answers.notes import NoteKind, NoteScope
from limnograph.domain.errors import InvalidInput
from limnograph.domain.facts.notes import NoteFact
from limnograph.domain.time import MICROS_PER_SECOND, Micros, Millis, to_micros
from limnograph.services.notes.registry import edit_id, first_id
from limnograph.services.notes.targets import NoteTarget

LONGEST_TEXT, LONGEST_NAME, LONGEST_KEY = 4_000, 100, 128
LONGEST_ACK_DAYS = 366
NO_AUTHOR = "local"
_DAY = 86_400 * MICROS_PER_SECOND
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
"""Control characters other than tab and line feed, line separators, unpaired surrogates."""
_OF_NEW_NOTES = ("scope", "kind", "target_id", "table", "start", "end", "starts_at")
_ON_THE_WIRE = {"start": "from", "end": "to"}
_SENT = ("kind", "scope", "target", "table_uuid", "text", "author", "until", "replaces")
_NEEDS: dict[NoteScope, frozenset[str]] = {
    "finding": frozenset({"target_id"}),
    "commit": frozenset({"target_id", "table"}),
    "alert": frozenset({"target_id", "starts_at"}),
    "range": frozenset({"table", "start", "end"}),
    "table": frozenset({"table"}),
}
_OPTIONAL = frozenset({"starts_at"})


class NoteDraft(msgspec.Struct, frozen=True, kw_only=True):
    """A new note, or an edit of the event `replaces`, as a caller sent it. Instants are epoch ms."""

    key: str
    text: str = ""
    kind: NoteKind | None = None
    scope: NoteScope | None = None
    target_id: str | None = None
    table: str | None = None
    start: Millis | None = None
    end: Millis | None = None
    starts_at: Millis | None = None
    until: Millis | None = None
    replaces: str | None = None


def check_new(draft: NoteDraft, now: Micros) -> tuple[NoteScope, NoteKind]:
    """Scope and kind of a new note. Raises InvalidInput, which names the field."""
    scope, kind = draft.scope, draft.kind or "note"
    if scope is None:
        raise InvalidInput("scope", f"is required for a new note; use one of {', '.join(_NEEDS)}")
    for field in ("target_id", "table", "start", "end", "starts_at"):
        is_set, wire = getattr(draft, field) is not None, _ON_THE_WIRE.get(field, field)
        if is_set and field not in _NEEDS[scope]:
            raise InvalidInput(wire, f"does not apply to scope {scope}; omit it")
        if not is_set and field in _NEEDS[scope] - _OPTIONAL:
            raise InvalidInput(wire, f"is required for scope {scope}")
    if scope == "range" and (draft.end or 0) <= (draft.start or 0):
        raise InvalidInput("to", "must be later than from")
    if kind == "ack" and scope != "finding":
        raise InvalidInput("kind", "`ack` applies to findings only; silence an alert in Alertmanager")
    if kind == "owner" and scope not in {"finding", "table"}:
        raise InvalidInput("kind", "`owner` applies to findings and tables only")
    if kind != "ack" and not draft.text.strip():
        raise InvalidInput("text", "is required for a new note")
    _check_content(draft, kind, now)
    return scope, kind


def check_edit(draft: NoteDraft, replaced: NoteFact, now: Micros) -> None:
    """Check an edit. Raises InvalidInput, which names the field."""
    for field in _OF_NEW_NOTES:
        if getattr(draft, field) is not None:
            raise InvalidInput(
                _ON_THE_WIRE.get(field, field), "stays as in the note that `replaces` names; omit it in an edit"
            )
    if draft.text.strip() or draft.until is not None:
        _check_content(draft, replaced.kind or "note", now)


def _check_content(draft: NoteDraft, kind: str, now: Micros) -> None:
    if len(draft.text) > LONGEST_TEXT:
        raise InvalidInput("text", f"has {len(draft.text):,} characters; write at most {LONGEST_TEXT:,}")
    check_line_or_text("text", draft.text, one_line=kind == "owner")
    if kind != "ack" and draft.until is not None:
        raise InvalidInput("until", f"applies to kind ack only; omit it for kind {kind}")
    if kind == "ack" and draft.until is None:
        raise InvalidInput("until", "is required: when the acknowledgement ends, epoch ms")
    until = to_micros(draft.until)
    if until is not None and until <= now:
        raise InvalidInput("until", "must be in the future; to end an acknowledgement, send neither text nor until")
    if until is not None and until > now + LONGEST_ACK_DAYS * _DAY:
        raise InvalidInput("until", f"must be within {LONGEST_ACK_DAYS} days; an acknowledgement has an end")


def check_line_or_text(field: str, text: str, *, one_line: bool) -> None:
    """Plain text without control characters; a name has one short line. Raises InvalidInput."""
    if found := _CONTROL.search(text.replace("\r\n", "\n")):
        raise InvalidInput(field, f"contains the control character U+{ord(found[0]):04X}; remove it")
    if one_line and (len(text.strip()) > LONGEST_NAME or "\n" in text.strip() or "\t" in text):
        raise InvalidInput(field, f"must be one line of at most {LONGEST_NAME} characters")


def first_event(draft: NoteDraft, kind: NoteKind, target: NoteTarget, who: tuple[str, str], now: Micros) -> NoteFact:
    """The event that creates a note. `who`: the caller, who owns the key, and the author."""
    caller, author = who
    name = target.name
    return NoteFact(
        event_id=first_id(caller, draft.key),
        at=now,
        kind=kind,
        scope=target.scope,
        target=target.id,
        table_uuid=target.table_uuid,
        catalog=name.catalog if name else None,
        namespace=name.namespace if name else None,
        table=name.table if name else None,
        range_from=target.start,
        range_to=target.end,
        text=_plain(draft.text),
        author=author,
        until=to_micros(draft.until),
        severity=target.severity if kind == "ack" else None,
        observed_at=now,
    )


def edit_event(draft: NoteDraft, replaced: NoteFact, author: str, severity: str | None, now: Micros) -> NoteFact:
    """The event that replaces another one: later than it, whatever the clock says."""
    return msgspec.structs.replace(
        replaced,
        event_id=edit_id(replaced.event_id),
        at=max(now, Micros((replaced.at or now) + 1)),
        text=_plain(draft.text),
        author=author,
        until=to_micros(draft.until),
        severity=severity,
        replaces=replaced.event_id,
        observed_at=now,
    )


def is_repeat(stored: NoteFact, sent: NoteFact) -> bool:
    """Whether a caller sent the same again. What the server adds, such as the severity, may differ."""
    fields = _SENT if sent.scope != "range" else (*_SENT, "range_from", "range_to")
    return all(getattr(stored, field) == getattr(sent, field) for field in fields)


def _plain(text: str) -> str | None:
    return text.replace("\r\n", "\n").strip() or None
