"""Covariates of a run's work: load and bytes read, as columns that change the duration by an uncertain response."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from limnograph.analysis.effect.outliers import spread
from limnograph.analysis.effect.prediction import Covariate
from limnograph.analysis.effect.process import Floats

LOAD_RESPONSE, LOAD_SD = 0.5, 0.5
"""Duration ~ load ** response: from no response to one to one."""
BYTES_RESPONSE, BYTES_SD = 0.8, 0.3
_LEAST_KNOWN = 0.7
"""Minimum share of runs with known bytes."""
_SEEN = (0.05, 0.95)
_AT_CUT = 3
"""Runs on each side that show the change of bytes at the operation itself."""


def load_columns(at: Floats, before: int, times: Sequence[int], values: Sequence[float | None]) -> list[Covariate]:
    """Empty if the load does not cover the runs, or does not vary."""
    instants, value = np.array(times, float), np.array(values, float)
    known = np.isfinite(value)
    instants, value = instants[known], value[known]
    order = np.argsort(instants, kind="stable")
    instants, value = instants[order], value[order]
    if instants.size < 2:
        return []
    gap = 2 * float(np.median(np.diff(instants)))
    if instants[0] > at[before // 2] or instants[-1] < at[-1] - max(gap, 0.25 * (at[-1] - at[before - 1])):
        return []
    if (value > 0).all():
        logs = np.log(value)
    elif (largest := float(np.max(np.abs(value)))) > 0:
        logs = value / largest / float(np.mean(np.abs(value / largest)))
    else:
        return []
    return _seen_and_unseen(np.interp(at, instants, logs), before, LOAD_RESPONSE, LOAD_SD)


def bytes_columns(values: Floats, before: int, grown_at_cut: bool) -> list[Covariate]:
    """Bytes read per run, NaN if unknown. A step of the bytes at the operation itself is part of its effect and stays
    in the duration, unless another event at that time explains it (`grown_at_cut`). Empty if too few are known.
    """
    known = np.isfinite(values) & (values > 0)
    if known[:before].mean() < _LEAST_KNOWN or known[before:].mean() < _LEAST_KNOWN:
        return []
    index = np.arange(values.size)
    logs = np.interp(index, index[known], np.log(values[known]))
    step, noise = _step(logs, before)
    own = abs(step) > max(0.01, 3 * noise) and not (grown_at_cut and step > 0)
    if own:
        logs = logs - step * (index >= before)
    return _seen_and_unseen(logs, before, BYTES_RESPONSE, BYTES_SD)


def _step(logs: Floats, before: int) -> tuple[float, float]:
    """Step at the operation relative to the trend of the history, and the noise of such a step."""
    recent = logs[max(0, before - 24) : before]
    slope = float(np.median(np.diff(recent))) if recent.size > 3 else 0.0
    late, early = logs[before : before + _AT_CUT], logs[max(0, before - _AT_CUT) : before]
    step = float(np.median(late) - np.median(early)) - slope * (late.size + early.size) / 2
    return step, spread(np.diff(recent) - slope) if recent.size > 3 else 0.0


def _seen_and_unseen(column: Floats, before: int, mean: float, sd: float) -> list[Covariate]:
    """The part within the history's range, where the response is known from it, and the part outside."""
    column = column - np.median(column[:before])
    seen = np.clip(column, *np.quantile(column[:before], _SEEN))
    return [Covariate(each, mean, sd) for each in (seen, column - seen) if float(np.ptp(each)) > 1e-9]
