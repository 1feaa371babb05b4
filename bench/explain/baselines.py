"""Four simple methods that any explanation must beat: nearest earlier commit, biggest commit, KS2 with
Benjamini-Hochberg, and the lagged Pearson correlation. numpy only; no control job, no prior, no abstention.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from explain.cases import DAY, Answer, Case, Labelled
from explain.commit_laws import FEATURES

Ranking = list[tuple[str, float]]
Rank = Callable[[Case], Ranking]
WINDOW = 36
AFTER, BEFORE = 12, 48
LAGS = 61
FALSE_DISCOVERIES = 0.05


def _job(case: Case) -> tuple[np.ndarray, np.ndarray]:
    """Times (ms) and log durations of the runs with known durations, in order."""
    times = np.array(case["job"]["times"], float)
    seconds = np.array([np.nan if each is None else each for each in case["job"]["duration_seconds"]], float)
    known = np.isfinite(times) & (seconds > 0)
    order = np.argsort(times[known], kind="stable")
    return times[known][order], np.log(seconds[known][order])


def _commit_times(case: Case) -> np.ndarray:
    return np.array([each["committed_at"] for each in case["commits"]], float)


def _features(case: Case) -> np.ndarray:
    """Log features, one row per commit; unknown values count as zero, as in a simple method."""
    return np.log1p(np.array([[each[name] or 0 for name in FEATURES] for each in case["commits"]], float))


def _without_day(times: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Values minus the median of each two-hour window of the day."""
    slot = ((times % DAY) // (DAY / 12)).astype(int)
    profile = np.array([np.median(values[slot == each]) if (slot == each).any() else 0.0 for each in range(12)])
    return values - profile[slot]


def _change(times: np.ndarray, values: np.ndarray) -> tuple[float, float]:
    """Time and size of the clearest rise: mean of 36 runs after minus mean of 36 before, in units of its spread."""
    width = min(WINDOW, len(values) // 4)
    if width < 2:
        return float(times[-1]) if len(times) else 0.0, 0.0
    sums = np.concatenate([[0.0], np.cumsum(values)])
    middle = np.arange(width, len(values) - width)
    rise = (sums[middle + width] - 2 * sums[middle] + sums[middle - width]) / width
    spread = float(np.median(np.abs(rise - np.median(rise)))) or 1.0
    best = int(np.argmax(rise))
    return float(times[middle[best]]), float(rise[best]) / spread


def nearest_earlier(case: Case) -> Ranking:
    """Commits before the clearest rise (or the selection), latest first."""
    times, values = _job(case)
    onset, size = _change(times, _without_day(times, values))
    if case["selection"]:
        onset = case["selection"]["from"]
    earlier = sorted((each for each in case["commits"] if each["committed_at"] <= onset), key=_newest_first)
    return [(each["id"], size / (1 + place)) for place, each in enumerate(earlier)]


def _newest_first(commit: dict[str, Any]) -> int:
    return -int(commit["committed_at"])


def biggest(case: Case) -> Ranking:
    """Commits by files touched, regardless of their time."""
    files = [
        sum(each[name] or 0 for name in ("added_data_files", "removed_data_files", "added_delete_files"))
        for each in case["commits"]
    ]
    middle = float(np.median(files)) if files else 0.0
    ranked = sorted(zip(case["commits"], files, strict=True), key=lambda pair: -pair[1])
    return [(each["id"], np.log1p(size) - np.log1p(middle)) for each, size in ranked]


def _kolmogorov(case: Case) -> tuple[list[str], np.ndarray]:
    """Ids of the commits that have runs on both sides, and the p-value of KS2: 12 runs after against 48 before."""
    times, values = _job(case)
    values = _without_day(times, values)
    at = np.searchsorted(times, _commit_times(case))
    usable = np.flatnonzero((at >= BEFORE) & (at + AFTER <= len(values)))
    if not len(usable):
        return [], np.empty(0)
    windows = values[at[usable][:, None] + np.arange(-BEFORE, AFTER)]
    weight = np.concatenate([np.full(BEFORE, -1 / BEFORE), np.full(AFTER, 1 / AFTER)])
    distance = np.abs(np.cumsum(weight[np.argsort(windows, axis=1)], axis=1)).max(axis=1)
    size = BEFORE * AFTER / (BEFORE + AFTER)
    scaled = (np.sqrt(size) + 0.12 + 0.11 / np.sqrt(size)) * distance
    terms = np.arange(1, 101)
    p = 2 * ((-1.0) ** (terms - 1) * np.exp(-2 * (scaled[:, None] * terms) ** 2)).sum(axis=1)
    return [case["commits"][index]["id"] for index in usable], np.clip(p, 1e-300, 1)


def kolmogorov_blames(case: Case) -> Answer:
    """Commits by p-value of KS2; those that Benjamini-Hochberg rejects at 5 % are blamed."""
    ids, p = _kolmogorov(case)
    order = np.argsort(p, kind="stable")
    limits = FALSE_DISCOVERIES * np.arange(1, len(p) + 1) / max(len(p), 1)
    below = np.flatnonzero(p[order] <= limits)
    rejected = order[: below[-1] + 1] if len(below) else []
    return _answer([(ids[index], -float(np.log(p[index]))) for index in order], {ids[index] for index in rejected})


def lagged_pearson(case: Case) -> Ranking:
    """Commits by correlation of the job with their table's cumulated feature, at the best of 60 lags (by FFT),
    times the commit's relative size in its table."""
    times, values = _job(case)
    if len(times) < 2 * LAGS or not case["commits"]:
        return []
    grid = np.linspace(times[0], times[-1], len(times))
    job = _standard(np.interp(grid, times, _without_day(times, values)))
    size = 1 << (2 * len(grid) - 1).bit_length()
    spectrum = np.fft.rfft(job, size)
    features, at = _features(case), np.clip(np.searchsorted(grid, _commit_times(case)), 0, len(grid) - 1)
    tables = np.array([each["table"] for each in case["commits"]])
    score = np.zeros(len(tables))
    for table in np.unique(tables):
        rows = np.flatnonzero(tables == table)
        middle = np.median(features[rows], axis=0)
        spread = 1.4826 * np.median(np.abs(features[rows] - middle), axis=0) + 0.05
        z = np.clip((features[rows] - middle) / spread, 0, 50)
        level = np.zeros((len(FEATURES), len(grid)))
        np.add.at(level.T, at[rows], z)
        level = np.apply_along_axis(_standard, 1, np.cumsum(level, axis=1))
        lagged = np.fft.irfft(spectrum * np.conj(np.fft.rfft(level, size)), size)[:, :LAGS].max(axis=1) / len(grid)
        score[rows] = (np.clip(lagged, 0, None) * z / (z + 3)).max(axis=1)
    order = np.argsort(-score, kind="stable")
    return [(case["commits"][index]["id"], float(score[index])) for index in order]


def _standard(values: np.ndarray) -> np.ndarray:
    """Values without a linear trend, scaled to unit spread."""
    x = np.linspace(-1, 1, len(values))
    flat = values - values.mean() - x * (values @ x) / (x @ x)
    return flat / (flat.std() or 1.0)


def _answer(ranking: Ranking, blamed: set[str]) -> Answer:
    """An answer in the product's format; simple methods have no posterior and no onset."""
    hypotheses = [{"kind": "commit", "commit_id": name, "posterior": None} for name, _ in ranking]
    return {"changes": [], "hypotheses": hypotheses, "blamed": sorted(blamed)}


RANKINGS: dict[str, Rank] = {
    "nearest earlier commit": nearest_earlier,
    "biggest commit": biggest,
    "lagged Pearson": lagged_pearson,
}


def calibrated(rank: Rank, labelled: list[Labelled]) -> Callable[[Case], Answer]:
    """The ranking with the blame threshold that has the best F1 over commits on these cases."""
    scored = [(score, name in each.truth.guilty) for each in labelled for name, score in rank(each.case)]
    scored.sort(reverse=True)
    true = sum(len(each.truth.guilty) for each in labelled)
    hits = np.cumsum([guilty for _, guilty in scored])
    f1 = 2 * hits / (np.arange(1, len(scored) + 1) + true)
    threshold = scored[int(np.argmax(f1))][0]
    return lambda case: _threshold(rank(case), threshold)


def _threshold(ranking: Ranking, threshold: float) -> Answer:
    return _answer(ranking, {name for name, score in ranking if score >= threshold})


def baselines(calibration: list[Labelled]) -> dict[str, Callable[[Case], Answer]]:
    """All four by name, with thresholds fixed on the calibration split."""
    ranked = {name: calibrated(rank, calibration) for name, rank in RANKINGS.items()}
    return {**ranked, "KS2 + BH 5 %": kolmogorov_blames}
