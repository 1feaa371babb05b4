"""Laws of the series of the second generator: schedules with missing runs, weeks, and noise in seconds or as a ratio.

None of them is shared with the public generator. Times are minutes from the start of the case.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

DAY_MINUTES = 24 * 60
WEEK_MINUTES = 7 * DAY_MINUTES


@dataclass(frozen=True)
class Schedule:
    """When a job runs: a period in minutes with jitter, or gaps of a gamma law; and the share of missing runs."""

    period: float
    jitter: float
    irregular: bool = False
    missing: float = 0.0


HOURLY = Schedule(60, 2.0)
TEN_MINUTES = Schedule(10, 0.5)
IRREGULAR = Schedule(14, 0.0, irregular=True, missing=0.08)
QUARTER_HOURLY = Schedule(15, 1.0, missing=0.04)


def runs(rng: np.random.Generator, schedule: Schedule, days: float) -> np.ndarray:
    """Instants of the runs, ascending; single runs are missing, and up to two outages last hours."""
    length = days * DAY_MINUTES
    if schedule.irregular:
        gaps = rng.gamma(1.8, schedule.period / 1.8, int(2.5 * length / schedule.period)) + 1.0
        times = np.cumsum(gaps)
    else:
        times = np.arange(schedule.period, length, schedule.period)
        times = times + rng.uniform(-schedule.jitter, schedule.jitter, len(times))
    times = times[times < length]
    keep = rng.random(len(times)) >= schedule.missing
    for _ in range(int(rng.integers(0, 3)) if schedule.missing else 0):
        start = rng.uniform(0, length)
        keep &= ~((times >= start) & (times < start + rng.uniform(60, 600)))
    return np.sort(times[keep])


def wander(rng: np.random.Generator, times: np.ndarray, tau: float, sigma: float) -> np.ndarray:
    """Ornstein-Uhlenbeck noise with memory `tau` minutes and spread `sigma` at irregular instants."""
    if not len(times):
        return np.empty(0)
    keep = np.exp(-np.diff(times) / tau)
    shocks = (rng.standard_normal(len(times) - 1) * np.sqrt(1 - keep**2)).tolist()
    level = float(rng.standard_normal())
    out = [level]
    for factor, shock in zip(keep.tolist(), shocks, strict=True):
        level = factor * level + shock
        out.append(level)
    return sigma * np.array(out)


@dataclass(frozen=True)
class Week:
    """A weekly rhythm: two peaks a day of different height, and a level for each day of the week (logs)."""

    humps: tuple[tuple[float, float, float], ...]
    days: tuple[float, ...]

    @classmethod
    def draw(cls, rng: np.random.Generator, strength: float) -> Week:
        """`strength` is about the log of the busiest over the quietest hour."""
        humps = tuple(
            (float(rng.uniform(0, DAY_MINUTES)), float(rng.uniform(60, 200)), float(strength * rng.uniform(0.3, 1)))
            for _ in range(int(rng.integers(1, 3)))
        )
        weekend = float(rng.normal(0, 0.5 * strength))
        return cls(humps, (*(float(rng.normal(0, 0.08 * strength)) for _ in range(5)), weekend, weekend))

    def at(self, times: np.ndarray) -> np.ndarray:
        """Log level at these instants."""
        day = np.array(self.days)[(times // DAY_MINUTES).astype(int) % 7]
        clock = times % DAY_MINUTES
        for centre, width, height in self.humps:
            distance = np.abs(clock - centre)
            distance = np.minimum(distance, DAY_MINUTES - distance)
            day = day + height * np.exp(-0.5 * (distance / width) ** 2)
        return day


def durations(rng: np.random.Generator, times: np.ndarray, log_level: np.ndarray, *, additive: bool) -> np.ndarray:
    """Seconds of each run: noise as a ratio or in seconds; retries in a row; sometimes whole seconds only."""
    base = float(np.exp(rng.uniform(np.log(25), np.log(2400))))
    sigma = float(rng.uniform(0.03, 0.09))
    slow_noise = wander(rng, times, float(rng.uniform(10, 120)), 0.7 * sigma)
    if additive:
        jitter = base * sigma * rng.laplace(0, 0.7, len(times))
        seconds = base * np.exp(log_level) * (1 + 0.3 * slow_noise) + jitter + base * slow_noise
    else:
        seconds = base * np.exp(log_level + slow_noise) * rng.gamma(1 / sigma**2, sigma**2, len(times))
    for _ in range(int(rng.poisson(0.004 * len(times)))):  # a retry: one to three runs in a row
        first = int(rng.integers(len(times)))
        seconds[first : first + int(rng.integers(1, 4))] *= rng.uniform(1.2, 2.5)
    seconds = np.maximum(seconds, 0.05 * base)
    return np.round(seconds) if rng.random() < 0.2 and base > 60 else seconds


def arrive(times: np.ndarray, onset: float, log_ratio: float, shape: str, length: float) -> np.ndarray:
    """Log effect from `onset`: step, pulse (ends after `length`), ramp (saturating square root) or decay."""
    since = times - onset
    on = since >= 0
    if shape == "pulse":
        return np.where(on & (since < length), log_ratio, 0.0)
    if shape == "ramp":
        return log_ratio * np.sqrt(np.clip(since / length, 0, 1))
    if shape == "decay":
        return np.where(on, log_ratio * np.exp(-np.clip(since, 0, None) / length), 0.0)
    return np.where(on, log_ratio, 0.0)
