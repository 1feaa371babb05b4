"""The clock, so that services and tests agree on what `now` is."""

from __future__ import annotations

from typing import Protocol

from limnograph.domain.time import Micros


class Clock(Protocol):
    """Wall-clock time, UTC."""

    def now(self) -> Micros:
        """Epoch microseconds."""
        ...
