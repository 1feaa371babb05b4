"""Received alerts: accepted into the inbox first, then held in memory, from which pages are served.

They are the meta table united with the inbox by `(fingerprint, starts_at, status)`. Repeats, a resolution that arrives
before its firing, and any other order produce the same episodes.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from limnograph.domain.answers.alerts import Muted
from limnograph.domain.errors import LimnographError, SourceUnavailable
from limnograph.domain.facts.events import AlertFact
from limnograph.domain.ids import TableName
from limnograph.domain.time import EPOCH, Micros
from limnograph.ports.clock import Clock
from limnograph.ports.inbox import Inbox, InboxItem, item_key
from limnograph.ports.query_engine import MetaQuery, QueryEngine
from limnograph.services.alerts.episode import AlertEpisode
from limnograph.services.sources.cold_reads import ColdReads
from limnograph.services.sources.inbox_items import facts_of_items

KIND = "alert"
DAY = 86_400_000_000
WINDOW = 30 * DAY
"""Episodes that began within this window are read from the meta table at startup."""
MOST = 50_000
"""Episodes in memory. Beyond it the oldest ended ones are evicted and read from the meta table on request."""
MOST_WAITING = 200_000
"""Transitions that may wait for the pipeline. Beyond it requests are rejected with a time to retry."""
SHOWN_AT_ONCE = 200
"""Transitions published to pages and the live stream in one step of the event loop."""
MOST_STORING = 64
"""Bodies that are stored concurrently."""
RETRY_S = 10
_SKEW = 60_000_000
_decoder = msgspec.json.Decoder(AlertFact)
_log = logging.getLogger("limnograph.inbox")
Key = tuple[str, Micros]


class OpenEpisode(NamedTuple):
    """An episode without a received end. `heard`: its last notification, in microseconds."""

    key: Key
    fact: AlertFact
    heard: Micros


class AlertRegistry:
    """`accept` is durable before it returns, and called on the event loop only (`_storing`, `_waiting`).

    Thread-safe: the episodes in memory are guarded by `_lock`, which is never held over I/O; callers get copies.
    `catch_up` is called by one thread at a time.
    """

    def __init__(
        self,
        inbox: Inbox,
        engine: QueryEngine | None,
        clock: Clock,
        *,
        reads: ColdReads | None = None,
        most: int = MOST,
        most_waiting: int = MOST_WAITING,
        tell: Callable[[AlertEpisode], None] = lambda _episode: None,
    ) -> None:
        self._inbox, self._engine, self._clock = inbox, engine, clock
        self._reads, self._most, self._most_waiting = reads or ColdReads(), most, most_waiting
        self._tell = tell
        self._lock = threading.Lock()
        self._told: dict[Key, dict[str, AlertFact]] = {}
        self._starts: dict[str, list[Micros]] = {}
        self._heard: dict[Key, Micros] = {}
        self._doubted: dict[Key, Micros] = {}
        self._muted: dict[str, Muted] = {}
        self._of_table: dict[TableName, set[Key]] = defaultdict(set)
        self._shown: Counter[TableName | None] = Counter()
        self._storing = 0
        self._waiting = 0
        self._meta_read = self._caught_up = False
        self._seen_to = EPOCH

    async def accept(self, facts: Sequence[AlertFact]) -> int:
        """Store facts durably, then publish them; returns how many were new. Raises SourceError, with a time to retry
        if too many already wait.
        """
        if self._storing >= MOST_STORING or self._waiting + len(facts) > self._most_waiting:
            raise SourceUnavailable("inbox", "too many alerts are waiting to be stored; retry", RETRY_S)
        self._storing += 1
        try:
            new = await asyncio.to_thread(lambda: self._inbox.put([_item(fact) for fact in facts]))
        finally:
            self._storing -= 1
        self._waiting += new
        heard = dict.fromkeys(((fact.fingerprint, fact.starts_at) for fact in facts), self._clock.now())
        with self._lock:
            self._heard.update(heard)
        for at in range(0, len(facts), SHOWN_AT_ONCE):
            if at:
                await asyncio.sleep(0)  # let other tasks run
            self._show(facts[at : at + SHOWN_AT_ONCE], told=True)
        return new

    def open_since(self, fingerprint: str) -> Micros | None:
        """Since when an alert fires, according to its notifications."""
        with self._lock:
            starts = self._starts.get(fingerprint)
            return starts[-1] if starts and "resolved" not in self._told[fingerprint, starts[-1]] else None

    def open_episodes(self) -> list[OpenEpisode]:
        """Episodes that fire, according to their notifications."""
        with self._lock:
            last = {(fingerprint, starts[-1]) for fingerprint, starts in self._starts.items()}
            found = [
                (key, told["firing"]) for key, told in self._told.items() if key in last and "resolved" not in told
            ]
            heard = self._heard = {key: self._heard[key] for key, _ in found if key in self._heard}
            return [
                OpenEpisode(key, fact, max(heard.get(key, EPOCH), fact.observed_at or EPOCH)) for key, fact in found
            ]

    def mark_stale(self, doubts: Mapping[Key, Micros], muted: Mapping[str, Muted] | None) -> None:
        """Set the open episodes whose notifications stopped, with since when, and the muted alerts, if known."""
        with self._lock:
            changed = {key for key in {*doubts, *self._doubted} if doubts.get(key) != self._doubted.get(key)}
            self._doubted = dict(doubts)
            if muted is not None:
                fingerprints = {
                    fingerprint
                    for fingerprint in {*muted, *self._muted}
                    if muted.get(fingerprint) != self._muted.get(fingerprint)
                }
                changed |= {key for key in self._told if key[0] in fingerprints}
                self._muted = dict(muted)
            changed &= self._told.keys()
            for key in changed:
                self._changed(next(iter(self._told[key].values())))
            seen = [self._episode(key) for key in changed]
        for episode in seen:
            self._tell(episode)

    def catch_up(self) -> None:
        """Load what other processes accepted and, once, the rows of the meta table. Raises SourceError of the inbox;
        the meta table is retried later.
        """
        if not self._meta_read and self._engine is not None:
            try:
                self._show(self._cold(self._clock.now() - WINDOW))
            except LimnographError as error:
                _log.warning("alerts of the meta tables: %s", error)
            else:
                self._meta_read = True
        self._waiting = self._inbox.backlog([KIND]).items
        newest = self._inbox.newest(KIND)
        if newest is not None and newest >= self._seen_to:
            items = self._inbox.items(KIND, max(self._seen_to - _SKEW, EPOCH))
            self._seen_to = newest + 1
            self._show(list(facts_of_items(items, _decoder, "an alert")))
        self._caught_up = self._meta_read or self._engine is None
        self._forget()

    @property
    def is_read(self) -> bool:
        """Whether the stored alerts were read, so that an alert that is not here does not fire."""
        return self._caught_up

    def version(self, name: TableName | None) -> int:
        """The number of transitions published so far, for a table or for all."""
        return self._shown[name]

    def episodes(self, name: TableName | None = None) -> list[AlertEpisode]:
        """The episodes in memory, newest first, of a table or of all."""
        with self._lock:
            keys = self._told.keys() if name is None else self._of_table.get(name, set())
            found = [self._episode(key) for key in keys]
        return sorted(found, key=lambda episode: (-episode.fact.starts_at, episode.fact.fingerprint))

    def with_prefix(self, prefix: str, limit: int) -> list[AlertEpisode]:
        """The newest episode in memory of each alert whose fingerprint begins with a text, newest first."""
        with self._lock:
            found = [
                self._episode((mark, starts[-1])) for mark, starts in self._starts.items() if mark.startswith(prefix)
            ]
        return sorted(found, key=lambda episode: -episode.fact.starts_at)[:limit]

    async def of_fingerprint(self, fingerprint: str) -> list[AlertEpisode]:
        """All episodes of one alert, newest first; from the meta table if none is in memory. Raises SourceError."""
        with self._lock:
            found = [self._episode((fingerprint, at)) for at in self._starts.get(fingerprint, ())]
        if not found and self._engine is not None:
            facts = await self._reads.ask(self._cold, EPOCH)
            older: dict[Micros, dict[str, AlertFact]] = defaultdict(dict)
            for fact in facts:
                if fact.fingerprint == fingerprint:
                    older[fact.starts_at].setdefault(fact.status, fact)
            starts = sorted(older)
            found = [AlertEpisode(older[at], after) for at, after in zip(starts, [*starts[1:], None], strict=False)]
        return sorted(found, key=lambda episode: -episode.fact.starts_at)

    async def older(self) -> list[AlertEpisode]:
        """All episodes in the meta table, newest first. Raises SourceError."""
        if self._engine is None:
            return []
        told: dict[Key, dict[str, AlertFact]] = defaultdict(dict)
        for fact in await self._reads.ask(self._cold, EPOCH):
            told[fact.fingerprint, fact.starts_at].setdefault(fact.status, fact)
        return [AlertEpisode(told[key]) for key in sorted(told, key=lambda key: -key[1])]

    def _episode(self, key: Key) -> AlertEpisode:
        later = [at for at in self._starts[key[0]] if at > key[1]]
        muted = None if later else self._muted.get(key[0])
        return AlertEpisode(dict(self._told[key]), later[0] if later else None, self._doubted.get(key), muted)

    def _changed(self, fact: AlertFact) -> None:
        self._shown[None] += 1
        if fact.catalog and fact.namespace and fact.table:
            self._shown[TableName(fact.catalog, fact.namespace, fact.table)] += 1

    def _show(self, facts: Iterable[AlertFact], *, told: bool = False) -> None:
        fresh = []
        with self._lock:
            for fact in facts:
                key = fact.fingerprint, fact.starts_at
                transitions = self._told.setdefault(key, {})
                if fact.status in transitions:
                    continue
                transitions[fact.status] = fact
                starts = self._starts.setdefault(fact.fingerprint, [])
                if fact.starts_at not in starts:
                    starts.append(fact.starts_at)
                    starts.sort()
                self._changed(fact)
                if fact.catalog and fact.namespace and fact.table:
                    self._of_table[TableName(fact.catalog, fact.namespace, fact.table)].add(key)
                fresh.append(key)
            seen = [self._episode(key) for key in fresh] if told else []
        for episode in seen:
            self._tell(episode)

    def _forget(self) -> None:
        with self._lock:
            spare = len(self._told) - self._most
            if spare <= 0:
                return
            over = sorted((key for key in self._told if not self._episode(key).firing), key=lambda key: key[1])
            for key in over[:spare]:
                del self._told[key]
                self._starts[key[0]].remove(key[1])
                if not self._starts[key[0]]:
                    del self._starts[key[0]]
                for keys in self._of_table.values():
                    keys.discard(key)

    def _cold(self, start: Micros) -> list[AlertFact]:
        """Rows of the meta table since an instant. Raises SourceError."""
        if self._engine is None:
            return []
        rows = self._engine.select(MetaQuery(table="alerts", start=start)).to_dicts()
        for row in rows:
            for column in ("labels", "annotations"):
                if isinstance(row[column], list):
                    row[column] = {pair["key"]: pair["value"] for pair in row[column]}
        return msgspec.convert(rows, list[AlertFact])


def _item(fact: AlertFact) -> InboxItem:
    key = item_key(fact.fingerprint, fact.starts_at, fact.status)
    return InboxItem(KIND, key, msgspec.json.encode(fact), fact.observed_at or EPOCH)
