"""Rises that take hours: one hinge instead of a staircase, if it explains the stretch with fewer parameters.

Hinges begin at bins of runs and rise evenly in log. Where it is known which run read what, that is too coarse: a bin
has the first reads of several commits, and the true slope begins between bins, or rises evenly in seconds. There, the
rise is examined again with any first run and length, and with both shapes (`_exact_onset`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from limnograph.analysis.explain.case import CaseSeries, Floats, Ints
from limnograph.analysis.explain.changes import Levels, stretches
from limnograph.analysis.explain.noise import SMALLEST, Noise, noise
from limnograph.analysis.explain.onset import Onset, doubted_shape, shape_onset
from limnograph.analysis.explain.smoothing import binned, bins
from limnograph.analysis.explain.wander import Wander, wander

MOST_BINS = 128
HOUR_MS = 3_600_000.0
LENGTHS_HOURS = (2.0, 3.0, 4.0, 5.0, 6.0, 7.5, 9.0, 10.5, 12.0, 14.0, 16.0, 18.0, 20.0, 22.0, 24.0, 30.0, 36.0)
LEAST_RUNS = 6
LONGEST_MS = 36 * HOUR_MS
LOG_STEP, LOG_HINGE = float(np.log(0.8)), float(np.log(0.2))
"""Log prior of a sudden change, and of one that takes hours."""

NEAR = 15.0
"""Maximum distance (log) from the likeliest bin, or length, of those examined again."""
MOST_STARTS, LENGTHS = 64, 16
"""Maximum first runs, and number of lengths, to examine; the support of runs between them is interpolated."""
LEAST_MARGIN = 8
"""Minimum runs to examine on both sides of the likely bins, and the share of their runs."""
LEAST_SIZE = 0.05
"""Minimum log size of a rise: below it, one even in seconds is even in log."""


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


@dataclass(frozen=True, slots=True)
class BinnedRise:
    """A rise in bins: their times and values, the noise around its fit, the lengths it may have, and its runs."""

    at: Floats
    values: Floats
    noise: Noise
    lengths: Floats
    runs: Floats


def moves(job: CaseSeries, values: Floats, levels: Levels, *, reads: bool = False) -> list[FittedChange]:
    """The changes of level; steps of one direction within LONGEST_MS are merged if a hinge fits better.

    `reads`: it is known which run read what, so that it matters at which run exactly a rise begins.
    """
    around = wander(values) if reads else None
    places, size = levels.places, values.size
    spans = stretches(places, size)
    found: list[FittedChange] = []
    first = 0
    while first < len(places):
        last = _staircase(job, levels, first)
        hinge = _hinge(job, values, levels, (first, last), around)
        if hinge is None and last > first:
            last = first
            hinge = _hinge(job, values, levels, (first, last), around)
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


def _hinge(
    job: CaseSeries, values: Floats, levels: Levels, steps: tuple[int, int], wandering: Wander | None
) -> FittedChange | None:
    """The hinge instead of the first to the last of these steps, if it fits better.

    `wandering`: of the series, if the onset must be exact to the run; else it is exact to the bin.
    """
    first, last = steps
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
    if wandering and hinges.rises and edges[1] > edges[0] + 1:
        grid = lengths[: lengths.size // np.unique(places).size]
        found = hinges = _exact_onset(found, hinges, BinnedRise(at, coarse, around, grid, job.at), wandering)
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


def _exact_onset(bins: Onset, hinges: Onset, rise: BinnedRise, around: Wander) -> Onset:
    """The onset of a rise by run.

    bins    support of each first bin and length of the rise, lengths varying fastest
    hinges  support of each run, over all lengths, as far as bins tell
    """
    lengths, share = _lengths(bins, rise.lengths)
    starts = _starts(hinges)
    shapes = _slopes(rise.at, rise.runs[starts], lengths, float(hinges.effect[hinges.index]))
    found = shape_onset(rise.values, 0, shapes, 0, rise.noise)
    found = doubted_shape(found, rise.values, shapes[int(found.support.argmax())], rise.noise)
    support = found.support.reshape(starts.size, -1)
    top = support.max(axis=1)
    mean = top + np.log(np.exp(support - top[:, None]).mean(axis=1) * share)
    runs = np.arange(starts[0], starts[-1] + 1)
    best = (support.argmax(axis=1) + np.arange(starts.size) * support.shape[1])[np.searchsorted(starts, runs)]
    length = float(lengths[int(found.support.argmax()) % LENGTHS])
    by_run = _sobered(np.interp(runs, starts, mean), _trust(rise, length, around))
    return Onset(int(starts[0]), by_run, found.effect[best], found.error[best])


def _lengths(bins: Onset, grid: Floats) -> tuple[Floats, float]:
    """Lengths to examine, and their share of all possible ones: the mean over all is taken, others add nothing."""
    likely = bins.support.reshape(-1, grid.size).max(axis=0)
    kept = np.flatnonzero(likely >= likely.max() - NEAR)
    low, high = grid[max(kept[0] - 1, 0)], grid[min(kept[-1] + 1, grid.size - 1)]
    return np.linspace(low, high, LENGTHS), float((high - low) / (grid[-1] - grid[0])) if grid.size > 1 else 1.0


def _starts(hinges: Onset) -> Ints:
    """First runs to examine: around the likely bins."""
    near = hinges.first + np.flatnonzero(hinges.support >= hinges.supported - NEAR)
    margin = max(LEAST_MARGIN, int(near[-1] - near[0]) // LEAST_MARGIN)
    first = max(hinges.first, int(near[0]) - margin)
    last = min(hinges.first + hinges.support.size - 1, int(near[-1]) + margin)
    return np.unique(np.linspace(first, last, MOST_STARTS).astype(np.int64))


def _slopes(at: Floats, starts: Floats, lengths: Floats, size: float) -> Floats:
    """Shapes of rises of this size (log) that begin at `starts`: even in log, then even in seconds, for each length."""
    done = np.clip((at[None, None, :] - starts[:, None, None]) / lengths[None, :, None], 0.0, 1.0)
    size = max(size, LEAST_SIZE)
    return np.concatenate([done, np.log1p(np.expm1(size) * done) / size], axis=1).reshape(-1, at.size)


def _trust(rise: BinnedRise, length: float, around: Wander) -> float:
    """Variance of stretches as long as the rise by its noise, as a share of how much the series wanders."""
    runs = max(int(np.searchsorted(rise.runs, rise.at[0] + length) - np.searchsorted(rise.runs, rise.at[0])), 2)
    bins = max(int(np.searchsorted(rise.at, rise.at[0] + length)), 1)
    own = rise.noise.innovation / (1 - rise.noise.phi) * np.sqrt(2 / bins)
    return float(min(1.0, (own / max(around.deviation(runs, runs), SMALLEST)) ** 2))


def _sobered(support: Floats, trust: float) -> Floats:
    """The same evidence, spread over runs: a rise over hours is found by levels, which wandering makes uncertain."""
    spread = trust * support
    return np.asarray(spread + _mass(support) - _mass(spread))
