"""The centred median of a job's runs, which shows its usual duration. Pure."""

from __future__ import annotations

from bisect import bisect_right
from statistics import median

import msgspec

from limnograph.analysis.alignment import Value
from limnograph.domain.answers.timeline import BandLane, BarsLane
from limnograph.domain.time import MS_PER_SECOND, TimeRange

RUNS = 9
"""A number of runs, not a time, so that it means the same for a job that runs every minute and one that runs every
night.
"""
LEAST_RUNS = 3
"""With fewer runs there is no median: that of two runs is neither of them."""


def beside(lane: BandLane, runs: BarsLane, span: TimeRange) -> BandLane:
    """The lane with the median of its job's runs, unless its own query returned one."""
    if lane.median is not None or lane.status not in {"ok", "partial"}:
        return lane
    found = _medians(lane, runs, span)
    known = any(value is not None for value in found)
    return msgspec.structs.replace(lane, median=found) if known else lane


def _medians(lane: BandLane, runs: BarsLane, span: TimeRange) -> list[Value]:
    """At each instant, the median of the RUNS successful runs around the last one that ended, or of all that ended
    since the previous step if those are more: it changes its level with the run that does, not half of RUNS later. Null
    where the lane is null: a job without measurements has no median either.
    """
    timed = ((bar.end, bar.start) for bar in runs.bars if bar.state == "ok")
    ended = sorted((end, (end - start) / MS_PER_SECOND) for end, start in timed if end and start is not None)
    ends, seconds = [end for end, _ in ended], [lasted for _, lasted in ended]
    found: list[Value] = []
    window, value = (0, 0), None
    for at, middle in zip(span.instants(), lane.mid, strict=True):
        first, last = bisect_right(ends, at - span.step_s * MS_PER_SECOND), bisect_right(ends, at)
        if last - first < RUNS and last:
            first, last = max(0, last - 1 - RUNS // 2), min(len(ends), last + RUNS // 2)
        if (first, last) != window:
            window = first, last
            value = median(seconds[first:last]) if last - first >= LEAST_RUNS else None
        found.append(None if middle is None else value)
    return found
