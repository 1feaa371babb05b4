"""Thresholds that pages draw, and the pace of a job."""

from __future__ import annotations

from typing import NamedTuple


class Thresholds(NamedTuple):
    """Limits that pages draw, besides those of findings (`finding_limits.py`)."""

    burst_small_share: float = 0.75  # of the target size: smaller files are small
    stale_intervals: float = 3.0
    stale_least_s: float = 3_600.0
    pass_age_s: float = 1_800.0  # since the last successful pass of the pipeline


def stale_after_s(limits: Thresholds, usual_s: float) -> float:
    """Age of the last commit at which a table is stale, seconds."""
    return max(limits.stale_least_s, limits.stale_intervals * usual_s)


class JobPace(NamedTuple):
    """Durations of a reader's runs at the start and at the end of the range, seconds: the median, and the 95th
    percentile if known.
    """

    job: str
    before_s: float
    now_s: float
    p95_before_s: float | None = None
    p95_now_s: float | None = None

    @property
    def ratio(self) -> float:
        """The median at the end divided by the median at the start."""
        return self.now_s / self.before_s

    @property
    def p95_ratio(self) -> float | None:
        """The same ratio for the 95th percentile."""
        if self.p95_before_s is None or self.p95_now_s is None:
            return None
        return self.p95_now_s / self.p95_before_s
