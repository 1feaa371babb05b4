"""Counts failed authentication attempts per address: repeated guesses soon have to wait a minute, a single mistake
costs nothing.
"""

from __future__ import annotations

import threading
from collections import OrderedDict, deque

from limnograph.domain.access import address_group
from limnograph.domain.errors import TooManyRequests
from limnograph.domain.time import MICROS_PER_SECOND, Micros
from limnograph.ports.clock import Clock

MOST_FAILURES = 10
WINDOW_S = 60
_REMEMBERED = 10_000


class Attempts:
    """At most MOST_FAILURES failures within WINDOW_S seconds from one address. Thread-safe, bounded in memory."""

    def __init__(self, clock: Clock, most: int = MOST_FAILURES) -> None:
        self._clock, self._most = clock, most
        self._lock = threading.Lock()
        self._failed: OrderedDict[str, deque[Micros]] = OrderedDict()

    def check(self, address: str) -> None:
        """Raises TooManyRequests while an address has failed too often."""
        now = self._clock.now()
        with self._lock:
            failed = self._of(address_group(address), now)
            if failed is None or len(failed) < self._most:
                return
            wait = failed[0] + WINDOW_S * MICROS_PER_SECOND - now
        raise TooManyRequests("too many failed login attempts from this address", max(1, -(-wait // MICROS_PER_SECOND)))

    def failed(self, address: str) -> None:
        """Count a failure."""
        group, now = address_group(address), self._clock.now()
        with self._lock:
            if self._of(group, now) is None:
                self._failed[group] = deque(maxlen=self._most)
                while len(self._failed) > _REMEMBERED:
                    self._failed.popitem(last=False)
            self._failed[group].append(now)
            self._failed.move_to_end(group)

    def _of(self, group: str, now: Micros) -> deque[Micros] | None:
        failed = self._failed.get(group)
        while failed and failed[0] <= now - WINDOW_S * MICROS_PER_SECOND:
            failed.popleft()
        if failed is not None and not failed:
            del self._failed[group]
            return None
        return failed
