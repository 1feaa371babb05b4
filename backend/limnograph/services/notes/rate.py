"""How often one caller may write."""

from __future__ import annotations

from collections import OrderedDict, deque

from limnograph.domain.errors import TooManyRequests
from limnograph.domain.time import MICROS_PER_SECOND, Micros

MOST_WRITES = 60
MINUTE = 60 * MICROS_PER_SECOND
_REMEMBERED = 10_000


class WriteRate:
    """At most `most` writes of a caller within a minute. Used on the event loop only; bounded in memory."""

    def __init__(self, most: int = MOST_WRITES) -> None:
        self._most = most
        self._writes: OrderedDict[str, deque[Micros]] = OrderedDict()

    def count(self, caller: str, now: Micros) -> None:
        """Count a write. Raises TooManyRequests."""
        writes = self._writes.setdefault(caller, deque())
        self._writes.move_to_end(caller)
        while len(self._writes) > _REMEMBERED:
            self._writes.popitem(last=False)
        while writes and writes[0] <= now - MINUTE:
            writes.popleft()
        if len(writes) >= self._most:
            wait = writes[0] + MINUTE - now
            raise TooManyRequests(
                f"at most {self._most} notes a minute are accepted from one caller",
                max(1, -(-wait // MICROS_PER_SECOND)),
            )
        writes.append(now)
