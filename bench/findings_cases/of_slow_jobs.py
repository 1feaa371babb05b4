"""Cases of `job_slower`: runs with noise, cycles, blips and neighbours, judged by the estimator of effects."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import numpy as np

from findings_cases.cases import fault, look_alike
from findings_cases.scene import DAY, HOUR, MINUTE, START
from limnograph.analysis.effect import measure_effect
from limnograph.analysis.findings.jobs import RunHistory
from limnograph.analysis.findings.slowdown import slow_since
from limnograph.analysis.findings.slower_jobs import began_at, slower_episode
from limnograph.domain.answers.effects import ControlJob, EffectCase, EffectOperation, EffectRuns
from limnograph.domain.finding_limits import FindingLimits
from limnograph.domain.time import Micros, Millis

REGRESSIONS = "https://github.com/coiled/benchmarks/issues/270"
SHUFFLES = "https://github.com/ray-project/ray/issues/29914"
WEEKENDS = "https://github.com/getsentry/sentry/issues/66906"
BLIPS = "https://github.com/apache/airflow/pull/73551"
SINGLE_RUNS = "https://github.com/apache/airflow/pull/69113"
WARM_UPS = "https://github.com/vectordotdev/vector/pull/20828"
LIMITS = FindingLimits()


class Runs:
    """Runs of a job at a cadence; what they take is drawn about a level, with a daily cycle."""

    def __init__(self, rng: random.Random, before: tuple[int, int] = (60, 140), noise: float | None = None) -> None:
        self.rng = rng
        self.gap = rng.choice((30, 60, 120)) * MINUTE
        self.level = rng.uniform(20, 600)
        self.noise = rng.uniform(0.03, 0.08) if noise is None else noise
        self.cycle = rng.choice((0.0, 0.0, rng.uniform(0.05, 0.15)))
        self.ends: list[int] = []
        self.seconds: list[float] = []
        self.at = START
        self.add(rng.randint(*before))

    def add(self, count: int, factor: float = 1.0) -> Runs:
        """Further runs that take `factor` times as long as usual."""
        for _ in range(count):
            self.at += round(self.gap * self.rng.uniform(0.95, 1.05))
            hour = math.sin(2 * math.pi * (self.at % DAY) / DAY)
            level = self.level * factor * (1 + self.cycle * hour)
            self.seconds.append(level * math.exp(self.rng.gauss(0, self.noise)))
            self.ends.append(self.at + round(self.seconds[-1] * 1_000_000))
        return self

    def control(self, factor: float = 1.0, since: int = 0) -> ControlJob:
        """Another job at the same times, whose runs take `factor` times as long since an instant."""
        level = self.rng.uniform(20, 600)
        times = [
            Millis((end - round(taken * 1_000_000)) // 1_000)
            for end, taken in zip(self.ends, self.seconds, strict=True)
        ]
        noise = [math.exp(self.rng.gauss(0, self.noise)) for _ in times]
        taken = [level * (factor if at * 1_000 >= since else 1.0) * each for at, each in zip(times, noise, strict=True)]
        return ControlJob(job=f"other-{level:.0f}", times=times, duration_seconds=taken)


def _opens(runs: Runs, controls: Sequence[ControlJob] = ()) -> bool:
    """Whether the product finds the job slower, as it looks and measures."""
    seconds = np.array(runs.seconds)
    history = RunHistory("job", np.array(runs.ends), seconds, np.zeros(len(seconds), np.bool_), Micros(runs.ends[-1]))
    onset = slow_since(seconds)
    if onset is None:
        return False
    began = began_at(history, onset)
    at = Millis(began // 1_000)
    case = EffectCase(
        id="job",
        runs=EffectRuns(
            times=[
                Millis(end // 1_000 - round(taken * 1_000)) for end, taken in zip(runs.ends, runs.seconds, strict=True)
            ],
            duration_seconds=list(runs.seconds),
        ),
        operation=EffectOperation(started_at=at, committed_at=at),
        controls=list(controls),
    )
    now = Micros(runs.ends[-1] + MINUTE)
    return slower_episode(history, onset, began, measure_effect(case), now=now, limits=LIMITS) is not None


@fault("job_slower", SHUFFLES)
def a_job_that_takes_longer_from_a_commit_on(rng: random.Random) -> bool:
    runs = Runs(rng).add(rng.randint(10, 24), rng.uniform(1.4, 3))
    return _opens(runs, [runs.control(), runs.control()])


@fault("job_slower", REGRESSIONS)
def a_slower_job_without_others_to_compare(rng: random.Random) -> bool:
    return _opens(Runs(rng).add(rng.randint(12, 24), rng.uniform(1.5, 3)))


@look_alike("job_slower", BLIPS)
def slow_runs_that_are_over(rng: random.Random) -> bool:
    runs = Runs(rng).add(rng.randint(2, 6), rng.uniform(1.3, 3)).add(rng.randint(3, 12))
    return _opens(runs, [runs.control(), runs.control()])


@look_alike("job_slower", SINGLE_RUNS)
def one_run_with_a_cold_cache(rng: random.Random) -> bool:
    runs = Runs(rng).add(rng.randint(1, 2), rng.uniform(1.5, 4))
    return _opens(runs, [runs.control(), runs.control()])


@look_alike("job_slower", SINGLE_RUNS)
def a_cluster_on_which_everything_is_slower(rng: random.Random) -> bool:
    runs = Runs(rng)
    since, factor = runs.at, rng.uniform(1.3, 2)
    runs.add(rng.randint(10, 24), factor)
    return _opens(runs, [runs.control(factor, since) for _ in range(3)])


@look_alike("job_slower", WEEKENDS)
def a_monday_after_a_weekend(rng: random.Random) -> bool:
    """Runs of working days take longer, as they did in all weeks before."""
    runs, factor = Runs(rng, (1, 1), 0.05), rng.uniform(1.2, 1.6)
    runs.gap, runs.cycle = 2 * HOUR, 0.0
    for _ in range(3):
        runs.add(5 * 12, factor).add(2 * 12)
    runs.add(rng.randint(6, 24), factor)
    return _opens(runs, [runs.control(), runs.control()])


@look_alike("job_slower", REGRESSIONS)
def a_change_too_small_to_matter(rng: random.Random) -> bool:
    runs = Runs(rng).add(rng.randint(10, 40), rng.uniform(1.0, 1.08))
    return _opens(runs, [runs.control(), runs.control()])


@look_alike("job_slower", WARM_UPS)
def a_job_that_slows_down_while_it_is_new(rng: random.Random) -> bool:
    runs = Runs(rng, (3, 7)).add(rng.randint(5, 20), rng.uniform(1.3, 2))
    return _opens(runs, [runs.control(), runs.control()])
