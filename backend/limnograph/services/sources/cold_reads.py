"""Cold reads: off the event loop, within one deadline, cancelled when no request waits, and with a fallback engine.

A read that never returns (a catalog that sends its response byte by byte) keeps its thread. The number of such threads
is bounded, and no page waits for one.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import ParamSpec, TypeVar

import polars as pl

from limnograph.domain.errors import SourceError, SourceTimeout, SourceUnavailable
from limnograph.ports.clock import Clock
from limnograph.ports.query_engine import MetaHead, MetaQuery, QueryEngine, Table
from limnograph.ports.stopping import STOP, Stop
from limnograph.services.sources.breaker import Breaker
from limnograph.services.sources.deadline import PageDeadline
from limnograph.services.sources.query_counts import QueryCounts

WITHIN_S = 10.0
MOST = 16
P = ParamSpec("P")
T = TypeVar("T")
_PAGE = PageDeadline("cold reads")


class ColdReads:
    """At most `most` blocking reads at once, each of which ends within `within_s`. Immutable after construction, except
    for the semaphore that counts reads.
    """

    def __init__(self, within_s: float = WITHIN_S, most: int = MOST) -> None:
        self.within_s, self._most = within_s, most
        self.counts = QueryCounts()
        self._free = threading.BoundedSemaphore(most)

    def page(self) -> AbstractContextManager[None]:
        """All reads of one page, even sequential ones, end within `within_s` together."""
        return _PAGE.within(self.within_s)

    async def ask(self, call: Callable[P, T], *args: P.args, **given: P.kwargs) -> T:
        """The result of `call`, run in a separate thread. Raises SourceTimeout, SourceUnavailable, and what `call`
        raises.

        If the awaiting task is cancelled, the query is stopped upstream too (`ports/stopping.py`).
        """
        until_s = _PAGE.end_s(self.within_s)
        if until_s <= asyncio.get_running_loop().time():
            raise self._late()
        if not self._free.acquire(blocking=False):
            raise SourceUnavailable("meta", f"{self._most} reads of the meta tables are already running")
        stop, loop = Stop(), asyncio.get_running_loop()
        answer: asyncio.Future[T] = loop.create_future()
        context = contextvars.copy_context()
        context.run(STOP.set, stop)

        def work() -> None:
            try:
                found = context.run(call, *args, **given)
            except BaseException as error:  # noqa: BLE001  # any error is the caller's
                _told(loop, answer, error=error)
            else:
                _told(loop, answer, found)
            finally:
                self._free.release()

        threading.Thread(target=work, name="cold-read", daemon=True).start()
        try:
            with self.counts.timed():
                return await self._in_time(answer, until_s)
        finally:
            if not answer.done() or answer.cancelled():
                stop.set()

    async def _in_time(self, answer: asyncio.Future[T], until_s: float) -> T:
        try:
            async with asyncio.timeout_at(until_s):
                return await answer
        except TimeoutError as error:
            raise self._late() from error

    def _late(self) -> SourceTimeout:
        return SourceTimeout("meta", f"no complete response within {self.within_s:g} s")


def _told(
    loop: asyncio.AbstractEventLoop,
    answer: asyncio.Future[T],
    found: T | None = None,
    error: BaseException | None = None,
) -> None:
    def tell() -> None:
        if answer.done():
            return
        if error is not None:
            answer.set_exception(error)
        else:
            answer.set_result(found)  # type: ignore[arg-type]

    try:
        loop.call_soon_threadsafe(tell)
    except RuntimeError:
        return  # the server stopped during the read


class ColdEngine:
    """QueryEngine that queries `first` (Trino) and, if that fails, `second` (polars over the same tables).

    A page is then slower, not blank; the status page shows `error`. Thread-safe: `error` and `last_success` are
    replaced whole.
    """

    def __init__(self, first: QueryEngine, second: QueryEngine, clock: Clock, breaker: Breaker | None = None) -> None:
        self.name = first.name
        self._first, self._second, self._clock = first, second, clock
        self.breaker, self.counts = breaker or Breaker(first.name, failures=3), QueryCounts()
        self.last_success: int | None = None
        self.error: SourceError | None = None

    def head(self) -> MetaHead:
        """The head from `second`: it reads the catalog, and `first` then reads at that head."""
        return self._second.head()

    def properties(self, table: Table) -> Mapping[str, str]:
        """Properties from `second`, for the same reason."""
        return self._second.properties(table)

    def select(self, query: MetaQuery) -> pl.DataFrame:
        """As the port specifies. Raises SourceError if neither responds."""
        try:
            return self._asked(query)
        except SourceError:
            stop = STOP.get()
            if stop and stop.is_set:
                raise
        return self._second.select(query)

    def warm(self) -> None:
        """Send a small query to `first`, so that the first page finds it ready and the status shows whether it
        responds.
        """
        for table in ("snapshots", "changes"):
            with contextlib.suppress(SourceError):
                self._asked(MetaQuery(table=table, columns=("table_uuid",), limit=1))

    def _asked(self, query: MetaQuery) -> pl.DataFrame:
        self.breaker.admit()
        try:
            with self.counts.timed():
                found = self._first.select(query)
        except SourceError as error:
            stop = STOP.get()
            if stop and stop.is_set:
                self.breaker.gave_up()
            else:
                self.breaker.failed(error)
                self.error = error
            raise
        except BaseException:
            self.breaker.gave_up()
            raise
        self.breaker.succeeded()
        self.last_success, self.error = self._clock.now(), None
        return found
