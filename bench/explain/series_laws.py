"""Laws of the series of the public generator: AR(1) noise, a clipped-sine day, spikes, and the shapes of effects.

Numbers are from the benchmark's published law (docs/explain-benchmark.md); times are minutes from the start.
"""

from __future__ import annotations

import numpy as np

STEP = 5
POINTS = 7 * 24 * 60 // STEP
GRID = np.arange(POINTS) * STEP
DAY_MINUTES = 24 * 60


def ar1(rng: np.random.Generator, *, points: int, phi: float, sigma: float, heavy: bool) -> np.ndarray:
    """AR(1) noise with marginal deviation `sigma`; heavy: innovations of Student-t(2.5), scaled to the same spread."""
    warm = 64  # .7^64 is 1e-10: older innovations do not matter
    size = points + warm
    innovations = rng.standard_t(2.5, size) / np.sqrt(5.0) if heavy else rng.standard_normal(size)
    kernel = phi ** np.arange(warm)
    return sigma * np.sqrt(1 - phi**2) * np.convolve(innovations, kernel)[warm:size]


def day_shape(rng: np.random.Generator, minutes: np.ndarray, amplitude: float) -> np.ndarray:
    """Log of a daily clipped sine: 0 at night, up to log(1 + amplitude) by day, at a random phase."""
    phase = rng.uniform(0, 2 * np.pi)
    return np.log1p(amplitude * np.clip(np.sin(2 * np.pi * minutes / DAY_MINUTES + phase), 0, None))


def spikes(rng: np.random.Generator, points: int, count: int) -> np.ndarray:
    """Log of `count` single slow runs of +30 to +200 %."""
    out = np.zeros(points)
    out[rng.choice(points, count, replace=False)] = np.log(rng.uniform(1.3, 3.0, count))
    return out


def step(minutes: np.ndarray, onset: float, ratio: float) -> np.ndarray:
    """Log of a level that changes by `ratio` at `onset` and stays there."""
    return np.where(minutes >= onset, np.log(ratio), 0.0)


def ramp(minutes: np.ndarray, onset: float, ratio: float, length: float) -> np.ndarray:
    """Log of a level that rises from 1 to `ratio` over `length` minutes and stays there."""
    return np.log1p((ratio - 1) * np.clip((minutes - onset) / length, 0, 1))


def pulse(minutes: np.ndarray, onset: float, ratio: float, length: float) -> np.ndarray:
    """Log of a level that is `ratio` for `length` minutes and then returns."""
    return np.where((minutes >= onset) & (minutes < onset + length), np.log(ratio), 0.0)
