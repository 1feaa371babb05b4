"""Laws of the series of the third generator: schedules of jobs, moving rhythms, noise by run, effects counted in runs.

None of them is shared with the other generators. Times are minutes from the start of the case.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

DAY_MINUTES = 24 * 60
Start = Literal["hourly", "minutes", "events", "several"]
STARTS: tuple[Start, ...] = ("minutes", "events", "hourly", "several")
DAYS: dict[Start, tuple[float, float]] = {
    "hourly": (12, 28),
    "minutes": (2, 4.5),
    "events": (5, 11),
    "several": (28, 56),
}
"""Length of a case, such that each way to start has some hundred runs."""


def runs(rng: np.random.Generator, start: Start, days: float) -> np.ndarray:
    """Instants at which runs start, ascending; during some of them the scheduler is down."""
    length = days * DAY_MINUTES
    if start == "hourly":  # by cron, waits for a slot in the queue
        times = np.arange(rng.uniform(1, 55), length, 60)
        times = times + rng.exponential(rng.uniform(0.2, 3), len(times))
    elif start == "minutes":  # a trigger interval that slips
        times = np.cumsum(rng.uniform(2, 6) * (1 + rng.exponential(0.04, int(length))))
    elif start == "events":  # one run per delivery: busy by day, in clusters, almost none at night
        times = _deliveries(rng, length)
    else:  # fixed hours of each day, fewer at weekends
        hours = np.sort(rng.choice(np.arange(1, 24), int(rng.integers(6, 11)), replace=False)) * 60.0
        times = (np.arange(int(days))[:, None] * DAY_MINUTES + hours).ravel()
        weekend = (times // DAY_MINUTES).astype(int) % 7 >= 5
        times = times[~weekend | (rng.random(len(times)) < rng.choice([0.3, 1.0]))]
        times = times + rng.gamma(1.5, 4, len(times))
    times = np.sort(times[times < length])
    keep = rng.random(len(times)) >= rng.choice([0.0, 0.03])
    for _ in range(int(rng.integers(0, 3))):
        down = rng.uniform(0, length)
        keep &= (times < down) | (times >= down + rng.uniform(0.003, 0.03) * length)
    started: np.ndarray = times[keep]
    return started


def _deliveries(rng: np.random.Generator, length: float) -> np.ndarray:
    """A Poisson process of the time of day, thinned; a fifth of its events occur as two to four in a row."""
    most = 1 / rng.uniform(7, 16)
    times = np.cumsum(rng.exponential(1 / most, int(1.5 * most * length) + 50))
    share = 0.55 - 0.45 * np.cos(2 * np.pi * (times % DAY_MINUTES) / DAY_MINUTES)
    times = times[rng.random(len(times)) < share]
    again = times[rng.random(len(times)) < 0.2]
    rows = [again + rng.uniform(0.5, 3) * (number + 1) for number in range(int(rng.integers(1, 4)))]
    return np.concatenate([times, *rows])


@dataclass(frozen=True)
class Rhythm:
    """Log level by the hour of the day and on weekends, delayed by `offset` minutes."""

    hours: np.ndarray
    weekend: float
    offset: float = 0.0

    @classmethod
    def draw(cls, rng: np.random.Generator, strength: float) -> Rhythm:
        """A working day with a nightly batch; `strength` is the log of the busiest hour over the quietest."""
        hour = np.arange(24.0)
        shape = np.clip(np.sin(np.pi * (hour - rng.uniform(5, 8)) / rng.uniform(10, 15)), 0, None)
        shape[int(rng.integers(0, 5))] += rng.uniform(0, 1)
        return cls(strength * shape / shape.max(), float(rng.uniform(-0.8, 0.2)) * strength)

    def late(self, minutes: float, *, scale: float = 1.0) -> Rhythm:
        """The same rhythm, later by some minutes, stronger or weaker."""
        return replace(self, hours=scale * self.hours, offset=self.offset + minutes)

    def at(self, times: np.ndarray) -> np.ndarray:
        """Log level at these instants."""
        moved = times - self.offset
        hour = (moved % DAY_MINUTES) / 60
        level: np.ndarray = np.interp(hour, np.arange(25.0), np.append(self.hours, self.hours[0]))
        level += np.where((moved // DAY_MINUTES).astype(int) % 7 >= 5, self.weekend, 0.0)
        return level


def noise(rng: np.random.Generator, count: int, *, heavy: bool = False) -> np.ndarray:
    """Log noise of 3 to 12 %: a part carried over from run to run, an independent part, and stragglers."""
    sigma, keep, share = rng.uniform(0.03, 0.12), rng.uniform(0.1, 0.8), rng.uniform(0, 0.6)
    shocks = np.sqrt(1 - keep**2) * rng.standard_normal(count)
    slow = np.empty(count)
    level = float(rng.standard_normal())
    for index, shock in enumerate(shocks.tolist()):
        level = keep * level + shock
        slow[index] = level
    own = rng.standard_t(3, count) / np.sqrt(3) if heavy else rng.standard_normal(count)
    straggles = rng.random(count) < (rng.uniform(0.02, 0.06) if heavy else rng.uniform(0, 0.012))
    late = np.where(straggles, np.log1p(np.minimum(0.3 * (1 + rng.pareto(1.6, count)), 8.0)), 0.0)
    logs: np.ndarray = sigma * (np.sqrt(share) * slow + np.sqrt(1 - share) * own) + late
    return logs


def wander(rng: np.random.Generator, length: float) -> tuple[np.ndarray, np.ndarray]:
    """How the load moves by itself: knots every two hours, each with a log level that decays within a day."""
    knots = np.arange(0, length + 240, 120)
    level, levels = 0.0, []
    for step in rng.normal(0, 0.02, len(knots)).tolist():
        level = 0.9 * level + step
        levels.append(level)
    return knots, np.array(levels)


def effect(count: int, first: int, size: float, shape: str, length: int) -> np.ndarray:
    """Log effect from the run `first` onward: step, pulse of `length` runs, ramp or decay over `length` runs."""
    since = np.arange(count) - first
    on = since >= 0
    if shape == "pulse":
        return np.where(on & (since < length), size, 0.0)
    if shape == "ramp":
        return size * np.clip((since + 1) / length, 0, 1)
    if shape == "decay":
        return np.where(on, size * np.exp(-np.clip(since, 0, None) / length), 0.0)
    return np.where(on, size, 0.0)


def shift(times: np.ndarray, onset: float, size: float, shape: str, length: float) -> np.ndarray:
    """Log level of a movement shared by all jobs from an instant onward: step, ramp or pulse of `length` minutes."""
    since = times - onset
    if shape == "ramp":
        return size * np.clip(since / length, 0, 1)
    return np.where((since >= 0) & ((shape == "step") | (since < length)), size, 0.0)
