"""Cases of jobs that fall silent or fail, and of objectives."""

from __future__ import annotations

import random

import numpy as np

from findings_cases.cases import fault, look_alike
from findings_cases.scene import DAY, HOUR, MINUTE, START, Scene
from limnograph.analysis.findings.jobs import RunHistory, job_episodes
from limnograph.domain.finding_limits import FindingLimits
from limnograph.domain.objectives import PromisedLimit
from limnograph.domain.time import Micros

RUNBOOK = "https://sre.google/sre-book/monitoring-distributed-systems/"
WEEKENDS = "https://github.com/apache/pinot/pull/2094"
OUTAGES = "https://github.com/m-lab/prometheus-support/issues/788"
LATE = "https://github.com/dbt-labs/dbt-core/issues/10963"


def _job(code: str, ends: list[int], failed: list[bool], answered: int, heard: list[int] | None = None) -> bool:
    history = RunHistory(
        "job",
        np.array(ends, np.int64) + START,
        np.full(len(ends), 60.0),
        np.array(failed, np.bool_),
        Micros(START + answered),
        None if heard is None else np.array(heard, np.int64) + START,
    )
    found = job_episodes(history, FindingLimits())
    return any(each.code == code and each.stretch.closed is None for each in found)


def _ends(rng: random.Random, runs: int, gap: int) -> list[int]:
    at, found = 0, []
    for _ in range(runs):
        at += round(gap * rng.uniform(0.85, 1.15))
        found.append(at)
    return found


@fault("job_silent", RUNBOOK)
def a_job_that_no_longer_runs(rng: random.Random) -> bool:
    gap = rng.choice((5, 10, 30, 60, 240)) * MINUTE
    ends = _ends(rng, rng.randint(30, 300), gap)
    return _job("job_silent", ends, [False] * len(ends), ends[-1] + max(4 * gap, 20 * MINUTE) + rng.randrange(HOUR))


@look_alike("job_silent", WEEKENDS)
def a_job_of_weekdays(rng: random.Random) -> bool:
    ends = [week * 7 * DAY + day * DAY + rng.randrange(HOUR) for week in range(4) for day in range(5)]
    return _job("job_silent", ends, [False] * len(ends), ends[-1] + rng.randint(25, 60) * HOUR)


@look_alike("job_silent", OUTAGES)
def an_outage_of_the_metrics(rng: random.Random) -> bool:
    gap = rng.choice((10, 30, 60)) * MINUTE
    ends = _ends(rng, rng.randint(30, 200), gap)
    heard = list(range(0, ends[-1], MINUTE))
    later = ends[-1] + rng.randint(5, 12) * gap
    return _job("job_silent", ends, [False] * len(ends), later, [*heard, later])


@look_alike("job_silent", RUNBOOK)
def a_job_seen_a_few_times(rng: random.Random) -> bool:
    gap = rng.choice((10, 30, 60)) * MINUTE
    ends = _ends(rng, rng.randint(1, 4), gap)
    return _job("job_silent", ends, [False] * len(ends), ends[-1] + rng.randint(10, 40) * gap)


@look_alike("job_silent", LATE)
def a_job_that_is_late(rng: random.Random) -> bool:
    gap = rng.choice((30, 60, 240)) * MINUTE
    ends = _ends(rng, rng.randint(30, 200), gap)
    return _job("job_silent", ends, [False] * len(ends), ends[-1] + round(rng.uniform(0.5, 2.2) * gap))


@fault("job_failing", RUNBOOK)
def failures_in_a_row(rng: random.Random) -> bool:
    ends, failed = _ends(rng, 60, HOUR), rng.randint(3, 20)
    return _job("job_failing", ends, [False] * (60 - failed) + [True] * failed, ends[-1] + MINUTE)


@look_alike("job_failing", "https://github.com/apache/iceberg/issues/8636")
def a_failure_that_a_retry_repairs(rng: random.Random) -> bool:
    ends, failed = _ends(rng, 60, HOUR), [False] * 60
    for place in rng.sample(range(5, 58), 8):
        failed[place] = not (failed[place - 1] or failed[place + 1])
    return _job("job_failing", ends, failed, ends[-1] + MINUTE)


@look_alike("job_failing", RUNBOOK)
def two_failures(rng: random.Random) -> bool:
    ends = _ends(rng, 60, HOUR)
    return _job("job_failing", ends, [False] * 58 + [True] * 2, ends[-1] + MINUTE)


@look_alike("job_failing", RUNBOOK)
def failures_before_a_success(rng: random.Random) -> bool:
    ends, failed = _ends(rng, 60, HOUR), rng.randint(3, 20)
    return _job("job_failing", ends, [False] * (59 - failed) + [True] * failed + [False], ends[-1] + MINUTE)


def _fresh(rng: random.Random, limit: int, silence: int, window: int = 10 * MINUTE) -> bool:
    scene = Scene(rng)
    for _ in range(rng.randint(10, 60)):
        scene.commit(rng.randint(2, 9) * MINUTE)
    limits = FindingLimits(freshness=PromisedLimit(limit, window))
    return scene.opens("objective_missed", silence, limits)


@fault("objective_missed", LATE)
def older_than_promised(rng: random.Random) -> bool:
    limit = rng.randint(15, 120) * MINUTE
    return _fresh(rng, limit, limit + rng.randint(15, 300) * MINUTE)


@look_alike("objective_missed", LATE)
def younger_than_promised(rng: random.Random) -> bool:
    limit = rng.randint(15, 120) * MINUTE
    return _fresh(rng, limit, round(limit * rng.uniform(0.3, 0.95)))


@look_alike("objective_missed", RUNBOOK)
def late_for_less_than_the_window(rng: random.Random) -> bool:
    limit, window = rng.randint(15, 120) * MINUTE, rng.randint(20, 60) * MINUTE
    return _fresh(rng, limit, limit + window // 2, window)


@look_alike("objective_missed", WEEKENDS)
def nothing_promised(rng: random.Random) -> bool:
    scene = Scene(rng)
    for _ in range(30):
        scene.commit(5 * MINUTE)
    return scene.opens("objective_missed", rng.randint(1, 30) * HOUR)
