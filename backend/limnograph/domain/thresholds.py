"""Thresholds of the reasons for attention, and the pace of a job. Rules, fleet vectors and pages share them."""

from __future__ import annotations

from typing import NamedTuple


class Thresholds(NamedTuple):
    """Limits above which a rule applies. Counts are files or snapshots, shares are fractions of one."""

    slower_ratio: float = 1.5
    slower_critical_ratio: float = 2.0
    burst_files: int = 1_000
    burst_over_usual: float = 5.0
    burst_share: float = 0.2
    burst_small_share: float = 0.75  # average added file below this fraction of the target
    delete_files_grown: int = 20
    delete_share: float = 0.1  # delete files per data file
    small_files: int = 500
    small_share: float = 0.5
    snapshots: int = 1_000
    skew_ratio: float = 10.0
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
