"""When a table that could not be read is retried: exponential back-off, capped, by the injected clock."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from limnograph.domain.ids import TableName
from limnograph.domain.time import MICROS_PER_SECOND, Micros

FIRST_SECONDS = 30
CAP_SECONDS = 900
"""A table is retried after half a minute, then a minute, ... and at least every quarter of an hour."""


class Failure(NamedTuple):
    """`again_at`: microseconds; `reason`: the newest one."""

    times: int
    again_at: Micros
    reason: str


class BackOff:
    """Failures of tables in a row. 0 as `cap_s`: every pass tries every table."""

    def __init__(self, first_s: int = FIRST_SECONDS, cap_s: int = CAP_SECONDS) -> None:
        self._first, self._cap = first_s, cap_s
        self._failures: dict[TableName, Failure] = {}

    @property
    def failing(self) -> frozenset[TableName]:
        """Tables whose last try failed."""
        return frozenset(self._failures)

    def waiting(self, now: Micros) -> dict[TableName, Failure]:
        """Tables whose turn has not come."""
        return {name: failure for name, failure in self._failures.items() if failure.again_at > now}

    def settle(self, tried: Iterable[TableName], failed: dict[TableName, str], now: Micros) -> None:
        """What became of the tables that were tried."""
        for name in tried:
            if name not in failed:
                self._failures.pop(name, None)
        for name, reason in failed.items():
            times = self._failures[name].times + 1 if name in self._failures else 1
            # Doubling stops long before the number would be large: the cap is reached within a few tries.
            delay = min(self._cap, self._first * 2 ** min(times - 1, 20))
            self._failures[name] = Failure(times, now + delay * MICROS_PER_SECOND, reason)

    def forget(self, listed: Collection[TableName]) -> None:
        """Drop tables that are listed no more."""
        self._failures = {name: failure for name, failure in self._failures.items() if name in listed}
