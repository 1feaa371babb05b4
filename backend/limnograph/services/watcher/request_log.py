"""How a catalog answered the watcher's requests of the last quarter of an hour."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

KEPT_S = 900.0
MOST = 20_000
"""Most requests that are kept: 20 a second for a quarter of an hour."""


class RequestNumbers(NamedTuple):
    """Requests and how many of them got no answer; `p95_s`: the 95th percentile of the others' durations."""

    requests: int = 0
    failed: int = 0
    p95_s: float | None = None


class RequestLog:
    """Guarded by the lock of the catalog's watch. Times in seconds of the monotonic clock."""

    def __init__(self) -> None:
        self._requests: deque[tuple[float, float | None]] = deque(maxlen=MOST)

    def note(self, now_s: float, took_s: float | None) -> None:
        """A request ended. `took_s`: its duration; None: the catalog did not answer."""
        self._requests.append((now_s, took_s))

    def numbers(self, now_s: float) -> RequestNumbers:
        """Of the last quarter of an hour. O(n log n)."""
        while self._requests and self._requests[0][0] < now_s - KEPT_S:
            self._requests.popleft()
        taken = sorted(took_s for _, took_s in self._requests if took_s is not None)
        failed = len(self._requests) - len(taken)
        return RequestNumbers(len(self._requests), failed, taken[-(-95 * len(taken) // 100) - 1] if taken else None)
