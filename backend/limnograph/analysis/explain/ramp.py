"""Rises that take hours: one hinge instead of a staircase, if it explains the stretch with fewer parameters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from limnograph.analysis.explain.case import CaseSeries, Floats, Ints
from limnograph.analysis.explain.changes import Levels, stretches
from limnograph.analysis.explain.noise import Noise, noise
from limnograph.analysis.explain.onset import Onset, doubted_shape, shape_onset
from limnograph.analysis.explain.smoothing import binned, bins

MOST_BINS = 128
HOUR_MS = 3_600_000.0
LENGTHS_HOURS = (2.0, 3.0, 4.0, 5.0, 6.0, 7.5, 9.0, 10.5, 12.0, 14.0, 16.0, 18.0, 20.0, 22.0, 24.0, 30.0, 36.0)
LEAST_RUNS = 6
LONGEST_MS = 36 * HOUR_MS
LOG_STEP, LOG_HINGE = float(np.log(0.8)), float(np.log(0.2))
"""Log prior of a sudden change, and of one that takes hours."""


@dataclass(frozen=True, slots=True)
class FittedChange:
    """One reported change: its onset, the runs from its onset to its full height, and the next change."""

    onset: Onset
    rise: int
    stop: int

    @property
    def effect(self) -> float:
        """Log of the level after over the level before."""
        return float(self.onset.effect[self.onset.index])


def moves(job: CaseSeries, values: Floats, levels: Levels) -> list[FittedChange]:
    """The changes of level; steps of one direction within LONGEST_MS are merged if a hinge fits better."""
    places, size = levels.places, values.size
    spans = stretches(places, size)
    found: list[FittedChange] = []
    first = 0
    while first < len(places):
        last = _staircase(job, levels, first)
        hinge = _hinge(job, values, levels, first, last)
        if hinge is None and last > first:
            last = first
            hinge = _hinge(job, values, levels, first, last)
        found.append(hinge or FittedChange(levels.onsets[first], 0, spans[first][1]))
        first = last + 1
    return found


def _staircase(job: CaseSeries, levels: Levels, first: int) -> int:
    """Last of the changes from `first` onward that have the same direction and follow soon."""
    places = levels.places
    way = np.sign(levels.level[places[first]] - levels.level[places[first] - 1])
    last = first
    while last + 1 < len(places):
        place = places[last + 1]
        same = np.sign(levels.level[place] - levels.level[place - 1]) == way
        if not same or job.at[place] - job.at[places[first]] > LONGEST_MS:
            break
        last += 1
    return last


def _hinge(job: CaseSeries, values: Floats, levels: Levels, first: int, last: int) -> FittedChange | None:
    """The hinge instead of the steps `first` to `last`, if it fits better."""
    spans = stretches(levels.places, values.size)
    start, stop = spans[first][0], spans[last][1]
    # Runs far from the change do not show its shape, and would make the bins coarse.
    begins = max(start, int(np.searchsorted(job.at, job.at[levels.places[first]] - LONGEST_MS)))
    ends = min(stop, int(np.searchsorted(job.at, job.at[levels.places[last]] + 1.5 * LONGEST_MS)))
    edges = begins + bins(ends - begins, MOST_BINS)
    coarse, at = binned(values, edges), binned(job.at, edges)
    if coarse.size < 4 * LEAST_RUNS:
        return None
    stairs = _steps(edges, levels.places[first : last + 1])
    around = noise(coarse - _fitted(stairs, coarse), last - first + 2)
    places, lengths, shapes = _hinges(at, job.at[levels.places[first]], job.at[levels.places[last]])
    if not places.size:
        return None
    found = shape_onset(coarse, 0, shapes, 0, around)
    found = doubted_shape(found, coarse, shapes[int(found.support.argmax())], around)
    hinges = _by_place(found, places, edges)
    rise = max(1, int(lengths[found.support.argmax()] / max(job.gap_ms, 1.0)))
    if last > first:
        return FittedChange(hinges, rise, stop) if _is_one(coarse, stairs, found, around) else None
    step = doubted_shape(shape_onset(coarse, 0, stairs[1:], 0, around), coarse, stairs[1], around)
    return _mixed(levels.onsets[first], float(step.support[0]), hinges, rise, stop)


def _is_one(coarse: Floats, stairs: Floats, hinge: Onset, around: Noise) -> bool:
    """Whether one hinge (index, length, height) explains a stretch better than its steps (index, height each)."""
    gain = 0.5 * float(((hinge.effect / hinge.error) ** 2).max())
    white = around.whiten(coarse)
    flat = _power(white, around.whiten(np.ones(coarse.size))[:, None])
    ladder = 0.5 * (flat - _power(white, np.column_stack([around.whiten(row) for row in stairs])))
    unit = float(np.log(coarse.size))
    return bool(gain - 1.5 * unit >= ladder - (stairs.shape[0] - 1) * unit)


def _mixed(step: Onset, step_support: float, hinges: Onset, rise: int, stop: int) -> FittedChange:
    """Both explanations of one change combined: each index as onset of a step or of a hinge.

    `step_support`: of the step in the same bins as the hinges, which puts their support on its scale.
    """
    scaled = hinges.support - step_support + step.supported + LOG_HINGE
    first = min(step.first, hinges.first)
    size = max(step.first + step.support.size, hinges.first + hinges.support.size) - first
    support, effect, error = np.full(size, -np.inf), np.zeros(size), np.ones(size)
    told = []
    for onset, own in ((hinges, scaled), (step, step.support + LOG_STEP)):
        at = slice(onset.first - first, onset.first - first + own.size)
        better = own > support[at]
        effect[at] = np.where(better, onset.effect, effect[at])
        error[at] = np.where(better, onset.error, error[at])
        support[at] = np.logaddexp(support[at], own)
        told.append((_mass(own), int(own.argmax()) + at.start, onset))
    (hinge_mass, hinge_at, _), (step_mass, step_at, _) = told
    is_hinge = hinge_mass > step_mass
    index = hinge_at if is_hinge else step_at
    chosen = hinges if is_hinge else step
    own_index = first + index - chosen.first
    effect[index], error[index] = chosen.effect[own_index], chosen.error[own_index]
    return FittedChange(Onset(first, support, effect, error, index), rise if is_hinge else 0, stop)


def _mass(support: Floats) -> float:
    top = float(support.max())
    return top + float(np.log(np.exp(support - top).sum()))


def _hinges(at: Floats, first: float, last: float) -> tuple[Ints, Floats, Floats]:
    """Bin of the onset, length and shape of each candidate hinge."""
    lengths = np.array(LENGTHS_HOURS) * HOUR_MS
    lengths = lengths[(lengths >= LEAST_RUNS * np.median(np.diff(at))) & (lengths <= (at[-1] - at[0]) / 1.5)]
    starts = np.flatnonzero((at >= first - LONGEST_MS / 2) & (at <= last))
    starts = starts[(starts >= 2) & (starts < at.size - LEAST_RUNS)]
    place = np.repeat(starts, lengths.size)
    length = np.tile(lengths, starts.size)
    since = at[None, None, :] - at[starts][:, None, None]
    shapes = (since / np.maximum(lengths, 1.0)[None, :, None]).reshape(place.size, at.size)
    return place, length, np.clip(shapes, 0.0, 1.0, out=shapes)


def _steps(edges: Ints, places: list[int]) -> Floats:
    """A constant and the steps in bins: the bin that contains a step has a fraction of it."""
    runs = np.arange(edges[0], edges[-1])
    rows = [binned((runs >= place).astype(np.float64), edges - edges[0]) for place in places]
    return np.stack([np.ones(edges.size - 1), *rows])


def _fitted(rows: Floats, values: Floats) -> Floats:
    return np.asarray(np.linalg.lstsq(rows.T, values, rcond=None)[0] @ rows)


def _power(white: Floats, design: Floats) -> float:
    rest = white - design @ np.linalg.lstsq(design, white, rcond=None)[0]
    return float(rest @ rest)


def _by_place(found: Onset, places: Ints, edges: Ints) -> Onset:
    """For every run at which a hinge may start: the mean support of its lengths, the effect of the best."""
    starts = np.unique(places)
    lengths = places.size // starts.size
    support = found.support.reshape(starts.size, lengths)
    top = support.max(axis=1)
    mean = top + np.log(np.exp(support - top[:, None]).mean(axis=1))
    best = support.argmax(axis=1) + np.arange(starts.size) * lengths
    row = np.repeat(np.arange(starts.size), np.diff(edges)[starts])
    return Onset(int(edges[starts[0]]), mean[row], found.effect[best][row], found.error[best][row])
