"""Rises that take hours: one hinge in place of a staircase, when it explains the stretch with fewer parameters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from limnograph.analysis.explain.case import Floats, Ints, Series
from limnograph.analysis.explain.changes import Levels, stretches
from limnograph.analysis.explain.noise import noise
from limnograph.analysis.explain.onset import Onset, doubted_shape, shape_onset
from limnograph.analysis.explain.smoothing import binned, bins

MOST_BINS = 192
HOUR_MS = 3_600_000.0
LENGTHS_HOURS = (2.0, 4.0, 6.0, 9.0, 12.0, 16.0, 20.0, 24.0, 36.0)
LEAST_RUNS = 6
LONGEST_MS = 36 * HOUR_MS
MARGIN = 2.0
"""Log likelihood that a hinge must gain over steps beyond its parameters: a step is the simpler story."""


@dataclass(frozen=True, slots=True)
class Move:
    """One change, as it is told: its onset, the runs from its onset to its full height, and the next change."""

    onset: Onset
    rise: int
    stop: int

    @property
    def effect(self) -> float:
        """Log of the level after over the level before."""
        return float(self.onset.effect[self.onset.support.argmax()])


def moves(job: Series, values: Floats, levels: Levels) -> list[Move]:
    """The changes of level, stairs of one direction within LONGEST_MS put together where a hinge fits better."""
    places, size = levels.places, values.size
    spans = stretches(places, size)
    found: list[Move] = []
    first = 0
    while first < len(places):
        last = _staircase(job, levels, first)
        hinge = _hinge(job, values, levels, first, last)
        if hinge is None and last > first:
            last = first
            hinge = _hinge(job, values, levels, first, last)
        found.append(hinge or Move(levels.onsets[first], 0, spans[first][1]))
        first = last + 1
    return found


def _staircase(job: Series, levels: Levels, first: int) -> int:
    """Last of the changes from `first` on that go the same way and follow soon."""
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


def _hinge(job: Series, values: Floats, levels: Levels, first: int, last: int) -> Move | None:
    """The hinge in place of the steps `first` to `last` if it beats them."""
    spans = stretches(levels.places, values.size)
    start, stop = spans[first][0], spans[last][1]
    edges = start + bins(stop - start, MOST_BINS)
    coarse, at = binned(values, edges), binned(job.at, edges)
    if coarse.size < 4 * LEAST_RUNS:
        return None
    stairs = _steps(edges, levels.places[first : last + 1])
    around = noise(coarse - _fitted(stairs, coarse), last - first + 2)
    places, lengths, shapes = _hinges(at, job.at[levels.places[first]], job.at[levels.places[last]])
    if not places.size:
        return None
    found = shape_onset(coarse, 0, shapes, 0, around)
    gain = 0.5 * (found.effect / found.error) ** 2
    best = int(gain.argmax())
    white = around.whiten(coarse)
    ladder = 0.5 * (_power(white, None) - _power(white, np.column_stack([around.whiten(row) for row in stairs])))
    unit = np.log(coarse.size)
    flat = 0.5 * (_power(white, None) - _power(white, around.whiten(np.ones(coarse.size))[:, None]))
    if gain[best] - 1.5 * unit < ladder - flat - (last - first + 1) * unit + MARGIN:
        return None
    found = doubted_shape(found, coarse, shapes[int(found.support.argmax())], around)
    onset = _by_place(found, places, edges)
    return Move(onset, max(1, int(lengths[best] / max(job.gap, 1.0))), stop)


def _hinges(at: Floats, first: float, last: float) -> tuple[Ints, Floats, Floats]:
    """Bin of the onset, length and shape of each hinge that is tried."""
    lengths = np.array(LENGTHS_HOURS) * HOUR_MS
    lengths = lengths[(lengths >= LEAST_RUNS * np.median(np.diff(at))) & (lengths <= (at[-1] - at[0]) / 1.5)]
    starts = np.flatnonzero((at >= first - LONGEST_MS / 2) & (at <= last))
    starts = starts[(starts >= 2) & (starts < at.size - LEAST_RUNS)]
    place = np.repeat(starts, lengths.size)
    length = np.tile(lengths, starts.size)
    shapes = np.clip((at[None, :] - at[place][:, None]) / np.maximum(length, 1.0)[:, None], 0.0, 1.0)
    return place, length, shapes


def _steps(edges: Ints, places: list[int]) -> Floats:
    """A constant and the steps as bins show them: the bin in which a step lies has a part of it."""
    runs = np.arange(edges[0], edges[-1])
    rows = [binned((runs >= place).astype(np.float64), edges - edges[0]) for place in places]
    return np.stack([np.ones(edges.size - 1), *rows])


def _fitted(rows: Floats, values: Floats) -> Floats:
    return np.asarray(np.linalg.lstsq(rows.T, values, rcond=None)[0] @ rows)


def _power(white: Floats, design: Floats | None) -> float:
    if design is None:
        return float(white @ white)
    rest = white - design @ np.linalg.lstsq(design, white, rcond=None)[0]
    return float(rest @ rest)


def _by_place(found: Onset, places: Ints, edges: Ints) -> Onset:
    """For every run of the span that a hinge may start at: the support of the best length, spread over its bin."""
    starts = np.unique(places)
    best = np.array([int(np.flatnonzero(places == start)[found.support[places == start].argmax()]) for start in starts])
    each = np.diff(edges)[starts]
    row = np.repeat(best, each)
    return Onset(int(edges[starts[0]]), found.support[row], found.effect[row], found.error[row])
