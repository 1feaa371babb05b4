"""Wire format of notes."""

from __future__ import annotations

from typing import cast

from limnograph.domain.answers.notes import NoteKind, NoteScope, TeamNote
from limnograph.domain.answers.stream import NoteStreamEvent
from limnograph.domain.facts.notes import NoteFact
from limnograph.domain.time import EPOCH, to_millis
from limnograph.services.notes.drafts import NO_AUTHOR
from limnograph.services.notes.registry import NoteChain
from limnograph.services.notes.targets import name_of_note


def note_view(chain: NoteChain) -> TeamNote:
    """A note."""
    first, last = chain.first, chain.last
    name = name_of_note(first)
    plain = name.plain if name else None
    return TeamNote(
        note_id=first.event_id,
        event_id=last.event_id,
        kind=cast(NoteKind, first.kind),
        scope=cast(NoteScope, first.scope),
        target_id=first.target or "",
        catalog=plain.catalog if plain else None,
        namespace=plain.namespace if plain else None,
        table=plain.table if plain else None,
        table_uuid=first.table_uuid,
        start=to_millis(first.range_from),
        end=to_millis(first.range_to),
        text=last.text or "",
        author=last.author or NO_AUTHOR,
        at=to_millis(last.at or EPOCH),
        until=to_millis(last.until),
        created_by=first.author or NO_AUTHOR,
        created_at=to_millis(first.at or EPOCH),
        edits=chain.edits,
        deleted=chain.deleted,
    )


def note_stream_event(fact: NoteFact, note_id: str) -> NoteStreamEvent:
    """An event of a note on the live stream: ids only."""
    name = name_of_note(fact)
    plain = name.plain if name else None
    return NoteStreamEvent(
        note_id=note_id,
        event_id=fact.event_id,
        kind=cast(NoteKind, fact.kind),
        scope=cast(NoteScope, fact.scope),
        target_id=fact.target or "",
        catalog=plain.catalog if plain else None,
        table_namespace=plain.namespace if plain else None,
        table=plain.table if plain else None,
    )
