"""The run of a stretch at which a new level starts, and how much more probable the data are with it than without."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from limnograph.analysis.explain.case import Floats
from limnograph.analysis.explain.noise import FREEDOM, Noise
from limnograph.analysis.explain.smoothing import median

EFFECT_SCALE = 0.3
"""Prior standard deviation of effects, in log seconds: most are between 5 and 80 %."""
T_SCALE = 0.91
"""Student's t of the noise: four degrees of freedom, scaled to the same median absolute deviation as the normal law."""
EDGE = 2
"""Minimum runs of a level."""


@dataclass(frozen=True, slots=True)
class Onset:
    """For each index of a stretch as first run of a new level: `support` (log Bayes factor), and the effect there.

    `told`: the reported index, if it is not the one with the strongest support.
    """

    first: int
    support: Floats
    effect: Floats
    error: Floats
    told: int | None = None

    @property
    def index(self) -> int:
        """The reported index within the stretch."""
        return int(self.support.argmax()) if self.told is None else self.told

    @property
    def best(self) -> int:
        """The reported index in the whole series."""
        return self.first + self.index

    @property
    def strength(self) -> float:
        """Squared distance of the best effect from 0, in standard errors."""
        return float((self.effect[self.index] / self.error[self.index]) ** 2)

    @property
    def rises(self) -> bool:
        """Whether the best effect is a slowdown."""
        return bool(self.effect[self.index] > 0)

    @property
    def supported(self) -> float:
        """Log Bayes factor of the best index."""
        return float(self.support.max())

    def weight(self) -> Floats:
        """Probability of each index, given that there is a change."""
        odds = np.exp(self.support - self.support.max())
        return np.asarray(odds / odds.sum())


def doubted(onset: Onset, values: Floats, low: int, high: int, noise: Noise) -> Onset:
    """The same onset, with the support reduced to what remains if a few extreme runs do not dominate it.

    Squared error overrates a burst: one run of ten deviations counts fifty in log likelihood. Under Student's t it
    counts seven. Levels before and after are fitted again with its weights.
    """
    place = onset.best - low
    return doubted_shape(onset, values[low:high], (np.arange(high - low) >= place).astype(np.float64), noise)


def doubted_shape(onset: Onset, values: Floats, shape: Floats, noise: Noise) -> Onset:
    """`doubted` for a change of any shape, at the best index."""
    at = int(onset.support.argmax())
    white = noise.whiten(values)
    constant, change = noise.whiten(np.ones(values.size)), noise.whiten(shape)
    gain = _loss(white, constant, None) - _loss(white, constant, change)
    squared = 0.5 * float(onset.effect[at] / onset.error[at]) ** 2
    return replace(onset, support=onset.support - max(0.0, squared - gain))


def resisted(onset: Onset, values: Floats, low: int, high: int, noise: Noise) -> Onset:
    """The same onset where the noise has heavy tails: each run counts as much as under Student's t.

    Squared error moves an onset to the slow runs beside it. The best index has the support that it had.
    """
    if not noise.tail:
        return onset
    place = onset.best - low
    level = median(values[low : low + place])
    size = (median(values[low + place : high]) - level) / noise.innovation
    off = (values[low:high] - level) / noise.innovation
    before = off[1:] - noise.phi * off[:-1]
    told = before, before - size, before - (1 - noise.phi) * size
    normal = _fixed(onset, low, *(-0.5 * each**2 for each in told))
    heavy = _fixed(onset, low, *(-_lost(each, noise.tail) for each in told))
    # Far from the best index, levels move to fit. By squared error that regains a share of the loss: here the same one.
    regained = np.maximum(onset.support - onset.supported - normal, 0.0)
    share = np.where(normal < 0, np.clip(heavy / np.minimum(normal, -1e-9), 0.0, 1.0), 1.0)
    shape = heavy + share * regained
    return replace(onset, support=shape - shape.max() + onset.support[int(shape.argmax())])


