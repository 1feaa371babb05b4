"""When a table that could not be read is retried: exponential back-off, capped, by the injected clock."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from limnograph.domain.ids import TableName
from limnograph.domain.time import MICROS_PER_SECOND, Micros

FIRST_SECONDS = 30
CAP_SECONDS = 900
"""A table is retried after half a minute, then a minute, and so on, but at least every quarter of an hour."""


class Failure(NamedTuple):
    """`again_at`: microseconds; `reason`: of the newest failure."""

    times: int
    again_at: Micros
    reason: str


class BackOff:
    """Consecutive failures of tables. With 0 as `cap_s` every pass tries every table."""

    def __init__(self, first_s: int = FIRST_SECONDS, cap_s: int = CAP_SECONDS) -> None:
        self._first, self._cap = first_s, cap_s
        self._failures: dict[TableName, Failure] = {}

    @property
    def failing(self) -> frozenset[TableName]:
        """Tables whose last attempt failed."""
        return frozenset(self._failures)

    def waiting(self, now: Micros) -> dict[TableName, Failure]:
        """Tables whose retry is not due yet."""
        return {name: failure for name, failure in self._failures.items() if failure.again_at > now}

    def settle(self, tried: Iterable[TableName], failed: dict[TableName, str], now: Micros) -> None:
        """Record the results of the tables that were tried."""
        for name in tried:
            if name not in failed:
                self._failures.pop(name, None)
        for name, reason in failed.items():
            times = self._failures[name].times + 1 if name in self._failures else 1
            # Doubling stops long before the number becomes large: the cap is reached after a few attempts.
            delay = min(self._cap, self._first * 2 ** min(times - 1, 20))
            self._failures[name] = Failure(times, now + delay * MICROS_PER_SECOND, reason)

    def forget(self, listed: Collection[TableName]) -> None:
        """Drop tables that are no longer listed."""
        self._failures = {name: failure for name, failure in self._failures.items() if name in listed}
