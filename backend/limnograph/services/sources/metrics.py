"""Metrics sources with their health: one breaker each, equal queries coalesced, the page's deadline observed. With
several servers all are queried; the first configured one that has the series is used.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AbstractContextManager

from limnograph.domain.errors import SourceError, SourceTimeout
from limnograph.domain.metrics.series import Matrix, RangeQuery
from limnograph.domain.time import MICROS_PER_SECOND, Millis
from limnograph.ports.clock import Clock
from limnograph.ports.metrics_source import MetricsSource
from limnograph.services.sources.breaker import Breaker
from limnograph.services.sources.deadline import PageDeadline
from limnograph.services.sources.query_counts import QueryCounts

PAGE_S = 5.0
_LATE = "no complete response within the page's deadline"
_PAGE = PageDeadline("metrics")


def page_budget(seconds: float = PAGE_S) -> AbstractContextManager[None]:
    """All queries of one page, even sequential ones, end within this time together."""
    return _PAGE.within(seconds)


Answer = Matrix | SourceError
"""The response of one source."""


class CoalescedSource:
    """One source. Concurrent equal queries are sent once; a cancelled caller does not end the query for others. Used on
    the event loop only; `last_error` and `last_success` may be read in any thread.
    """

    def __init__(self, source: MetricsSource, clock: Clock, breaker: Breaker | None = None) -> None:
        self._source, self._clock = source, clock
        self.name = source.name
        self.breaker, self.counts = breaker or Breaker(source.name), QueryCounts()
        self.last_success: int | None = None
        self.last_error: SourceError | None = None
        self._flying: dict[RangeQuery, tuple[asyncio.Task[Matrix], list[None]]] = {}

    async def range(self, query: RangeQuery) -> Matrix:
        """As the source does. Raises SourceError."""
        loop = asyncio.get_running_loop()
        until_s = _PAGE.until_s
        if until_s is not None and until_s <= loop.time():
            raise SourceTimeout(self.name, _LATE)
        if query not in self._flying:
            self.breaker.admit()
            self._flying[query] = (loop.create_task(self._ask(query)), [])
        task, waiting = self._flying[query]
        waiting.append(None)
        try:
            async with asyncio.timeout_at(until_s):
                return await asyncio.shield(task)
        except TimeoutError as error:
            late = SourceTimeout(self.name, _LATE)
            self.last_error = late
            self.breaker.failed(late)
            raise late from error
        finally:
            waiting.pop()
            if not waiting and not task.done():
                # No caller waits any more: the query is cancelled upstream too.
                self._flying.pop(query, None)
                task.cancel()

    async def _ask(self, query: RangeQuery) -> Matrix:
        try:
            with self.counts.timed():
                found = await self._source.range(query)
        except SourceError as error:
            self.last_error = error
            self.breaker.failed(error)
            raise
        except BaseException:
            self.breaker.gave_up()
            raise
        finally:
            self._flying.pop(query, None)
        self.breaker.succeeded()
        self.last_success, self.last_error = self._clock.now(), None
        return found

    def age_s(self) -> float | None:
        """Seconds since the last response."""
        return None if self.last_success is None else (self._clock.now() - self.last_success) / MICROS_PER_SECOND


class Metrics:
    """All sources, in the configured order; one is enough. Immutable after construction."""

    def __init__(self, sources: MetricsSource | Sequence[MetricsSource], clock: Clock) -> None:
        listed = sources if isinstance(sources, Sequence) else [sources]
        self.sources = [CoalescedSource(source, clock) for source in listed]

    @property
    def name(self) -> str:
        """The configured names of the sources."""
        return ", ".join(source.name for source in self.sources)

    @property
    def last_error(self) -> SourceError | None:
        """The error of the first source whose last query failed."""
        return next((source.last_error for source in self.sources if source.last_error), None)

    def age_s(self) -> float | None:
        """Seconds since the newest response of any source."""
        return min((age for source in self.sources if (age := source.age_s()) is not None), default=None)

    async def range(self, query: RangeQuery, source: str | None = None) -> Matrix:
        """Series of the named source, else of the first that has any. Raises SourceError if none has any and one
        failed.
        """
        return first_with_series(list((await self.each(query, source)).values()))

    async def everywhere(self, query: RangeQuery) -> Matrix:
        """Series of all sources, for discovery. Raises SourceError if none responds."""
        return united(list((await self.each(query)).values()))

    async def each(self, query: RangeQuery, source: str | None = None) -> dict[str, Answer]:
        """The response of each source, or of the named one, by name."""
        asked = [one for one in self.sources if source is None or one.name == source]
        async with asyncio.TaskGroup() as group:
            tasks = {one.name: group.create_task(_answer(one, query)) for one in asked}
        return {name: task.result() for name, task in tasks.items()}

    async def instant(self, promql: str, at_ms: Millis) -> Matrix:
        """One sample per series at one instant, from all sources."""
        return await self.everywhere(RangeQuery(promql, at_ms, at_ms, 60))


async def _answer(source: CoalescedSource, query: RangeQuery) -> Answer:
    try:
        return await source.range(query)
    except SourceError as error:
        return error


def first_with_series(answers: Sequence[Answer]) -> Matrix:
    """The series of the first source that has any; raises its SourceError if none has any and one failed."""
    found = [answer for answer in answers if isinstance(answer, Matrix)]
    with_series = next((matrix for matrix in found if matrix.series or matrix.truncated), None)
    if with_series is not None:
        return with_series
    _raise(answers)
    return found[0] if found else Matrix([])


def united(answers: Sequence[Answer]) -> Matrix:
    """The series of all sources. Raises SourceError if none responded."""
    found = [answer for answer in answers if isinstance(answer, Matrix)]
    if not found:
        _raise(answers)
    return Matrix([series for one in found for series in one.series], any(one.truncated for one in found))


def _raise(answers: Sequence[Answer]) -> None:
    for answer in answers:
        if isinstance(answer, SourceError):
            raise answer
