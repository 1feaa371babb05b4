"""Finds changes of level in a series: optimal partitioning of bins, then a test of each change against AR(1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from limnograph.analysis.explain.case import Floats
from limnograph.analysis.explain.noise import SMALLEST, Noise, noise
from limnograph.analysis.explain.onset import EDGE, Onset, doubted, resisted, step_onset
from limnograph.analysis.explain.segment import levels, segment
from limnograph.analysis.explain.smoothing import MAD_TO_SIGMA, binned, bins, median
from limnograph.analysis.explain.wander import Wander, sobered, wander

MOST_BINS = 512
LEAST_BINS = 3
PENALTY = 4.0
"""Penalty of a change, times the logarithm of the bins. Low, because proposed changes are tested later (`KEPT`)."""
SUPPORTED = 2.0
"""Minimum log Bayes factor, without extreme runs, of an examined change."""


@dataclass(frozen=True, slots=True)
class Background:
    """What a change is tested against: noise from run to run, and the series' own wandering."""

    noise: Noise
    wander: Wander


@dataclass(frozen=True, slots=True)
class Levels:
    """Onsets of the levels of a series, the noise around them, and the level at each index."""

    onsets: list[Onset]
    noise: Noise
    level: Floats

    @property
    def places(self) -> list[int]:
        """Index of the first value of each new level."""
        return [each.best for each in self.onsets]


def find_levels(
    values: Floats, kept: float, among: Sequence[int] | None = None, supported: float = SUPPORTED
) -> Levels:
    """Levels whose changes have at least `kept` squared standard errors, given their neighbours.

    `among`: indexes to examine, instead of all. `supported`: minimum log Bayes factor without extreme runs.
    """
    proposed, own = _propose(values) if among is None else list(among), wander(values)
    for _ in range(2):
        around = noise(values - levels(values, proposed), len(proposed) + 1)
        onsets = _prune(values, proposed, Background(around, own), kept, supported)
        proposed = [each.best for each in onsets]
    return Levels(onsets, around, levels(values, proposed))


def criterion(values: Floats, found: Levels, parameters: int) -> float:
    """Bayesian information criterion of levels with AR(1) around them and `parameters` additional parameters."""
    size = values.size
    white = found.noise.whiten(values - found.level)
    # Extreme runs do not show which of two models has the better levels.
    rest = np.clip(white, -3, 3) * found.noise.innovation
    spent = parameters + 2 * len(found.onsets)
    return size * float(np.log(np.mean(rest**2) + SMALLEST**2)) + spent * float(np.log(size))


def stretches(places: list[int], size: int) -> list[tuple[int, int]]:
    """For each change, the values between its neighbours."""
    edges = [0, *places, size]
    return [(edges[k], edges[k + 2]) for k in range(len(places))]


def _propose(values: Floats) -> list[int]:
    edges = bins(values.size, MOST_BINS)
    coarse = binned(values, edges)
    step = np.diff(coarse)
    spread = MAD_TO_SIGMA * median(np.abs(step)) / np.sqrt(2) if step.size else 0.0
    unit = coarse / max(spread, SMALLEST)
    found = segment(unit - median(unit), PENALTY * np.log(max(unit.size, 2)), LEAST_BINS)
    return [int(edges[place]) for place in found]


def _prune(values: Floats, proposed: list[int], around: Background, kept: float, supported: float) -> list[Onset]:
    """Backward elimination: remove the weakest change and test its neighbours again, until all are `kept`."""
    places = [place for place in proposed if EDGE <= place <= values.size - EDGE]
    onsets = [_step(values, stretch, around) for stretch in stretches(places, values.size)]
    while places:
        weakest = min(range(len(places)), key=lambda k: _strength(onsets[k]))
        if _strength(onsets[weakest]) >= kept:
            break
        del places[weakest], onsets[weakest]
        spans = stretches(places, values.size)
        for k in range(max(0, weakest - 1), min(len(places), weakest + 1)):
            onsets[k] = _step(values, spans[k], around)
    judged = _judged(values, places, around)
    while judged:
        weakest = min(range(len(judged)), key=lambda k: judged[k].supported)
        if judged[weakest].supported >= supported:
            break
        judged.pop(weakest)
        for k in range(max(0, weakest - 1), min(len(judged), weakest + 1)):
            judged[k] = _judge(values, _between(judged, k, values.size), around) or judged[k]
    return judged


def _judged(values: Floats, places: list[int], around: Background) -> list[Onset]:
    """Each change moved to its best index, one after the other, so that none reaches the one before it."""
    found: list[Onset] = []
    for k in range(len(places)):
        start = found[-1].best if found else 0
        onset = _judge(values, (start, places[k + 1] if k + 1 < len(places) else values.size), around)
        if onset is not None:
            found.append(onset)
    return found


def _between(judged: list[Onset], k: int, size: int) -> tuple[int, int]:
    return judged[k - 1].best if k else 0, judged[k + 1].best if k + 1 < len(judged) else size


def _step(values: Floats, stretch: tuple[int, int], around: Background) -> Onset | None:
    onset = step_onset(values, *stretch, around.noise)
    return sobered(onset, around.wander, *stretch) if onset else None


def _judge(values: Floats, stretch: tuple[int, int], around: Background) -> Onset | None:
    onset = step_onset(values, *stretch, around.noise)
    if onset is None:
        return None
    exact = resisted(onset, values, *stretch, around.noise)
    return sobered(doubted(exact, values, *stretch, around.noise), around.wander, *stretch)


def _strength(onset: Onset | None) -> float:
    return onset.strength if onset else -1.0
