"""The baseline of a range: the time just before it, the same time of another day, or a custom window.

Pure. Instants are epoch milliseconds.
"""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median
from typing import NamedTuple

from limnograph.domain.answers.explanations import Baseline, BaselineKind, Level
from limnograph.domain.errors import InvalidInput
from limnograph.domain.time import Millis, to_millis
from limnograph.services.jobs.run_log import RunRecord

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
TIMES = 4
"""The previous baseline is this many times as long as the range (ux.md, after Netdata)."""
LEAST_MS, MOST_MS = 12 * HOUR_MS, 7 * DAY_MS
"""The shortest and longest time before the range in which changes are searched."""
FURTHEST_MS = 31 * DAY_MS
_PERIOD_MS: dict[BaselineKind, int] = {"yesterday": DAY_MS, "week": 7 * DAY_MS}


class Windows(NamedTuple):
    """The range `[start, end)`, the baseline, and the start of the examined runs."""

    start: Millis
    end: Millis
    kind: BaselineKind
    baseline_start: Millis
    baseline_end: Millis

    @property
    def since(self) -> Millis:
        """The start of both windows."""
        return max(Millis(0), min(self.baseline_start, self.start - LEAST_MS))


def windows(
    start: Millis, end: Millis, kind: BaselineKind, given: tuple[Millis | None, Millis | None] = (None, None)
) -> Windows:
    """`given`: both ends of a custom baseline. Raises InvalidInput."""
    first, last = given
    if first is not None or last is not None:
        return _custom(start, end, first, last)
    if kind == "custom":
        raise InvalidInput("baseline", "requires baseline_from and baseline_to if it is custom")
    if kind == "before":
        return Windows(start, end, kind, max(Millis(0), start - min(TIMES * (end - start), MOST_MS)), start)
    period = _PERIOD_MS[kind]
    back = period * -(-(end - start) // period)
    if back > FURTHEST_MS:
        raise InvalidInput(
            "baseline", f"would start more than {FURTHEST_MS // DAY_MS} days earlier; choose a shorter range"
        )
    return Windows(start, end, kind, max(Millis(0), start - back), max(Millis(0), end - back))


def _custom(start: Millis, end: Millis, first: Millis | None, last: Millis | None) -> Windows:
    if first is None or last is None:
        raise InvalidInput(
            "baseline_from" if first is None else "baseline_to", "is required; send both baseline_from and baseline_to"
        )
    if not 0 <= first < last:
        raise InvalidInput("baseline_to", "must be later than baseline_from")
    if last > start:
        raise InvalidInput("baseline_to", "must not be later than from")
    if start - first > FURTHEST_MS:
        raise InvalidInput("baseline_from", f"must be at most {FURTHEST_MS // DAY_MS} days earlier than from")
    return Windows(start, end, "custom", first, last)


def levels(asked: Windows, runs: Iterable[RunRecord]) -> tuple[Level, Baseline]:
    """Runs and median duration of the job in both windows."""
    ended = [(to_millis(run.began), run.seconds) for run in runs if run.status == "ok" and run.seconds]

    def within(first: Millis, last: Millis) -> tuple[int, float | None]:
        took = [seconds for at, seconds in ended if first <= at < last]
        return len(took), median(took) if took else None

    count, middle = within(asked.start, asked.end)
    here = Level(start=asked.start, end=asked.end, runs=count, median_seconds=middle)
    count, middle = within(asked.baseline_start, asked.baseline_end)
    there = Baseline(
        start=asked.baseline_start, end=asked.baseline_end, runs=count, median_seconds=middle, kind=asked.kind
    )
    return here, there
