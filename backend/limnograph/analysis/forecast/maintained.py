"""What maintenance at the cut-off leaves: small files, deletes and manifests rewritten, snapshots of five days.

Everything else goes on as it does, so only the state at the cut-off changes.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from limnograph.analysis.forecast.grid import DAY_H
from limnograph.analysis.forecast.series import READERS, HistoryGrid

KEPT_DAYS = 5
_FILES_PER_MANIFEST = 2_000
_REWRITTEN = ("small_files", "total_delete_files", "manifests")
_READER_FLOOR = 0.3


def reset_state(series: HistoryGrid, metric: str, cut: int, responses: Mapping[str, float]) -> float | None:
    """State after maintenance at index `cut`; None if maintenance does not change it, or the state is not known.

    responses  how much a reader follows each structural metric (`following.py`)
    """
    now = _state(series, metric, cut)
    if not np.isfinite(now):
        return None
    if metric in READERS:
        return _reader(series, metric, cut, responses)
    return _structural(series, metric, cut, now)


def _structural(series: HistoryGrid, metric: str, cut: int, state: float) -> float | None:
    if metric in {"small_files", "total_delete_files", "delete_ratio"}:
        return 0.0
    if metric == "manifests":
        files = _state(series, "total_data_files", cut)
        return min(state, 1 + (files / _FILES_PER_MANIFEST if np.isfinite(files) else 0.0))
    if metric == "live_snapshots":
        return min(state, _kept_snapshots(series, cut))
    if metric == "metadata_bytes":
        return state - _bytes_per_snapshot(series, cut, state) * _expired(series, cut)
    return None


def _reader(series: HistoryGrid, metric: str, cut: int, responses: Mapping[str, float]) -> float | None:
    logs = 0.0
    for each in _REWRITTEN:
        now = _state(series, each, cut)
        after = reset_state(series, each, cut, responses)
        if now > 0 and after is not None:
            logs += responses.get(each, 0.0) * float(np.log((after / now + _READER_FLOOR) / (1 + _READER_FLOOR)))
    return float(_state(series, metric, cut) * np.exp(logs)) if logs else None


def _kept_snapshots(series: HistoryGrid, cut: int) -> float:
    return 1 + float(series.sums("commits")[max(cut - KEPT_DAYS * DAY_H, 0) : cut].sum())


def _expired(series: HistoryGrid, cut: int) -> float:
    now = _state(series, "live_snapshots", cut)
    return max(now - _kept_snapshots(series, cut), 0.0) if np.isfinite(now) else 0.0


def _bytes_per_snapshot(series: HistoryGrid, cut: int, all_bytes: float) -> float:
    """Slope of metadata bytes over snapshots in the last 28 days, at most what all snapshots could take."""
    window = slice(max(cut - 28 * DAY_H, 0), cut)
    snapshots, size = series.states("live_snapshots")[window], series.states("metadata_bytes")[window]
    known = np.isfinite(snapshots) & np.isfinite(size)
    if known.sum() < DAY_H or np.ptp(snapshots[known]) <= 0:
        return 0.0
    slope = float(np.polyfit(snapshots[known], size[known], 1)[0])
    return min(max(slope, 0.0), all_bytes / max(float(snapshots[known][-1]), 1.0))


def _state(series: HistoryGrid, metric: str, cut: int) -> float:
    return float(series.states(metric)[cut - 1]) if cut > 0 else float("nan")
