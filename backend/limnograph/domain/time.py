"""Ranges and steps on the UTC time line. Inside, instants are integer microseconds; on the wire, milliseconds."""

from __future__ import annotations

from typing import NamedTuple

from limnograph.domain.errors import InvalidInput

MICROS_PER_MS = 1_000
MICROS_PER_SECOND = 1_000_000
MAX_POINTS = 2_000
"""No answer has more points than this: about one per pixel of a wide screen (DESIGN §6.2)."""

LATEST_MS = 32_503_680_000_000
"""The year 3000: later instants are a mistake of units."""
MAX_STEP_S = 86_400
STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400)
"""Steps in seconds that an automatic choice may take; all divide a UTC day, so buckets repeat from day to day."""


class TimeRange(NamedTuple):
    """Half-open `[start, end)` in epoch milliseconds with a step in seconds; both ends are multiples of the step."""

    start: int
    end: int
    step: int

    @classmethod
    def parse(cls, start: int, end: int, step: int | None) -> TimeRange:
        """Snap to the step outwards; choose the step when none is given. Raises InvalidInput naming the field."""
        if not 0 <= start <= LATEST_MS:
            raise InvalidInput("from", "must be epoch milliseconds between 1970 and 3000")
        if not 0 <= end <= LATEST_MS:
            raise InvalidInput("to", "must be epoch milliseconds between 1970 and 3000")
        if end <= start:
            raise InvalidInput("to", "must be later than from")
        seconds = choose_step(end - start) if step is None else step
        if not 1 <= seconds <= MAX_STEP_S:
            raise InvalidInput("step", "must be whole seconds between 1 and 86400")
        width = seconds * 1000
        low, high = start // width * width, -(-end // width) * width
        if (high - low) // width > MAX_POINTS:
            least = choose_step(end - start)
            if seconds >= least:
                raise InvalidInput("from", f"the range must be at most {MAX_POINTS - 1:,} days; choose a later start")
            raise InvalidInput("step", f"{seconds} s would return more than {MAX_POINTS} points; use {least} or more")
        return cls(low, high, seconds)

    def instants(self) -> range:
        """Epoch milliseconds of every point, `start` first, `end` excluded."""
        return range(self.start, self.end, self.step * 1000)


def choose_step(width_ms: int, points: int = 720) -> int:
    """Smallest step of STEPS (seconds) that keeps `width_ms` within `points` points, a day at most."""
    return next((step for step in STEPS if width_ms <= step * 1000 * points), STEPS[-1])
