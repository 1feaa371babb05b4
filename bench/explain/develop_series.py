"""Schedules, rhythms and noise of the development generator: regular and irregular runs, walks, bursts of noise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from explain.cases import DAY, EPOCH, HOUR, MINUTE


def schedule(rng: np.random.Generator, minutes: int, *, weekly: bool, span: float | None = None) -> np.ndarray:
    """Starts of runs, epoch milliseconds: every `minutes` with jitter (0: irregular), with gaps."""
    mean = minutes or float(np.exp(rng.uniform(np.log(4), np.log(45))))
    days = rng.uniform(15, 28) if weekly or mean >= 30 else rng.uniform(5, 9)
    length = span or days * DAY
    count = int(length / (mean * MINUTE))
    if minutes:
        at = np.arange(count) * mean * MINUTE + rng.uniform(0, 0.08, count) * mean * MINUTE
        at = at[rng.random(count) > rng.choice([0, 0.03, 0.1])]
    else:
        at = np.cumsum(rng.gamma(rng.uniform(0.8, 3), 1, count))
        at *= length / at[-1]
    if rng.random() < 0.3:
        hole = rng.uniform(0.1, 0.9) * length
        at = at[(at < hole) | (at > hole + rng.uniform(2, 12) * HOUR)]
    return EPOCH + np.unique(np.round(at))


def season(rng: np.random.Generator, *, weekly: bool) -> Callable[[np.ndarray], np.ndarray]:
    """A daily rhythm (smooth, or of office hours), with another height at weekends if `weekly`; log factors."""
    height, phase, second = rng.uniform(0.05, 0.35), rng.uniform(0, 24), rng.uniform(0, 0.4)
    office, weekend, level = rng.random() < 0.4, rng.uniform(0, 0.8), rng.uniform(-0.2, 0.1)

    def rhythm(at: np.ndarray) -> np.ndarray:
        hour = ((at - EPOCH) / HOUR + phase) % 24
        if office:
            shape = 1 / (1 + np.exp(-(hour - 8) * 3)) - 1 / (1 + np.exp(-(hour - 18) * 3))
        else:
            shape = np.sin(2 * np.pi * hour / 24) + second * np.sin(4 * np.pi * hour / 24)
        rest = ((at - EPOCH) // DAY) % 7 >= 5
        return np.asarray(height * shape * np.where(rest & weekly, weekend, 1.0) + np.where(rest & weekly, level, 0.0))

    return rhythm


@dataclass
class Noise:
    """AR(1) `phi` by hours, independent of the schedule; `tail` degrees of freedom (0: normal)."""

    sigma: float
    hours: float
    white: float
    tail: float
    spikes: float
    breathing: float
    additive: float
    wander: float = 0.0

    def applied(self, rng: np.random.Generator, at: np.ndarray, log: np.ndarray) -> np.ndarray:
        """The log durations with noise: a correlated part, a white one, spikes, varying spread, a wandering level."""
        size = at.size
        step = np.diff(at, prepend=at[0]) / HOUR
        phi = np.exp(-step / self.hours)
        drawn = rng.standard_t(self.tail, size) / np.sqrt(self.tail / (self.tail - 2)) if self.tail else None
        fresh = drawn if drawn is not None else rng.standard_normal(size)
        slow = np.zeros(size)
        for k in range(1, size):
            slow[k] = phi[k] * slow[k - 1] + np.sqrt(1 - phi[k] ** 2) * fresh[k]
        spread = np.exp(self.breathing * np.sin(2 * np.pi * (at - EPOCH) / DAY + rng.uniform(0, 6)))
        out = log + self.sigma * spread * (
            np.sqrt(1 - self.white) * slow + np.sqrt(self.white) * rng.standard_normal(size)
        )
        hit = rng.random(size) < self.spikes
        out = out + hit * rng.exponential(0.5, size)
        if self.additive:
            out = np.log(np.exp(out) + self.additive * np.abs(rng.standard_normal(size)))
        if self.wander:
            moves = rng.random(size) < np.minimum(step / 20, 1)
            out = out + np.cumsum(moves * rng.normal(0, self.wander, size))
        return np.asarray(out)


def draw_noise(rng: np.random.Generator) -> Noise:
    """The noise of one job."""
    return Noise(
        sigma=float(rng.uniform(0.03, 0.1)),
        hours=float(np.exp(rng.uniform(np.log(0.1), np.log(2.5)))),
        white=float(rng.uniform(0, 0.8)),
        tail=float(rng.choice([0, 0, 3, 5])),
        spikes=float(rng.choice([0, 0.002, 0.01])),
        breathing=float(rng.choice([0, 0, 0.4])),
        additive=float(rng.choice([0, 0, 0.05])),
    )
