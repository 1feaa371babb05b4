"""Training questions from each table's own history: earlier cut-offs, newly drawn thresholds, and observed outcomes.

Labels end before the end of the series, features before the cut-off, and a threshold depends on the level at its
cut-off alone: the one that a user set was chosen from what came later.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from limnograph.analysis.forecast.features import Futures, cross_features, path_scale, quantile_features
from limnograph.analysis.forecast.grid import DAY_H, Floats, Longs
from limnograph.analysis.forecast.series import HistoryGrid
from limnograph.analysis.forecast.views import METRICS, LevelView, ViewBlock, view_block

_CHUNK = 512
_LEAST_HISTORY_H = 24


class PastQuestions(NamedTuple):
    """Rows of the classifier: `cross`, `crossed`; of the quantiles: `quantile`, `moved` (log ratio of the level), with
    its `centre` and `width` by the bootstrap. `_hours`: horizon of each row; `_ends`: hour when its outcome was known.
    """

    cross: Floats
    crossed: Floats
    cross_hours: Longs
    cross_metric: Longs
    cross_ends: Longs
    quantile: Floats
    moved: Floats
    centre: Floats
    width: Floats
    quantile_hours: Longs
    quantile_metric: Longs
    quantile_ends: Longs


def past_questions(
    series: Sequence[HistoryGrid],
    cuts: Sequence[Sequence[int]],
    horizons: Sequence[int],
    seed: int,
    thresholds: int = 1,
) -> PastQuestions:
    """Questions at `cuts` (indexes of each series' levels) whose outcome is known within the series."""
    rng = np.random.default_rng(seed)
    parts: list[PastQuestions] = []
    views = [view for each, own in zip(series, cuts, strict=True) for view in _views(each, own)]
    for first in range(0, len(views), _CHUNK):
        parts += _asked(views[first : first + _CHUNK], horizons, rng, thresholds)
    return joined(parts)


def joined(parts: Sequence[PastQuestions]) -> PastQuestions:
    """All questions in one."""
    return PastQuestions(*(np.concatenate(each) for each in zip(*parts, strict=True))) if parts else _NONE


def draw_thresholds(block: ViewBlock, rng: np.random.Generator) -> Floats:
    """A threshold above each level, as users set them: some way above the level of now, or near the recent peak."""
    level = block.level
    top = np.fmax.reduce(block.levels[:, -1 - 14 * DAY_H :], axis=1)
    above = level * np.exp(rng.uniform(0.02, 1.5, level.size))
    near = top * np.exp(rng.uniform(-0.25, 0.7, level.size))
    found = np.where((rng.random(level.size) < 0.5) & (near > level * 1.01), near, above)
    return np.where(found > 0, found, np.exp(rng.uniform(0, 6, level.size)))


def _views(series: HistoryGrid, cuts: Sequence[int]) -> Iterator[LevelView]:
    for cut in cuts:
        if cut < _LEAST_HISTORY_H:
            continue
        for metric in METRICS:
            levels = series.levels(metric)
            if np.isfinite(levels[cut]) and np.isfinite(levels[-1]) and np.fmax.reduce(levels) > 0:
                yield LevelView(series, cut, metric)


def _asked(
    views: Sequence[LevelView], horizons: Sequence[int], rng: np.random.Generator, thresholds: int
) -> Iterator[PastQuestions]:
    block = view_block(views)
    futures = Futures.drawn(block, -(-max(horizons) // DAY_H))
    after = [view.series.levels(view.metric)[view.cut + 1 :] for view in views]
    end = np.array([view.series.start + view.cut for view in views])
    for hours in horizons:
        known = np.flatnonzero([each.size >= hours for each in after])
        if not known.size:
            continue
        last = np.array([after[row][hours - 1] for row in known])
        highest = np.array([np.fmax.reduce(after[row][:hours]) for row in known])
        level, floor = block.level[known], block.floor[known]
        moved = np.clip(np.log((last + floor) / (level + floor)), -6, 6)
        centre, width = path_scale(block, futures, hours)
        asked = []
        for _ in range(thresholds):
            limit = draw_thresholds(block, rng)
            asked.append((cross_features(block, futures, limit, hours)[known], highest >= limit[known]))
        count = len(asked)
        yield PastQuestions(
            cross=np.concatenate([each[0] for each in asked]),
            crossed=np.concatenate([each[1] for each in asked]).astype(np.float64),
            cross_hours=np.full(count * known.size, hours),
            cross_metric=np.tile(block.metric[known], count),
            cross_ends=np.tile(end[known] + hours, count),
            quantile=quantile_features(block, futures, hours)[known],
            moved=moved,
            centre=centre[known],
            width=width[known],
            quantile_hours=np.full(known.size, hours),
            quantile_metric=block.metric[known],
            quantile_ends=end[known] + hours,
        )


_E, _L = np.zeros(0), np.zeros(0, np.int64)
_NONE = PastQuestions(np.zeros((0, 1)), _E, _L, _L, _L, np.zeros((0, 1)), _E, _E, _E, _L, _L, _L)
