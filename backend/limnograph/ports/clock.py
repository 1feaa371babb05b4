"""The clock, so that services and tests agree on what `now` is."""

from __future__ import annotations

from typing import Protocol


class Clock(Protocol):
    """Wall-clock time, UTC."""

    def now(self) -> int:
        """Epoch microseconds."""
        ...
