"""Counts the queries to one source by outcome and duration."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

from limnograph.domain.errors import SourceError
from limnograph.domain.metrics.gauges import SECONDS
from limnograph.ports.stopping import STOP
from limnograph.services.sources.breaker import Breaker

Outcome = Literal["ok", "timeout", "unavailable", "rejected", "failed", "cancelled"]
_KNOWN: dict[str, Outcome] = {
    "source-timeout": "timeout",
    "source-unavailable": "unavailable",
    "source-rejected": "rejected",
}


class QueryCount(NamedTuple):
    """`buckets`: queries that took up to each of SECONDS, then those that took longer; `seconds`: their total."""

    buckets: tuple[int, ...]
    seconds: float


class QueryCounts:
    """Thread-safe: guarded by `_lock`. Counts since the start of the process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen: dict[Outcome, QueryCount] = {}
        self.last_s: float | None = None
        """Duration of the last successful query, seconds."""

    @contextlib.contextmanager
    def timed(self) -> Iterator[None]:
        """Time one query, until the end of the block; its outcome is what the block raises."""
        started = time.perf_counter()
        outcome: Outcome = "ok"
        try:
            yield
        except BaseException as error:
            outcome = _outcome(error)
            raise
        finally:
            self.add(outcome, time.perf_counter() - started)

    def add(self, outcome: Outcome, seconds: float) -> None:
        """Count one query."""
        place = bisect_left(SECONDS, seconds)
        with self._lock:
            buckets, total = self._seen.get(outcome, QueryCount((0,) * (len(SECONDS) + 1), 0.0))
            more = tuple(count + (at == place) for at, count in enumerate(buckets))
            self._seen[outcome] = QueryCount(more, total + seconds)
            if outcome == "ok":
                self.last_s = seconds

    def told(self) -> Mapping[Outcome, QueryCount]:
        """Counts by outcome, without those that never occurred."""
        with self._lock:
            return dict(self._seen)


def _outcome(error: BaseException) -> Outcome:
    """A failure after cancellation is not a failure of the source."""
    stop = STOP.get()
    if isinstance(error, asyncio.CancelledError) or (stop is not None and stop.is_set):
        return "cancelled"
    return _KNOWN.get(error.problem_type, "failed") if isinstance(error, SourceError) else "failed"


class CountedSource(NamedTuple):
    """A source under its name in metrics; without a breaker if it is always queried."""

    kind: str
    name: str
    counts: QueryCounts
    breaker: Breaker | None = None
