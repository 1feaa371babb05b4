"""Cold reads: off the event loop, within one deadline, cancelled when no request waits, by another engine when one
fails.

A read that hangs for good (a catalog that drips) keeps its thread; there are few of those, and no page waits for one.
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
    """At most `most` blocking reads at once, each answered or given up within `within_s`. Immutable after construction,
    but for the semaphore that counts reads.
    """

    def __init__(self, within_s: float = WITHIN_S, most: int = MOST) -> None:
        self.within_s, self._most = within_s, most
        self.counts = QueryCounts()
        self._free = threading.BoundedSemaphore(most)

    def page(self) -> AbstractContextManager[None]:
        """All reads of one page, however many follow one another, are answered or given up within `within_s`."""
        return _PAGE.within(self.within_s)

    async def ask(self, call: Callable[P, T], *args: P.args, **given: P.kwargs) -> T:
        """What `call` returns, from a thread of its own. Raises SourceTimeout, SourceUnavailable, what `call` raises.

        Whoever awaits this and is cancelled stops the query upstream too (`ports/stopping.py`).
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
            except BaseException as error:  # noqa: BLE001  # whatever it is belongs to who asked
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
        return  # the server ended while it was read


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
        """From the second: it reads the catalog, and `first` reads the result."""
        return self._second.head()

    def properties(self, table: Table) -> Mapping[str, str]:
        """Of the second, for the same reason."""
        return self._second.properties(table)

    def select(self, query: MetaQuery) -> pl.DataFrame:
        """As the port says. Raises SourceError when neither answers."""
        try:
            return self._asked(query)
        except SourceError:
            stop = STOP.get()
            if stop and stop.is_set:
                raise
        return self._second.select(query)

    def warm(self) -> None:
        """Ask `first` for little, so that it has what a first page needs and status knows whether it answers."""
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
