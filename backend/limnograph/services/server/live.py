"""The live stream's hub: events are numbered, the newest are kept for readers that reconnect, slow readers are dropped.

Belongs to the event loop.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import Counter, deque
from typing import NamedTuple

import msgspec

from limnograph.domain.answers.stream import ResetStreamEvent
from limnograph.domain.answers.view import View
from limnograph.domain.errors import TooManyRequests

KEPT = 2_000
"""Events that are replayed to a reader that reconnects."""
WAITING = 500
"""Events that may wait for a reader; one that is further behind is dropped and reconnects with its last id."""
RETRY_S = 10


class LiveEvent(NamedTuple):
    """`id`: returned by browsers as `Last-Event-ID`; empty if they must keep the previous one."""

    id: str
    kind: str
    data: bytes


class Caps(NamedTuple):
    """Most open streams: of all callers, and of one (None: the same as of all)."""

    all: int = 1_000
    each: int | None = 50


class Live:
    """`kept`, `waiting`: see KEPT and WAITING. Used on the event loop only; its numbers may be read in any thread."""

    def __init__(self, caps: Caps = Caps(), *, kept: int = KEPT, waiting: int = WAITING) -> None:  # noqa: B008
        self._caps, self._waiting = caps, waiting
        self._server = secrets.token_hex(4)
        self._number = 0
        self._ring: deque[LiveEvent] = deque(maxlen=kept)
        self._readers: set[Reader] = set()
        self._of: Counter[str] = Counter()
        self.closed = False
        self.refused = self.dropped = 0

    @property
    def readers(self) -> int:
        """The number of open streams."""
        return len(self._readers)

    @property
    def published(self) -> int:
        """The number of published events."""
        return self._number

    def publish(self, kind: str, data: View) -> None:
        """Send an event to all readers."""
        self._number += 1
        event = LiveEvent(f"{self._server}-{self._number}", kind, msgspec.json.encode(data))
        self._ring.append(event)
        for reader in list(self._readers):
            reader.offer(event)

    def open(self, caller: str, last_id: str | None, *, capped: bool = True) -> Reader:
        """A stream of the events after `last_id`. Raises TooManyRequests. Close it with `Reader.close`."""
        each = self._caps.each if capped else None
        if self.closed or len(self._readers) >= self._caps.all or (each is not None and self._of[caller] >= each):
            self.refused += 1
            raise TooManyRequests("too many live streams are open", RETRY_S)
        reader = Reader(self, caller, self._waiting)
        for event in self._missed(last_id):
            reader.offer(event)
        self._readers.add(reader)
        self._of[caller] += 1
        return reader

    def _missed(self, last_id: str | None) -> list[LiveEvent]:
        """Events after an id, or a single event that reports that they are unknown."""
        if not last_id:
            return []
        server, _, number = last_id.partition("-")
        if server != self._server or not number.isdecimal() or int(number[:20]) > self._number:
            return [self._reset("new-server")]
        missed = self._number - int(number)
        if missed > len(self._ring):
            return [self._reset("too-long-ago")]
        if missed >= self._waiting:
            return [self._reset("too-much")]
        return list(self._ring)[len(self._ring) - missed :]

    def _reset(self, reason: str) -> LiveEvent:
        data = msgspec.convert({"reason": reason}, ResetStreamEvent)
        return LiveEvent(f"{self._server}-{self._number}", "reset", msgspec.json.encode(data))

    def forget(self, reader: Reader) -> None:
        """Remove a closed stream."""
        if reader in self._readers:
            self._readers.discard(reader)
            self._of[reader.caller] -= 1
            if not self._of[reader.caller]:
                del self._of[reader.caller]

    def close(self) -> None:
        """End all streams and refuse new ones."""
        self.closed = True
        for reader in list(self._readers):
            reader.end()


class Reader:
    """One open stream."""

    def __init__(self, live: Live, caller: str, waiting: int) -> None:
        self._live, self.caller = live, caller
        self._queue: asyncio.Queue[LiveEvent | None] = asyncio.Queue(waiting + 1)
        self.over = False

    def offer(self, event: LiveEvent) -> None:
        """Queue an event; a reader whose queue is full is dropped."""
        if self.over:
            return
        if self._queue.qsize() >= self._queue.maxsize - 1:
            self._live.dropped += 1
            self.end()
        else:
            self._queue.put_nowait(event)

    def end(self) -> None:
        """Queue no more events; waiting ones are still delivered."""
        if not self.over:
            self.over = True
            self._queue.put_nowait(None)
            self._live.forget(self)

    async def next(self, seconds: float) -> list[LiveEvent] | None:
        """The waiting events, at least one; empty after a time-out; None at the end of the stream."""
        try:
            async with asyncio.timeout(seconds):
                first = await self._queue.get()
        except TimeoutError:
            return []
        found: list[LiveEvent] = []
        while first is not None:
            found.append(first)
            if self._queue.empty():
                return found
            first = self._queue.get_nowait()
        if found:
            self._queue.put_nowait(None)
            return found
        return None

    def close(self) -> None:
        """Close the stream: the caller disconnected."""
        self.over = True
        self._live.forget(self)
