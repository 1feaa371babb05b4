"""Notes in memory: the meta table united with the inbox by event, as chains of events, from which pages are served.

Events may arrive in any order and more than once. All notes are held: about 1 KB each.
"""

from __future__ import annotations

import hashlib
import logging
import threading
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from limnograph.domain.errors import LimnographError, SourceUnavailable
from limnograph.domain.facts.notes import NoteFact
from limnograph.domain.time import EPOCH, Micros
from limnograph.ports.clock import Clock
from limnograph.ports.inbox import Inbox, InboxItem
from limnograph.ports.query_engine import MetaQuery, QueryEngine
from limnograph.services.notes.targets import TargetKey, key_of_note, table_of_note
from limnograph.services.sources.inbox_items import facts_of_items

KIND = "note"
RETRY_S = 10
_SKEW = 60_000_000
"""How far clocks of servers may differ, microseconds: items of the inbox are read again from that long before."""
_decoder = msgspec.json.Decoder(NoteFact)
_log = logging.getLogger("limnograph.inbox")


class NoteChain(NamedTuple):
    """A note: its first event, its newest one, and how many came after the first."""

    first: NoteFact
    last: NoteFact
    edits: int = 0

    @property
    def deleted(self) -> bool:
        """Whether its newest event deletes it."""
        return is_deletion(self.last)


def is_deletion(fact: NoteFact) -> bool:
    """Whether an event has neither text nor an end."""
    return not fact.text and fact.until is None


