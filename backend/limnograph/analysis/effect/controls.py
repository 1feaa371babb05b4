"""Concurrent changes of other jobs: their common movement at each run of the job, and how much the job follows it.

Controls are jobs that read none of the operation's tables. Whatever they share (a slower cluster, a daily wave) is not
the operation's effect. If they contradict each other at the operation, nothing can be subtracted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from limnograph.analysis.effect.outliers import DEVIATIONS, spread
from limnograph.analysis.effect.process import LEVEL, Floats, Kernels, Process, cholesky, whiten
from limnograph.domain.time import Millis

LEAST_BEFORE, LEAST_AFTER = 8, 3
"""Minimum runs of a control on each side."""
_NEAREST = 3
"""Runs of a control to average around each run of the job."""
RESPONSE, RESPONSE_SD, RESPONSE_SD_OF_ONE = 1.0, 0.35, 0.5
"""Defaults if the history does not show the response: a job follows the others one to one, within these deviations
(`analysis/explain/rivals.py`). The deviation is larger for a single control, which may move for reasons of its own.
"""
_LEAST_SIGNAL = 0.15
"""Below this share of the common movement's power above noise, the history does not show the response."""
_LEAST_APART = 0.08
_OF_MEDIAN = 1.3
"""Variance of a median of three or more values, in variances of their mean."""
_FAR = 12
"""Runs of a control that are further apart are not correlated."""
_LEAST_LEFT = 2
"""Controls that must remain if those that moved individually are left out."""
_NOISE = Process(0.3, 1.0, 0.05, 0.0, 0.0, 1.0)


class CommonMovement(NamedTuple):
    """Common movement of the controls.

    at_runs  log movement at each run of the job, 0 at the median of the history
    noise    covariance of the values' noise, (n, n)
    jobs     number of controls that it is the movement of
    agree    whether the controls are consistent enough for one statement
    """

    at_runs: Floats
    noise: Floats
    jobs: int
    agree: bool


class Response(NamedTuple):
    """How much the job follows the common movement, with its standard deviation."""

    mean: float
    sd: float


def common_movement(
    at: Floats, before: int, started: Millis, committed: Millis, controls: Sequence[tuple[Floats, Floats]]
) -> CommonMovement | None:
    """`controls`: ascending instants and log durations. None without a control that has enough runs on both sides. Runs
    further from the job's runs than these are from each other do not count.
    """
    rows, noise = [], []
    span = at[-1] - at[0]
    for starts, durations in controls:
        near = (starts >= at[0] - span) & (starts <= at[-1] + span)
        times, logs = starts[near], durations[near]
        if np.sum(times < started) < LEAST_BEFORE or np.sum(times >= committed) < LEAST_AFTER:
            continue
        clean = _clip(logs)
        near = _nearest(at, times)
        row = clean[near].mean(1)
        rows.append(row - np.median(row[:before]))
        variance = spread(np.diff(clean)) ** 2 / 2 / (1 - _NOISE.carry)
        noise.append(variance * _shared(near))
    if not rows:
        return None
    values, noises = np.array(rows), np.array(noise)
    agree, alone = _compared(values, _middle(values), before)
    if agree and alone.any() and len(rows) - alone.sum() >= _LEAST_LEFT:
        values, noises = values[~alone], noises[~alone]
    of_middle = noises.mean(0) / len(values) * (_OF_MEDIAN if len(values) > 2 else 1.0)
    return CommonMovement(_middle(values), of_middle, len(values), agree)


def _middle(values: Floats) -> Floats:
    return np.asarray(np.median(values, axis=0) if len(values) > 2 else values.mean(0))


def _clip(logs: Floats) -> Floats:
    """Limit each run to three deviations from the median of seven around it."""
    padded = np.pad(logs, 3, mode="reflect") if logs.size > 3 else np.pad(logs, 3, mode="edge")
    usual = np.median(np.lib.stride_tricks.sliding_window_view(padded, 7), axis=1)
    apart = logs - usual
    most = DEVIATIONS * (spread(apart) + 1e-6)
    return np.asarray(usual + np.clip(apart, -most, most))


