"""One breaker per source: after consecutive failures a source is not queried for a while, then one query probes it.

Only failures that may be temporary (unavailable, late) count; a rejected query is a response. Thread-safe.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from typing import Literal

from limnograph.domain.errors import SourceError, SourceRejected, SourceUnavailable

FAILURES = 5
OPEN_S = 10.0
JITTER = 0.2
"""So that several servers do not query a recovering source at the same instant."""

State = Literal["closed", "open", "half-open"]
STATES: tuple[State, ...] = ("closed", "open", "half-open")


class Breaker:
    """`source` names it in errors. `now`: seconds of a monotonic clock. Thread-safe: guarded by `_lock`."""

    def __init__(
        self,
        source: str,
        failures: int = FAILURES,
        open_s: float = OPEN_S,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._source, self._most, self._open_s, self._now = source, failures, open_s, now
        self._lock = threading.Lock()
        self._failures, self._until = 0, 0.0
        self._trying = False
        self._last: SourceError | None = None

    @property
    def state(self) -> State:
        """`half-open`: the next query, or the one in flight, decides."""
        with self._lock:
            if self._failures < self._most:
                return "closed"
            return "half-open" if self._trying or self._now() >= self._until else "open"

    def admit(self) -> None:
        """Call before a query. Raises SourceUnavailable while the breaker is open."""
        with self._lock:
            if self._failures < self._most:
                return
            left = self._until - self._now()
            if left <= 0 and not self._trying:
                self._trying = True
                return
            detail = self._last.detail if self._last else "it fails"
            when = f"in {max(1, round(left))} s" if left > 0 else "now"
            raise SourceUnavailable(self._source, f"{detail} ({self._failures} consecutive failures; retry {when})")

    def succeeded(self) -> None:
        """The source responded."""
        with self._lock:
            self._failures, self._trying, self._last = 0, False, None

    def failed(self, error: SourceError) -> None:
        """The source did not respond."""
        if isinstance(error, SourceRejected):
            self.succeeded()
            return
        with self._lock:
            self._failures, self._trying, self._last = self._failures + 1, False, error
            self._until = self._now() + self._open_s * random.uniform(1 - JITTER, 1 + JITTER)  # noqa: S311

    def gave_up(self) -> None:
        """The request was cancelled: neither a success nor a failure."""
        with self._lock:
            self._trying = False
