"""Changes with onsets known in advance, as by the benchmark's oracle: only their cause remains to be found."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from limnograph.analysis.explain.case import CaseSeries
from limnograph.analysis.explain.normalise import NormalisedSeries
from limnograph.analysis.explain.onset import EDGE, Onset, step_onset
from limnograph.analysis.explain.ramp import FittedChange

LASTS = (12, 36, 108)
"""Numbers of runs over which a known change is examined, in addition to all runs until the next change."""
CERTAIN = 40.0
"""Log Bayes factor of a change that is known to be real."""


def given_moves(job: CaseSeries, normal: NormalisedSeries, onsets: Sequence[float]) -> list[FittedChange]:
    """One change at the first run from each onset (epoch milliseconds) onward; none for an empty list.

    Sizes are measured up to the next change, known or found: the end of a pulse is found as usual.
    """
    size = len(job)
    last = size - EDGE
    known = sorted({int(np.clip(each, EDGE, last)) for each in np.searchsorted(job.at, np.asarray(onsets, np.float64))})
    other = [each for each in normal.levels.places if all(abs(each - place) > 2 * EDGE for place in known)]
    edges = [0, *sorted({*known, *other}), size]
    found = []
    for place in known:
        at = edges.index(place)
        start, stop = max(0, min(edges[at - 1], place - EDGE)), min(size, max(edges[at + 1], place + EDGE))
        onset = _lasting(normal, place, start, stop)
        if onset is not None:
            row = slice(place - onset.first, place - onset.first + 1)
            support = np.maximum(onset.support[row], CERTAIN)
            found.append(FittedChange(Onset(place, support, onset.effect[row], onset.error[row]), 0, stop))
    return found


def _lasting(normal: NormalisedSeries, place: int, low: int, high: int) -> Onset | None:
    """The change over its duration: the number of runs after its index that shows it best."""
    ends = {min(high, max(place + runs, low + 2 * EDGE)) for runs in LASTS} | {high}
    found = [step_onset(normal.values, low, end, normal.levels.noise) for end in sorted(ends)]
    known = [each for each in found if each and each.first <= place < each.first + each.support.size]
    return max(known, key=lambda each: float(each.support[place - each.first]), default=None)
