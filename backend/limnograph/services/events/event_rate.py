"""Limits how many events a sender may push, so that a busy engine does not slow pages down."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

PER_SECOND = 200.0
"""Events of Trino that one core takes, with room for pages."""
RECENT_S = 600.0
"""How long the status shows that events were dropped, in seconds."""


class EventRate:
    """A budget of events that refills every second. Thread-safe: guarded by `_lock`."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, per_second: float = PER_SECOND) -> None:
        self._clock, self._rate = clock, per_second
        self._lock = threading.Lock()
        self._left, self._at = per_second, clock()
        self._dropped = 0
        self._last: float | None = None

    def take(self) -> bool:
        """Whether an event may be taken; one that may not is counted as dropped."""
        with self._lock:
            now = self._clock()
            self._left = min(self._rate, self._left + (now - self._at) * self._rate)
            self._at = now
            if self._left >= 1.0:
                self._left -= 1.0
                return True
            self._dropped, self._last = self._dropped + 1, now
            return False

    def dropped(self) -> tuple[int, bool]:
        """Events dropped since the server's start, and whether the last one was recently."""
        with self._lock:
            recent = self._last is not None and self._clock() - self._last <= RECENT_S
            return self._dropped, recent
