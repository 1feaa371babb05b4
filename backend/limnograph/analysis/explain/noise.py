"""The noise of a series around its levels: AR(1), so that correlated neighbours do not count as two proofs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from limnograph.analysis.explain.case import Floats
from limnograph.analysis.explain.smoothing import scale

SMALLEST = 1e-6
"""Minimum of the noise, in log seconds: a job with the same duration every run still has a scale."""
CLIP = 3.5


@dataclass(frozen=True, slots=True)
class Noise:
    """`phi`: correlation of neighbours (0 to .95). `innovation`: standard deviation of the new part of each value."""

    phi: float
    innovation: float

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
    return Noise(phi, max(robust, 0.8 * plain, SMALLEST))
