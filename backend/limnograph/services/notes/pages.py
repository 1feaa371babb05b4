"""Accepts and lists notes."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence

from limnograph.domain import cursors
from limnograph.domain.answers.notes import NotesPage, TeamNote
from limnograph.domain.errors import InvalidInput, NoteSuperseded, NotFound, SourceUnavailable
from limnograph.domain.facts.notes import NoteFact
from limnograph.domain.ids import TableName
from limnograph.domain.queries import NotesQuery
from limnograph.domain.time import EPOCH, Micros, to_micros
from limnograph.ports.clock import Clock
from limnograph.services.lake.store import HotStore
from limnograph.services.notes.drafts import NoteDraft, check_edit, check_new, edit_event, first_event, is_repeat
from limnograph.services.notes.rate import WriteRate
from limnograph.services.notes.registry import RETRY_S, NoteChain, NoteRegistry, first_id
from limnograph.services.notes.targets import NoteTarget, TargetKey, TargetSources, key_of_note, table_key
from limnograph.services.notes.views import note_view

MOST_NOTES = 200
"""Notes on one target."""
MOST_EVENTS = 2_000
"""Events of all notes on one target. Deletions are accepted beyond it."""
_POSITION = (int, str)


class NotePages:
    """Used on the event loop only, except for what `registry` shares."""

    def __init__(
        self,
        registry: NoteRegistry,
        store: HotStore,
        sources: TargetSources,
        clock: Clock,
        *,
        publish: Callable[[NoteFact, str], None] = lambda _fact, _note_id: None,
    ) -> None:
        self._registry, self._store, self._sources, self._clock = registry, store, sources, clock
        self._tell = publish
        self._rate = WriteRate()
        self._storing: Counter[TargetKey] = Counter()

    async def accept(self, draft: NoteDraft, caller: str, author: str) -> TeamNote:
        """Store a new note, an edit or a deletion durably; returns the note. A repeat changes nothing. Raises
        InvalidInput, NotFound, NoteSuperseded if another event replaced the same one, TooManyRequests, SourceError.
        """
        now = self._clock.now()
        self._rate.count(caller, now)
        if draft.replaces is None:
            fact = await self._first(draft, (caller, author), now)
        else:
            fact = await self._edit(draft, draft.replaces, author, now)
        stored = self._registry.event(fact.event_id) or await self._stored(fact)
        chain = self._registry.chain(stored.event_id) or NoteChain(stored, stored)
        if not is_repeat(stored, fact):
            if draft.replaces is None:
                raise NoteSuperseded("this key was used for another note; send a new key", note_view(chain))
            raise NoteSuperseded(
                f"{chain.last.author} changed this note in the meantime; read `note`, and edit its `event_id`",
                note_view(chain),
            )
        return note_view(chain)

    async def _stored(self, fact: NoteFact) -> NoteFact:
        """Store an event, or return the one with its id that another caller stored first."""
        key = key_of_note(fact)
        self._check_room(fact, key)
        self._storing[key] += 1
        try:
            stored = await asyncio.to_thread(self._registry.put, fact)
        finally:
            self._storing[key] -= 1
            if not self._storing[key]:
                del self._storing[key]
        if stored is fact:
            self.publish(fact)
        return stored

    def publish(self, fact: NoteFact) -> None:
        """Report a new event on the live stream."""
        chain = self._registry.chain(fact.event_id)
        self._tell(fact, chain.first.event_id if chain else fact.event_id)

    def _check_room(self, fact: NoteFact, key: TargetKey) -> None:
        if fact.text is None and fact.until is None:
            return
        chains, storing = self._registry.of_target(key), self._storing[key]
        if fact.replaces is None and sum(not chain.deleted for chain in chains) + storing >= MOST_NOTES:
            raise InvalidInput("target_id", f"has {MOST_NOTES} notes, the most; edit or delete one of them")
        if sum(1 + chain.edits for chain in chains) + storing >= MOST_EVENTS:
            raise InvalidInput(
                "target_id", f"was written on {MOST_EVENTS:,} times, the most; only deletions are accepted"
            )

    async def _first(self, draft: NoteDraft, who: tuple[str, str], now: Micros) -> NoteFact:
        known = self._registry.event(first_id(who[0], draft.key))
        at = known.at if known is not None and known.at is not None else now
        scope, kind = check_new(draft, at)  # a repeat is judged by the time of the first request
        target = await self._target(draft)
        if known is None and kind == "ack" and target.severity is None:
            raise InvalidInput("target_id", "is closed; only an open finding can be acknowledged")
        newest = self._registry.newest(kind, target.key) if kind in {"ack", "owner"} else None
        later = max(now, Micros((newest.at or EPOCH) + 1)) if newest else now
        return first_event(draft, kind, target._replace(scope=scope), who, later)

    async def _target(self, draft: NoteDraft) -> NoteTarget:
        """What a new note is about. Raises NotFound, InvalidInput, SourceError."""
        target = draft.target_id or ""
        if draft.scope == "finding":
            return await self._sources.finding(target)
        if draft.scope == "alert":
            alert = await self._sources.alert(target, to_micros(draft.starts_at))
            named = self._store.resolved(alert.name) if alert.name else None
            uuid = self._store.reading.lake.names.get(named) if named else None
            return alert._replace(name=named, table_uuid=uuid)
        name = TableName.parse(draft.table or "")
        if draft.scope == "commit":
            return await self._sources.commit(self._store.resolved(name), _snapshot_id(target))
        table = self._sources.table(name)
        if draft.scope == "range":
            return table._replace(scope="range", start=to_micros(draft.start), end=to_micros(draft.end))
        return table

    async def _edit(self, draft: NoteDraft, replaces: str, author: str, now: Micros) -> NoteFact:
        replaced = self._registry.event(replaces)
        if replaced is None and not self._registry.complete:
            raise SourceUnavailable("meta", "the notes have not been read yet; retry", RETRY_S)
        if replaced is None:
            raise NotFound(f"no event {replaces} of a note; send the note's `event_id` in `replaces`")
        known = self._registry.successor(replaces)
        check_edit(draft, replaced, known.at if known is not None and known.at is not None else now)
        severity = replaced.severity
        if replaced.kind == "ack" and draft.until is not None:  # who extends it knows the present severity
            severity = (await self._sources.finding(replaced.target or "")).severity
            if severity is None and known is None:
                raise InvalidInput("until", "cannot be set: the finding is closed; only an open one is acknowledged")
        return edit_event(draft, replaced, author, severity, now)

    def page(self, query: NotesQuery) -> NotesPage:
        """Notes that match, the newest first. Raises InvalidInput (cursor). O(notes of the table, or all)."""
        found = sorted(filter(_Filter(query), self._candidates(query)), key=_place)
        question = cursors.of_notes(query)
        first = 0
        if query.cursor:
            at = tuple(cursors.decode(question, query.cursor, _POSITION))
            first = sum(_place(chain) <= at for chain in found)
        part = found[first : first + query.limit]
        more = first + query.limit < len(found)
        return NotesPage(
            rows=[note_view(chain) for chain in part],
            total=len(found),
            complete=self._registry.complete,
            next_cursor=cursors.encode(question, list(_place(part[-1]))) if more else None,
        )

    def _candidates(self, query: NotesQuery) -> Sequence[NoteChain]:
        if not query.table:
            return self._registry.every()
        name = self._store.resolved(TableName.parse(query.table))
        uuid = self._store.reading.lake.names.get(name)
        keys = dict.fromkeys((table_key(uuid, name), table_key(None, name)))  # before it was readable it had no uuid
        return [chain for key in keys for chain in self._registry.of_table(key)]


class _Filter:
    """Whether a note matches a query. Immutable after construction."""

    def __init__(self, query: NotesQuery) -> None:
        self._query = query
        self._start, self._end = to_micros(query.start), to_micros(query.end)

    def __call__(self, chain: NoteChain) -> bool:
        query, first = self._query, chain.first
        if chain.deleted or (query.kind or first.kind) != first.kind or (query.scope or first.scope) != first.scope:
            return False
        if query.target_id and query.target_id != first.target:
            return False
        begin = first.range_from if first.range_from is not None else first.at or EPOCH
        end = begin if first.range_to is None else first.range_to
        return (self._end is None or begin < self._end) and (self._start is None or end >= self._start)


def _place(chain: NoteChain) -> tuple[int, str]:
    return -(chain.last.at or EPOCH), chain.first.event_id


def _snapshot_id(text: str) -> int:
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= 19) or abs(int(text)) >= 2**63:
        raise InvalidInput("target_id", "must be a snapshot id, as text")
    return int(text)