class NoteRegistry:
    """`put` is durable before it returns. Thread-safe: what is in memory is guarded by `_lock`, which is never held
    over I/O; callers get copies. `catch_up` is called by one thread at a time.
    """

    def __init__(self, inbox: Inbox, engine: QueryEngine, clock: Clock) -> None:
        self._inbox, self._engine, self._clock = inbox, engine, clock
        self._lock = threading.Lock()
        self._events: dict[str, NoteFact] = {}
        self._first: dict[str, str] = {}
        self._chains: dict[str, NoteChain] = {}
        self._orphans: dict[str, NoteFact] = {}
        self._of_target: dict[TargetKey, list[str]] = defaultdict(list)
        self._of_table: dict[str, list[str]] = defaultdict(list)
        self._newest: dict[str, dict[TargetKey, NoteFact]] = {"ack": {}, "owner": {}}
        self._shown: Counter[str] = Counter()
        self._written: Counter[str] = Counter()
        self._total = 0
        self._complete = False
        self._seen_to = EPOCH

    @property
    def complete(self) -> bool:
        """Whether the meta table was read since the start."""
        return self._complete

    def put(self, fact: NoteFact) -> NoteFact:
        """Store an event durably; returns it, or the event that was stored with its id before. Blocks. Raises
        SourceError.
        """
        item = InboxItem(KIND, fact.event_id, msgspec.json.encode(fact), self._clock.now())
        if self._inbox.put([item]):
            self._add([fact])
            return fact
        if (known := self.event(fact.event_id)) is None:
            self._add(facts_of_items(self._inbox.items(KIND), _decoder, "a note"))
            known = self.event(fact.event_id)
        if known is None:  # appended and deleted from the inbox in between
            raise SourceUnavailable("inbox", "the note could not be read back; retry", RETRY_S)
        return known

    def catch_up(self) -> list[NoteFact]:
        """Load what other servers accepted and, once, the rows of the meta table; returns the new events. Blocks.
        Raises SourceError of the inbox; the meta table is read again later.
        """
        new: list[NoteFact] = []
        if not self._complete:
            try:
                rows = self._engine.select(MetaQuery(table="notes")).to_dicts()
            except LimnographError as error:
                _log.warning("notes of the meta tables: %s", error)
            else:
                new += self._add(msgspec.convert(rows, list[NoteFact]))
                self._complete = True
        items = self._inbox.items(KIND, max(Micros(self._seen_to - _SKEW), EPOCH))
        self._seen_to = max((item.accepted_at for item in items), default=self._seen_to)
        return new + self._add(facts_of_items(items, _decoder, "a note"))

    def as_of(self, instant: Micros) -> NoteRegistry:
        """What was written until an instant, of what is in memory."""
        made = NoteRegistry(self._inbox, self._engine, self._clock)
        made._add(fact for fact in list(self._events.values()) if (fact.at or EPOCH) <= instant)
        made._complete = self._complete
        return made

    def event(self, event_id: str) -> NoteFact | None:
        """One event."""
        return self._events.get(event_id)

    def successor(self, event_id: str) -> NoteFact | None:
        """The event that replaced one."""
        return self._events.get(edit_id(event_id))

    def chain(self, event_id: str) -> NoteChain | None:
        """The note that an event belongs to."""
        with self._lock:
            first = self._first.get(event_id)
            return None if first is None else self._chains[first]

    def of_target(self, key: TargetKey) -> list[NoteChain]:
        """Notes on a target, deleted ones too."""
        with self._lock:
            return [self._chains[first] for first in self._of_target.get(key, ())]

    def of_table(self, table: str) -> list[NoteChain]:
        """Notes on a table and on its findings, commits, alerts and ranges, deleted ones too."""
        with self._lock:
            return [self._chains[first] for first in self._of_table.get(table, ())]

    def every(self) -> list[NoteChain]:
        """All notes, deleted ones too."""
        with self._lock:
            return list(self._chains.values())

    def count(self, key: TargetKey) -> int | None:
        """The number of notes of kind `note` on a target; None until the meta table was read."""
        if not self._complete:
            return None
        if key not in self._of_target:  # most targets have none: spare the lock
            return 0
        return sum(chain.last.kind == "note" and not chain.deleted for chain in self.of_target(key))

    def newest(self, kind: str, key: TargetKey) -> NoteFact | None:
        """The acknowledgement or owner of a target: its newest event of any chain, unless that one deletes."""
        found = self._newest[kind].get(key)
        return None if found is None or is_deletion(found) else found

    def newest_of(self, kind: str) -> list[NoteFact]:
        """The acknowledgements or owners of all targets."""
        with self._lock:
            found = list(self._newest[kind].values())
        return [fact for fact in found if not is_deletion(fact)]

    def kinds_version(self, kind: str) -> int:
        """The number of events of kind `ack` or `owner` in memory."""
        return self._written[kind]

    def version(self, table: str | None = None) -> int:
        """The number of events in memory, of a table or of all."""
        return self._total if table is None else self._shown[table]

    def _add(self, facts: Iterable[NoteFact]) -> list[NoteFact]:
        """Add events, the oldest first; returns those that were new."""
        ordered = sorted(facts, key=lambda fact: (fact.at or EPOCH, fact.event_id))
        with self._lock:
            return [added for fact in ordered for added in self._added(fact)]

    def _added(self, fact: NoteFact) -> Sequence[NoteFact]:
        if fact.event_id in self._events or fact.event_id in self._orphans:
            return ()
        if fact.replaces is not None and fact.replaces not in self._events:
            self._orphans[fact.event_id] = fact
            return ()
        self._events[fact.event_id] = fact
        self._place(fact)
        later = self._orphans.pop(edit_id(fact.event_id), None)
        return (fact, *self._added(later)) if later else (fact,)

    def _place(self, fact: NoteFact) -> None:
        key, table = key_of_note(fact), table_of_note(fact)
        first = fact.event_id if fact.replaces is None else self._first[fact.replaces]
        self._first[fact.event_id] = first
        chain = self._chains.get(first)
        if chain is None:
            self._of_target[key].append(first)
            self._of_table[table].append(first)
        self._chains[first] = NoteChain(fact, fact) if chain is None else NoteChain(chain.first, fact, chain.edits + 1)
        slots = self._newest.get(fact.kind or "")
        if slots is not None and ((known := slots.get(key)) is None or _rank(known) < _rank(fact)):
            slots[key] = fact
        self._shown[table] += 1
        self._written[fact.kind or ""] += 1
        self._total += 1


def _rank(fact: NoteFact) -> tuple[Micros, str]:
    return fact.at or EPOCH, fact.event_id


def first_id(caller: str, key: str) -> str:
    """The id of a note's first event: a caller that repeats its key repeats the event."""
    return _digest("first", caller, key)


def edit_id(event_id: str) -> str:
    """The id of the event that replaces another one: there is one id, so of two edits one is stored."""
    return _digest("replaces", event_id)


def _digest(*parts: str) -> str:
    return hashlib.sha256(msgspec.json.encode(parts)).hexdigest()[:32]
