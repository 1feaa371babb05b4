"""Runs of a job on both sides of an operation, as columns, and the other events that may change their duration."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from limnograph.analysis.effect.prediction import MOST_AFTER, MOST_BEFORE
from limnograph.analysis.effect.process import Floats
from limnograph.domain.answers.effects import EffectCase, OtherEvent
from limnograph.domain.time import Millis

CONFOUNDING = frozenset({"overwrite", "delete", "replace", "schema", "deploy"})
"""Kinds of events that may change durations. Appends and alerts do not by themselves."""
_TRENDS = frozenset({"schema", "deploy"})
"""Those after which the same data may take more and more, or less and less, time than before."""


class JobRuns(NamedTuple):
    """Runs with a duration in order of time: start in epoch milliseconds, log of seconds, bytes read (NaN if unknown).

    before                   number of runs before the operation
    runs_before, runs_after  including killed runs
    starts                   of all runs
    """

    at: Floats
    logs: Floats
    read_bytes: Floats | None
    before: int
    runs_before: int
    runs_after: int
    starts: Floats

    @property
    def after(self) -> int:
        """Runs with a duration after the operation."""
        return self.at.size - self.before


def job_runs(case: EffectCase, until: Millis | None = None) -> JobRuns:
    """The latest runs before the operation started, and runs after its commit; those in between belong to neither.

    `until`: runs from that instant onward are counted, but have no columns.
    """
    started, committed = case.operation.started_at, case.operation.committed_at
    starts, seconds = _sorted(case.runs.times, case.runs.duration_seconds)
    ended = np.isfinite(seconds) & (seconds > 0)
    early = np.flatnonzero(ended & (starts < started))
    late = np.flatnonzero(ended & (starts >= committed) & (starts < (math.inf if until is None else until)))
    chosen = np.concatenate([early[-MOST_BEFORE:], _thinned(late)])
    sizes = None if case.runs.read_bytes is None else _sorted(case.runs.times, case.runs.read_bytes)[1][chosen]
    return JobRuns(
        at=starts[chosen],
        logs=np.log(seconds[chosen]),
        read_bytes=sizes,
        before=min(early.size, MOST_BEFORE),
        runs_before=int(np.sum(starts < started)),
        runs_after=int(np.sum(starts >= committed)),
        starts=starts,
    )


def control_series(times: Sequence[int], seconds: Sequence[float | None]) -> tuple[Floats, Floats]:
    """Starts and log durations of the runs that ended."""
    at, value = _sorted(times, seconds)
    ended = np.isfinite(value) & (value > 0)
    return at[ended], np.log(value[ended])


def next_event(others: Sequence[OtherEvent], committed: Millis) -> OtherEvent | None:
    """The first event after the operation."""
    return min((each for each in others if each.at >= committed), key=lambda each: each.at, default=None)


def event_columns(runs: JobRuns, others: Sequence[OtherEvent], started: Millis) -> Floats:
    """One column per earlier event: 1 from the event onward. (n, k)."""
    return _stacked([(runs.at >= each.at).astype(float) for each in others if each.at < started], runs)


def slope_columns(runs: JobRuns, others: Sequence[OtherEvent], started: Millis, clock: Floats) -> Floats:
    """One column per earlier deploy or schema change: 0 before it, then rising with `clock`. (n, k)."""
    firsts = [int(np.sum(runs.at < each.at)) for each in others if each.at < started and each.kind in _TRENDS]
    return _stacked([np.maximum(clock - clock[first], 0) for first in firsts if first < clock.size], runs)


def _stacked(columns: Sequence[Floats], runs: JobRuns) -> Floats:
    """Columns that vary within the history; others say nothing about it."""
    useful = [each for each in columns if np.ptp(each[: runs.before]) > 0]
    return np.column_stack(useful) if useful else np.zeros((runs.at.size, 0))


def runs_between(runs: JobRuns, event: OtherEvent, started: Millis, committed: Millis) -> int:
    """Number of runs that started between the event and the operation."""
    if started <= event.at <= committed:
        return 0
    early, late = (event.at, started) if event.at < started else (committed, event.at)
    return int(np.sum((runs.starts >= early) & (runs.starts < late)))


def _sorted(times: Sequence[int], values: Sequence[float | None]) -> tuple[Floats, Floats]:
    at, value = np.array(times, float), np.array(values, float)
    order = np.argsort(at, kind="stable")
    return at[order], value[order]


def _thinned(index: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    """At most MOST_AFTER runs, evenly spread over all of them."""
    if index.size <= MOST_AFTER:
        return index
    return np.asarray(index[np.linspace(0, index.size - 1, MOST_AFTER).round().astype(np.intp)])
