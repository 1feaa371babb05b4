"""The page cache: keeps pages as bytes until their data changes, and computes a page once for all concurrent requests.
It covers the routes that declare `page`. It adds validators, codings and 304 to their responses whether or not it
caches them, so that responses are the same with a budget of 0.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Any

from litestar.types import ASGIApp, Receive, Scope

from limnograph.api.front.answers import AppResponse, CachedResponse, collected
from limnograph.api.front.page_callers import CallerGone, never_disconnects, wait_for_disconnect, without_headers
from limnograph.api.front.page_counts import PageCounts
from limnograph.api.front.page_keys import PageKey, PageKeys
from limnograph.api.wire.access import FAILED
from limnograph.domain.access import AccessScope, Identity
from limnograph.ports.fast_path import Header
from limnograph.services.server.versions import LakeVersions

FRESH_S = 2.0
"""A cached page is fresh for this long, give or take a fifth: the maximum age of data other than commits and runs."""
REVALIDATE_S = 8.0
"""For this long after, the old page is served while a new one is computed (stale-while-revalidate)."""
STALE_S = 600.0
"""Maximum age of a cached page that is served instead of a failed response (stale-if-error)."""

_NEVER = -1
"""A version that no table has."""

Scopes = frozenset[AccessScope]
EntryKey = tuple[Scopes, PageKey]


class _KeptPage:
    """A cached page. `asked`: it was requested since `_fit` last spared it."""

    __slots__ = ("answer", "asked", "fresh_s", "made_at", "needs", "version")

    def __init__(self, answer: CachedResponse, version: int, needs: AccessScope, made_at: float) -> None:
        self.answer, self.version, self.needs, self.made_at = answer, version, needs, made_at
        self.fresh_s = FRESH_S * random.uniform(0.8, 1.2)  # noqa: S311
        self.asked = False


class _Flight:
    """A computation, and the number of requests that wait for it. Without any it is cancelled."""

    def __init__(self, task: asyncio.Task[AppResponse]) -> None:
        self.task, self.waiting = task, 0


class Pages:
    """The cache. `budget`: size in bytes; with 0 nothing is cached, and concurrent requests do not share computations
    either. `known` and `fresh` are single look-ups and may be called from any thread; everything else runs on the event
    loop only.
    """

    def __init__(
        self,
        app: ASGIApp,
        keys: PageKeys,
        versions: LakeVersions,
        budget: int,
        *,
        complete: Callable[[Iterable[Header]], list[Header]],
        now: Callable[[], float] = time.monotonic,
        counts: PageCounts | None = None,
    ) -> None:
        self._app, self._keys, self._versions, self._budget, self._now = app, keys, versions, budget, now
        self._complete = complete
        self._entries: OrderedDict[EntryKey, _KeptPage] = OrderedDict()
        self._flights: dict[tuple[EntryKey, int], _Flight] = {}
        self._refreshing: set[asyncio.Task[Any]] = set()
        self.counts = counts or PageCounts()

    def key(self, scope: Any) -> PageKey | None:
        """The key of the page that a GET requests; None if the page is not cacheable."""
        return self._keys.of(scope["raw_path"], scope["query_string"], scope["path"])

    def known(self, raw_path: bytes, query: bytes) -> PageKey | None:
        """The key for bytes that were requested before; None: call `key`."""
        return self._keys.known(raw_path, query)

    def fresh(self, key: PageKey, identity: Identity) -> tuple[CachedResponse, float] | None:
        """A fresh cached page and its age in seconds. Callable from any thread."""
        place = (identity.scopes, key)
        entry = self._entries.get(place)
        if entry is None or not self._holds(entry, key, identity):
            return None
        age = self._now() - entry.made_at
        if age >= entry.fresh_s:
            return None
        entry.asked = True
        return entry.answer, age

    def _holds(self, entry: _KeptPage, key: PageKey, identity: Identity) -> bool:
        return entry.needs in identity.scopes and entry.version == self._versions.of(key.table)

    async def answer(
        self, key: PageKey, identity: Identity, scope: Scope, receive: Receive
    ) -> tuple[AppResponse, float]:
        """The response to a request and its age in seconds. Raises CallerGone, and what the application raises."""
        place = (identity.scopes, key)
        if found := self.fresh(key, identity):
            self.counts.hit()
            return found
        entry = self._entries.get(place)
        if entry and self._holds(entry, key, identity):
            age = self._now() - entry.made_at
            if age < entry.fresh_s + REVALIDATE_S:
                self._refresh(place, scope)
                self.counts.stale += 1
                return entry.answer, age
        version = self._versions.of(key.table)
        outcome = await self._await_flight(place, version, scope, receive)
        if outcome.status >= 500 and (old := self._entries.get(place)) and old.needs in identity.scopes:
            age = self._now() - old.made_at
            if age < STALE_S:
                self.counts.stale += 1
                return old.answer.aged(age, self._complete), age
        return outcome, 0.0

    async def _await_flight(self, place: EntryKey, version: int, scope: Scope, receive: Receive) -> AppResponse:
        """Wait for the computation of this page at this version, which concurrent requests share."""
        if not self._budget:
            return await self._computed(place, version, scope, receive)
        self.counts.shared += (place, version) in self._flights
        flight = self._flight(place, version, scope)
        flight.waiting += 1
        gone = asyncio.ensure_future(wait_for_disconnect(receive))
        try:
            await asyncio.wait({flight.task, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not flight.task.done():
                raise CallerGone
            return flight.task.result()
        finally:
            gone.cancel()
            flight.waiting -= 1
            if not flight.waiting and not flight.task.done():
                flight.task.cancel()

    def _flight(self, place: EntryKey, version: int, scope: Scope) -> _Flight:
        flight = self._flights.get((place, version))
        if flight is None or flight.task.cancelling():
            task = asyncio.ensure_future(self._computed(place, version, scope, never_disconnects))
            flight = self._flights[place, version] = _Flight(task)
            task.add_done_callback(lambda _: self._end_flight(place, version, flight))
        return flight

    def _end_flight(self, place: EntryKey, version: int, flight: _Flight) -> None:
        if self._flights.get((place, version)) is flight:
            del self._flights[place, version]
        if not flight.task.cancelled():
            flight.task.exception()  # retrieved, so that asyncio logs no warning if no request waits for it

    def _refresh(self, place: EntryKey, scope: Scope) -> None:
        version = self._versions.of(place[1].table)
        if (place, version) in self._flights:
            return
        flight = self._flight(place, version, scope)
        flight.waiting += 1  # the cache's own: callers that disconnect do not cancel it
        self._refreshing.add(flight.task)
        flight.task.add_done_callback(self._refreshing.discard)

    async def _computed(self, place: EntryKey, version: int, scope: Scope, receive: Receive) -> AppResponse:
        self.counts.computed += 1
        asked, state = without_headers(scope)
        outcome = await collected(self._app, asked, receive)
        needs = state.get("needs")
        if outcome.status != 200 or needs is None or outcome.has(b"set-cookie"):
            return outcome
        answer = CachedResponse.of(outcome, self._complete)
        if state.get(FAILED):
            self._outdate(place)
            return answer
        self._keep(place, _KeptPage(answer, version, needs, self._now()))
        return answer

    def _outdate(self, place: EntryKey) -> None:
        """A source of the cached page now fails: serve the page only instead of a failed response."""
        old = self._entries.get(place)
        if old is not None:
            old.version = _NEVER

    def _keep(self, place: EntryKey, entry: _KeptPage) -> None:
        if entry.answer.size > self._budget:
            return
        self._drop(place)
        self._entries[place] = entry
        self.counts.bytes += entry.answer.size
        self.counts.kept += 1
        entry.answer.grows = self._grown
        self._fit()

    def _drop(self, place: EntryKey) -> None:
        old = self._entries.pop(place, None)
        if old is not None:
            old.answer.grows = None
            self.counts.bytes -= old.answer.size
            self.counts.kept -= 1

    def _grown(self, more: int) -> None:
        self.counts.bytes += more
        self._fit()

    def _fit(self) -> None:
        """Evict the oldest pages to stay within the budget; a page that was requested since the last round is spared
        once.
        """
        while self.counts.bytes > self._budget and self._entries:
            place, entry = next(iter(self._entries.items()))
            if entry.asked:
                entry.asked = False
                self._entries.move_to_end(place)
            else:
                self._drop(place)
