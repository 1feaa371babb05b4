"""Schedules, noise and shapes of effects of the wide development generator."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from explain.cases import DAY, EPOCH, HOUR, MINUTE


def schedule(rng: np.random.Generator, span: float | None = None) -> np.ndarray:
    """Starts of runs, epoch milliseconds: regular, jittered or irregular, some missing, some only by day."""
    minutes = float(rng.choice([5, 10, 15, 20, 30, 60, 60, 120, 0]))
    mean = minutes or float(np.exp(rng.uniform(np.log(4), np.log(60))))
    days = rng.uniform(14, 28) if mean >= 30 else rng.uniform(4, 12)
    length = span or days * DAY
    count = int(length / (mean * MINUTE))
    if minutes:
        at = (np.arange(count) + rng.choice([0, 0.02, 0.2]) * rng.uniform(0, 1, count)) * mean * MINUTE
        at = at[rng.random(count) > rng.choice([0, 0, 0.05, 0.15])]
    else:
        at = np.cumsum(rng.gamma(rng.uniform(0.6, 3), 1, count))
        at *= length / at[-1]
    if rng.random() < 0.1:
        hour = at / HOUR % 24
        at = at[(hour > 6) & (hour < 22)]
    if rng.random() < 0.2:
        hole = rng.uniform(0.1, 0.9) * length
        at = at[(at < hole) | (at > hole + rng.uniform(2, 12) * HOUR)]
    return EPOCH + np.unique(np.round(at))


@dataclass
class Noise:
    """AR(1) `phi` by runs, with a `white` share; `tail` degrees of freedom (0: normal); `seconds` 1: not a ratio."""

    sigma: float
    phi: float
    white: float
    tail: float
    spikes: float
    seconds: float
    breathing: float
    wander: float = 0.0

    def applied(self, rng: np.random.Generator, at: np.ndarray, log: np.ndarray) -> np.ndarray:
        """The log durations with noise: correlated and white, as a ratio or in seconds, spikes, a wandering level."""
        size = at.size
        fresh = (
            rng.standard_t(self.tail, size) / np.sqrt(self.tail / (self.tail - 2))
            if self.tail
            else rng.standard_normal(size)
        )
        slow = np.zeros(size)
        for k in range(1, size):
            slow[k] = self.phi * slow[k - 1] + np.sqrt(1 - self.phi**2) * fresh[k]
        both = np.sqrt(1 - self.white) * slow + np.sqrt(self.white) * rng.standard_normal(size)
        both *= np.exp(self.breathing * np.sin(2 * np.pi * (at - EPOCH) / DAY + rng.uniform(0, 6)))
        share = self.seconds
        out = log + (1 - share) * self.sigma * both
        if share:
            out = np.log(np.maximum(np.exp(out) + share * self.sigma * both, 0.05))
        out = out + (rng.random(size) < self.spikes) * rng.exponential(0.5, size)
        if self.wander:
            step = np.diff(at, prepend=at[0]) / HOUR
            out = out + np.cumsum((rng.random(size) < np.minimum(step / 20, 1)) * rng.normal(0, self.wander, size))
        return np.asarray(out)


def noise(rng: np.random.Generator) -> Noise:
    """The noise of one job."""
    return Noise(
        float(rng.uniform(0.03, 0.12)),
        float(rng.choice([0, rng.uniform(0, 0.85)])),
        float(rng.uniform(0, 0.8)),
        float(rng.choice([0, 0, 2.5, 4])),
        float(rng.choice([0, 0.003, 0.015])),
        float(rng.choice([0, 0, 1])),
        float(rng.choice([0, 0, 0.4])),
    )


def shape(kind: str, since: np.ndarray, hours: float) -> np.ndarray:
    """Share of an effect's height, hours after its onset."""
    if kind == "ramp":
        return np.clip((since + 0.05) / hours, 0, 1)
    if kind == "pulse":
        return (since < hours).astype(float)
    return np.exp(-since / hours) if kind == "decay" else np.ones_like(since)
