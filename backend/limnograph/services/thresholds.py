"""When a reason speaks, and the pace of a job: what rules, vectors over the fleet and pages share."""

from __future__ import annotations

from typing import NamedTuple


class Thresholds(NamedTuple):
    """When a rule speaks. Counts are files or snapshots, shares are fractions of one."""

    slower_ratio: float = 1.5
    slower_critical_ratio: float = 2.0
    burst_files: int = 1_000
    burst_over_usual: float = 5.0
    burst_share: float = 0.2
    burst_small_share: float = 0.75  # average added file below this part of the target
    delete_files_grown: int = 20
    delete_share: float = 0.1  # delete files per data file
    small_files: int = 500
    small_share: float = 0.5
    snapshots: int = 1_000
    skew_ratio: float = 10.0
    stale_intervals: float = 3.0
    stale_least_s: float = 3_600.0


def stale_after_s(limits: Thresholds, usual_s: float) -> float:
    """Age of the last commit from which on a table counts as stale."""
    return max(limits.stale_least_s, limits.stale_intervals * usual_s)


class JobPace(NamedTuple):
    """Median duration of a reader at the start and at the end of the range, seconds."""

    job: str
    before_s: float
    now_s: float

    @property
    def ratio(self) -> float:
        """How many times as long as at the start."""
        return self.now_s / self.before_s