def _nearest(at: Floats, times: Floats) -> npt.NDArray[np.intp]:
    """Indices of the nearest runs of a control at each instant, (n, k)."""
    size = min(_NEAREST + 1, times.size)
    first = np.clip(np.searchsorted(times, at) - 2, 0, times.size - size)
    near = first[:, None] + np.arange(size)[None, :]
    order = np.argsort(np.abs(times[near] - at[:, None]), axis=1, kind="stable")[:, :_NEAREST]
    return np.asarray(np.take_along_axis(near, order, 1))


def _shared(near: npt.NDArray[np.intp]) -> Floats:
    """Covariance of the averages over those runs, in variances of a run: neighbours are correlated, and averages share
    runs.
    """
    place = near.mean(1)
    lags = np.arange(-_FAR, _FAR + 1)
    window = np.ones(near.shape[1]) / near.shape[1]
    covariance = np.convolve(np.convolve(_NOISE.carry ** np.abs(lags), window, "same"), window, "same")
    return np.asarray(np.interp(np.abs(place[:, None] - place[None, :]), lags[_FAR:], covariance[_FAR:]))


def _compared(values: Floats, middle: Floats, before: int) -> tuple[bool, npt.NDArray[np.bool_]]:
    """Whether the controls allow one statement about the time of the operation, and which moved individually. If the
    median control did not move, at most a third may; if it moved, at most a fifth may have stayed. The history shows
    how much levels differ between two such windows without an operation.
    """
    if len(values) < 2:
        return True, np.zeros(len(values), np.bool_)
    apart, usual = _steps_at_cut(values - middle, before)
    # With two controls, the median is between them: each is half of their difference away.
    least = _LEAST_APART / 2 if len(values) == 2 else _LEAST_APART
    alone = np.abs(apart) > np.maximum(least, DEVIATIONS * usual)
    moved, noise = _steps_at_cut(middle[None, :], before)
    has_moved = abs(float(moved[0])) > max(_LEAST_APART, DEVIATIONS * float(noise[0]))
    return float(np.mean(alone)) <= (0.2 if has_moved else 1 / 3), np.asarray(alone)


def _steps_at_cut(rows: Floats, before: int) -> tuple[Floats, Floats]:
    """Per row: the difference of the medians after and before the operation, and its usual size elsewhere."""
    width = rows.shape[1] - before
    window = min(width, max(2, before // 3))

    def step(cut: int, size: int) -> Floats:
        late, early = rows[:, cut : cut + size], rows[:, max(0, cut - 4 * size) : cut]
        return np.asarray(np.median(late, axis=1) - np.median(early, axis=1))

    cuts = [step(cut, window) for cut in range(window, before - window + 1, max(1, window // 2))]
    usual = np.sqrt(np.mean(np.square(cuts), axis=0)) * math.sqrt(window / width) if cuts else np.zeros(len(rows))
    return step(before, width), np.asarray(usual)


def response(y: Floats, before: int, kernels: Kernels, movement: CommonMovement) -> Response:
    """Estimated from the history, with the movement's noise removed (errors in variables), else the default."""
    sd = RESPONSE_SD if movement.jobs > 1 else RESPONSE_SD_OF_ONE
    lag = kernels.lag[:before, :before]
    covariance = np.where(lag == 0, 1.0, _NOISE.carry**lag) + LEVEL
    covariance += _NOISE.wander**2 * kernels.walk[:before, :before]
    inverse = whiten(cholesky(covariance), np.eye(before))
    own = inverse @ (y[:before] - np.median(y[:before]))
    common = inverse @ movement.at_runs[:before]
    power = float(common @ common) - float(np.sum((inverse @ movement.noise[:before, :before]) * inverse))
    if power <= _LEAST_SIGNAL * float(common @ common):
        return Response(RESPONSE, sd)
    variance = spread(own - common) ** 2 / power * float(common @ common) / power
    precision = 1 / sd**2 + 1 / max(variance, 1e-12)
    return Response(
        (RESPONSE / sd**2 + float(common @ own) / power / max(variance, 1e-12)) / precision, precision**-0.5
    )
