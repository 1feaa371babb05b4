"""`stream_lag`: what a stream commits is much older than its usual gap between commits, or than is promised; and
`objective_missed` of the time from an event to its commit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from limnograph.analysis.findings.episodes import Episode
from limnograph.analysis.findings.events import Detail
from limnograph.analysis.findings.facts import Floats, Ints
from limnograph.analysis.findings.objectives import missed
from limnograph.analysis.findings.stretch import Stretch
from limnograph.domain.finding_codes import CODES, EVENTS
from limnograph.domain.finding_limits import FindingLimits
from limnograph.domain.objectives import PromisedLimit
from limnograph.domain.time import MICROS_PER_SECOND, Micros

FEW = 8
"""Samples before a stream has a usual lag between its batches."""


class StreamSamples(NamedTuple):
    """Lag of one stream over time. `times`: ascending, microseconds; `lags`: seconds; `gap_s`: usual seconds between
    its commits, None: unknown; `objective`: seconds that are promised, None: none.
    """

    stream: str
    times: Ints
    lags: Floats
    gap_s: float | None
    objective: float | None = None


def stream_lags(
    samples: StreamSamples, until: Micros, limits: FindingLimits, known: Micros | None = None
) -> list[Episode]:
    """Episodes of one stream: its lag was above its limit for ten minutes, and closes when it was below for as long.
    Without an objective and without a known gap there is none. `known`: when the open finding opened. O(samples).
    """
    limit = limit_seconds(samples, limits)
    if limit is None:
        return []
    if known is not None:  # what was before it opened cannot close it
        after = samples.times >= known
        samples = samples._replace(times=samples.times[after], lags=samples.lags[after])
    over = samples.lags > limit
    found: list[Episode] = []
    began, opened, below = known, known, None
    peak = 0.0
    for at, is_over, lag in zip(samples.times.tolist(), over.tolist(), samples.lags.tolist(), strict=True):
        if is_over:
            began = Micros(at) if began is None else began
            below, peak = None, max(peak, lag)
            if opened is None and at - began >= limits.confirmed_after:
                opened = Micros(at)
        elif opened is None:
            began, peak = None, 0.0
        else:
            below = Micros(at) if below is None else below
            if began is not None and at - below >= limits.confirmed_after:
                stretch = Stretch(began, opened, closed=Micros(at), peak=peak, truncated=began == known)
                found.append(_episode(samples, stretch, limit, None))
                began, below, opened, peak = None, None, None, 0.0
    if opened is not None and began is not None and opened <= until:
        last = float(samples.lags[-1]) if len(samples.lags) else None
        found.append(_episode(samples, Stretch(began, opened, peak=peak, truncated=began == known), limit, last))
    return found


def late_events(streams: Sequence[StreamSamples], until: Micros, promised: PromisedLimit) -> list[Episode]:
    """Episodes of a table: the lag of one of its streams exceeded the promised time for the window. O(samples)."""
    lags: dict[int, float] = {}
    for samples in streams:
        for at, lag in zip(samples.times.tolist(), samples.lags.tolist(), strict=True):
            lags[at] = max(lag, lags.get(at, 0.0))
    limit, times = promised.limit_us / MICROS_PER_SECOND, sorted(lags)
    if not times:
        return []
    state = missed(((Micros(at), lags[at] > limit) for at in times), until, promised)
    evidence: dict[str, Detail] = {"threshold_seconds": round(limit, 3), "seconds": round(lags[times[-1]], 3)}
    severity = CODES["objective_missed"].severity
    return [
        Episode(
            "objective_missed",
            EVENTS,
            each._replace(closed_by=None, truncated=each.began <= times[0]),
            severity,
            None,
            dict(evidence),
        )
        for each in (*state.past, *([state.open] if state.open else []))
    ]


def limit_seconds(samples: StreamSamples, limits: FindingLimits) -> float | None:
    """The lag above which a stream is behind; None if nothing says what is usual."""
    if samples.objective is not None:
        return samples.objective
    if samples.gap_s is None:
        return None
    return max(limits.lag_triggers * samples.gap_s, limits.lag_least / MICROS_PER_SECOND)


def gap_seconds(commits: Sequence[Micros]) -> float | None:
    """The usual gap between the commits of a stream, seconds; None for fewer than FEW."""
    if len(commits) < FEW:
        return None
    return float(np.median(np.diff(np.array(commits, np.int64)))) / MICROS_PER_SECOND


def _episode(samples: StreamSamples, stretch: Stretch, limit: float, lag_s: float | None) -> Episode:
    evidence: dict[str, Detail] = {"threshold_seconds": round(limit)}
    if lag_s is not None:
        evidence |= {"lag_seconds": round(lag_s)}
    return Episode("stream_lag", samples.stream, stretch, CODES["stream_lag"].severity, None, evidence)
