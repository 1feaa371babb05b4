"""Instants, ranges and steps on the UTC time line. Instants are `Micros` in the program and `Millis` on the wire.

Both are plain integers at run time, so that msgspec, OpenAPI, numpy and polars see `int`. Only the type checker
distinguishes them from each other and from bare integers. An instant plus a duration is an instant, and the difference
of two instants is a duration, without a call around each sum (`typing.NewType` would require one). `Micros(value)`
declares a number from outside to be an instant. Names of durations end in `_s`, `_ms` or `_us`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, cast, overload

from limnograph.domain.errors import InvalidInput

MICROS_PER_MS = 1_000
MICROS_PER_SECOND = 1_000_000
MS_PER_SECOND = 1_000
MAX_POINTS = 2_000
"""Maximum number of points in a response, about one per pixel of a wide screen."""

LAST_DATE_MS = 8_640_000_000_000_000
"""Last instant that JavaScript's Date can represent. Later ones, or earlier than its negative, are not times."""
LATEST_MS = 32_503_680_000_000
"""The year 3000; a later instant indicates a wrong unit."""
MAX_STEP_S = 86_400
STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400)
"""Steps in seconds that are chosen automatically. All divide a UTC day, so buckets are the same every day."""

if TYPE_CHECKING:

    class Micros(int):
        """An instant, epoch microseconds."""

        def __add__(self, other: int, /) -> Micros: ...
        @overload
        def __sub__(self, other: Micros, /) -> int: ...  # type: ignore[overload-overlap]
        @overload
        def __sub__(self, other: int, /) -> Micros: ...
        def __sub__(self, other: int, /) -> int: ...

    class Millis(int):
        """An instant, epoch milliseconds."""

        def __add__(self, other: int, /) -> Millis: ...
        @overload
        def __sub__(self, other: Millis, /) -> int: ...  # type: ignore[overload-overlap]
        @overload
        def __sub__(self, other: int, /) -> Millis: ...
        def __sub__(self, other: int, /) -> int: ...

else:
    Micros = Millis = int

EPOCH = Micros(0)
"""1970, before any fact."""


@overload
def to_millis(at: Micros) -> Millis: ...
@overload
def to_millis(at: Micros | None) -> Millis | None: ...
def to_millis(at: Micros | None) -> Millis | None:
    """The millisecond that contains an instant."""
    return None if at is None else Millis(at // MICROS_PER_MS)


@overload
def to_micros(at: Millis) -> Micros: ...
@overload
def to_micros(at: Millis | None) -> Micros | None: ...
def to_micros(at: Millis | None) -> Micros | None:
    """The first microsecond of a millisecond."""
    return None if at is None else Micros(at * MICROS_PER_MS)


def truncated(at: Micros, width_us: int) -> Micros:
    """The start of the hour, day or other span of a width that contains an instant."""
    return Micros(at // width_us * width_us)


def beginnings(start: Micros, end: Micros, width_us: int) -> Sequence[Micros]:
    """The start of each span of a width in `[start, end)`."""
    return cast("Sequence[Micros]", range(start, end, width_us))


class TimeRange(NamedTuple):
    """Half-open `[start, end)` in epoch milliseconds with a step in seconds; both ends are multiples of the step."""

    start: Millis
    end: Millis
    step_s: int

    @classmethod
    def parse(cls, start: Millis, end: Millis, step: int | None) -> TimeRange:
        """Round both ends outwards to the step, which is chosen if None. Raises InvalidInput, which names the field."""
        if not 0 <= start <= LATEST_MS:
            raise InvalidInput("from", "must be epoch milliseconds between 1970 and 3000")
        if not 0 <= end <= LATEST_MS:
            raise InvalidInput("to", "must be epoch milliseconds between 1970 and 3000")
        if end <= start:
            raise InvalidInput("to", "must be later than from")
        seconds = choose_step(end - start) if step is None else step
        if not 1 <= seconds <= MAX_STEP_S:
            raise InvalidInput("step", "must be whole seconds between 1 and 86400")
        width_ms = seconds * MS_PER_SECOND
        low, high = start // width_ms * width_ms, -(-end // width_ms) * width_ms
        if (high - low) // width_ms > MAX_POINTS:
            least = choose_step(end - start)
            if seconds >= least:
                raise InvalidInput("from", f"the range must be at most {MAX_POINTS - 1:,} days; choose a later start")
            raise InvalidInput("step", f"{seconds} s would return more than {MAX_POINTS} points; use {least} or more")
        return cls(Millis(low), Millis(high), seconds)

    def instants(self) -> Sequence[Millis]:
        """Epoch milliseconds of every point, `start` first, `end` excluded."""
        return cast("Sequence[Millis]", range(self.start, self.end, self.step_s * MS_PER_SECOND))


def choose_step(width_ms: int, points: int = 720) -> int:
    """The smallest of STEPS (seconds) that covers `width_ms` with at most `points` points; otherwise a day."""
    return next((step for step in STEPS if width_ms <= step * MS_PER_SECOND * points), STEPS[-1])
