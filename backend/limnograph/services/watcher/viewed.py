"""Tables that pages show now: the watcher probes them before others, each at most once in a few seconds."""

from __future__ import annotations

from collections.abc import Callable, Collection

from limnograph.domain.ids import TableName
from limnograph.domain.time import MICROS_PER_SECOND
from limnograph.ports.clock import Clock

AGAIN_S = 5
"""A table with many viewers is probed early only once in this time, so that catalog queries stay within the budget."""
MOST = 1_000


class ViewedTables:
    """Call it with the table of a page. `hurry`: makes the watcher probe tables first, as `WatchProcess.wake` does.
    Used on the event loop only.
    """

    def __init__(self, hurry: Callable[[Collection[TableName]], None], clock: Clock) -> None:
        self._hurry, self._clock = hurry, clock
        self._last: dict[TableName, int] = {}

    def __call__(self, name: TableName) -> None:
        """Never raises, never waits."""
        now_us = self._clock.now()
        if 0 <= now_us - self._last.get(name, -AGAIN_S * MICROS_PER_SECOND) < AGAIN_S * MICROS_PER_SECOND:
            return
        self._last.pop(name, None)
        if len(self._last) >= MOST:
            del self._last[next(iter(self._last))]  # the least recently hurried
        self._last[name] = now_us
        self._hurry((name,))
