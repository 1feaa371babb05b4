"""The noise of a series around its levels: AR(1), so that correlated neighbours do not count as two proofs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from limnograph.analysis.explain.case import Floats
from limnograph.analysis.explain.smoothing import scale

SMALLEST = 1e-6
"""Minimum of the noise, in log seconds: a job with the same duration every run still has a scale."""
CLIP = 3.5
FREEDOM = 4.0
"""Degrees of freedom of Student's t."""
T_CONSTANT = float(np.log(3 / 8))
"""Log density at 0 of that law with scale 1."""
LEAST_TAIL = 0.3
"""Minimum scale of that law: durations in whole seconds are often the same in two runs."""


@dataclass(frozen=True, slots=True)
class Noise:
    """`phi`: correlation of neighbours (0 to .95). `innovation`: standard deviation of the new part of each value.

    `tail`: scale of Student's t in innovations, if the new parts follow it rather than a normal law; else 0.
    """

    phi: float
    innovation: float
    tail: float = 0.0

    def whiten(self, values: Floats) -> Floats:
        """Independent values of unit deviation."""
        out = values.copy()
        out[1:] -= self.phi * values[:-1]
        out[0] *= np.sqrt(1 - self.phi**2)
        return out / self.innovation


def noise(residuals: Floats, levels: int) -> Noise:
    """AR(1) of the bulk of the residuals around `levels` fitted levels (which removed some of the correlation)."""
    size = residuals.size
    spread = max(scale(residuals), SMALLEST)
    bulk = np.clip(residuals, -CLIP * spread, CLIP * spread)
    power = float(bulk @ bulk)
    found = float(bulk[1:] @ bulk[:-1]) / power if power > 0 else 0.0
    # Marriott and Pope 1954: the bias of a first autocorrelation, once for each fitted level.
    phi = float(np.clip(found + (1 + 3 * max(found, 0.0)) * levels / size, 0.0, 0.95))
    fresh = bulk[1:] - phi * bulk[:-1]
    robust, plain = scale(fresh), float(fresh.std())
    innovation = max(robust, 0.8 * plain, SMALLEST)
    return Noise(phi, innovation, _tail((residuals[1:] - phi * residuals[:-1]) / innovation))


def _tail(white: Floats) -> float:
    """Scale of Student's t with FREEDOM, if it is the likelier law of these values than the normal one; else 0."""
    squared = white**2
    power = float(squared.mean()) if white.size else 0.0
    if power <= 0:
        return 0.0
    scale = power / 2
    for _ in range(4):  # expectation maximisation
        scale = float((squared * ((FREEDOM + 1) / (FREEDOM + squared / scale))).mean())
    heavy = T_CONSTANT - 0.5 * np.log(scale) - 0.5 * (FREEDOM + 1) * float(np.log1p(squared / (FREEDOM * scale)).mean())
    normal = -0.5 * np.log(2 * np.pi * power) - 0.5
    return max(float(np.sqrt(scale)), LEAST_TAIL) if heavy > normal else 0.0
