"""The clock, replaceable in tests."""

from __future__ import annotations

from typing import Protocol

from limnograph.domain.time import Micros


class Clock(Protocol):
    """Wall-clock time, UTC."""

    def now(self) -> Micros:
        """Epoch microseconds."""
        ...