def _fixed(onset: Onset, low: int, before: Floats, at: Floats, after: Floats) -> Floats:
    """Log likelihood of each index of an onset with the same levels for all, relative to the best one.

    `before`, `at`, `after`: of each run but the first, if the onset is after it, at it, or before it.
    """
    places = onset.first - low + np.arange(onset.support.size)
    earlier = np.concatenate([[0.0], np.cumsum(before)])
    later = np.append(np.cumsum(after[::-1])[::-1], 0.0)
    total = earlier[places - 1] + at[places - 1] + later[places]
    return np.asarray(total - total[onset.index])


def _lost(white: Floats, scale: float) -> Floats:
    """Negative log likelihood of each value under Student's t of this scale."""
    return np.asarray(0.5 * (FREEDOM + 1) * np.log1p((white / scale) ** 2 / FREEDOM))


def _loss(white: Floats, constant: Floats, change: Floats | None) -> float:
    """Negative log likelihood of the residuals under Student's t, level and change fitted by reweighting."""
    weights = np.ones_like(white)
    rest = white
    for _ in range(4):
        weighted = constant * weights
        power, own = float(weighted @ constant), float(weighted @ white)
        if change is None:
            rest = white - constant * (own / power)
        else:
            both, other = float(weighted @ change), float(weights @ (change * change))
            data = float(weights @ (change * white))
            determinant = max(power * other - both * both, 1e-12 * power * other, 1e-300)
            effect = (power * data - both * own) / determinant
            rest = white - constant * ((own - both * effect) / power) - change * effect
        weights = (FREEDOM + 1) / (FREEDOM + (rest / T_SCALE) ** 2)
    return float(_lost(rest, T_SCALE).sum())


def step_onset(values: Floats, low: int, high: int, noise: Noise) -> Onset | None:
    """All indexes of `values[low:high]` as onset of a step: generalised least squares under AR(1), by suffix sums.

    None if there are too few runs for two levels.
    """
    size = high - low
    if size < 2 * EDGE:
        return None
    white = noise.whiten(values[low:high])
    unit = (1 - noise.phi) / noise.innovation
    first = 1 / noise.innovation
    constant = np.full(size, unit)
    constant[0] = np.sqrt(1 - noise.phi**2) / noise.innovation
    places = np.arange(EDGE, size - EDGE + 1)
    after = np.cumsum(white[::-1])[::-1] - white
    later = size - 1 - places
    # Once whitened, the step is 0 before its index, `first` at it and `unit` after it.
    step_step = first**2 + unit**2 * later
    step_constant = unit * first + unit**2 * later
    step_data = first * white[places] + unit * after[places]
    constant_constant = float(constant @ constant)
    constant_data = float(constant @ white)
    information = step_step - step_constant**2 / constant_constant
    score = step_data - step_constant * constant_data / constant_constant
    return Onset(low + EDGE, *_support(score, information))


def shape_onset(values: Floats, low: int, shapes: Floats, first: int, noise: Noise) -> Onset:
    """Rows of `shapes` (effect 0 to 1 over `values[low:]`) as shapes of a change with onsets from `first` onward."""
    size = shapes.shape[1]
    white = noise.whiten(values[low : low + size])
    constant = np.full(size, (1 - noise.phi) / noise.innovation)
    constant[0] = np.sqrt(1 - noise.phi**2) / noise.innovation
    whitened = shapes.copy()
    whitened[:, 1:] -= noise.phi * shapes[:, :-1]
    whitened /= noise.innovation
    constant_constant = float(constant @ constant)
    step_constant = whitened @ constant
    information = np.einsum("ij,ij->i", whitened, whitened) - step_constant**2 / constant_constant
    score = whitened @ white - step_constant * float(constant @ white) / constant_constant
    return Onset(first, *_support(score, np.maximum(information, 1e-9)))


def _support(score: Floats, information: Floats) -> tuple[Floats, Floats, Floats]:
    """Log Bayes factor of an effect drawn from Normal(0, EFFECT_SCALE) against no change; effect; standard error."""
    gain = information * EFFECT_SCALE**2
    squared = score**2 / information
    support = 0.5 * squared * gain / (1 + gain) - 0.5 * np.log1p(gain)
    return support, score / information, 1 / np.sqrt(information)
