"""How right replayed forecasts were, beside methods without a model. Pure. Standard errors resample tables: forecasts
of one table at several cut-offs are not independent.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

import numpy as np

from limnograph.analysis.forecast.grid import Floats
from limnograph.analysis.forecast_rows.replay import NOW, SEASON, TREND, ReplayedForecast
from limnograph.domain.forecasts.backtest import HorizonScore, MethodScore

MODEL = "Limnograph"
_RESAMPLES = 80
_BINS = 10


def horizon_scores(found: Sequence[ReplayedForecast]) -> list[HorizonScore]:
    """Scores by horizon, shortest first."""
    return [
        _scored(hours, [each for each in found if each.hours == hours]) for hours in sorted({e.hours for e in found})
    ]


def wait_errors(found: Sequence[ReplayedForecast]) -> tuple[int, float | None, float | None]:
    """Number of crossings that were given a time, and the median error over the wait of that time, and of the trend's.
    Of each target and cut-off the longest horizon counts.
    """
    longest: dict[tuple[str, str, int], ReplayedForecast] = {}
    for each in found:
        key = each.table, each.metric, each.origin
        if key not in longest or longest[key].hours < each.hours:
            longest[key] = each
    due = [(each, each.waited_hours) for each in longest.values() if each.waited_hours]
    timed = [abs(each.wait_hours - waited) / waited for each, waited in due if each.wait_hours is not None]
    trends = [abs(each.trend_wait_hours - waited) / waited for each, waited in due if each.trend_wait_hours is not None]
    return len(timed), _median(timed), _median(trends)


def average_precision(crossed: Floats, score: Floats) -> float:
    """Area under precision over recall, by steps; ties count together. NaN: nothing crossed."""
    if not crossed.sum():
        return float("nan")
    order = np.argsort(-score, kind="stable")
    hits = np.cumsum(crossed[order])
    last = np.append(np.flatnonzero(np.diff(score[order])), score.size - 1)
    recall, precision = hits[last] / crossed.sum(), hits[last] / (last + 1)
    return float((np.diff(recall, prepend=0.0) * precision).sum())


def calibration_error(crossed: Floats, p: Floats) -> float:
    """Mean distance of mean probability and frequency over ten bins of equal width, weighted by size."""
    place = np.minimum((p * _BINS).astype(int), _BINS - 1)
    gap = np.abs(np.bincount(place, p, _BINS) - np.bincount(place, crossed, _BINS))
    return float(gap.sum() / max(p.size, 1))


def _scored(hours: int, found: Sequence[ReplayedForecast]) -> HorizonScore:
    p, crossed = np.array([each.p or 0.0 for each in found]), np.array([each.crossed for each in found], float)
    inside = [each.low <= each.level <= each.high for each in found if each.low is not None and each.high is not None]
    return HorizonScore(
        hours=hours,
        forecasts=len(found),
        targets=len({(each.table, each.metric) for each in found}),
        crossed=_rounded(crossed.mean()) or 0.0,
        brier=_rounded(((p - crossed) ** 2).mean()) or 0.0,
        calibration_error=_rounded(calibration_error(crossed, p)) or 0.0,
        coverage=_rounded(np.mean(inside)) if inside else None,
        methods=[_method(MODEL, found, lambda e: e.p or 0.0, lambda e: e.middle), *_plain_methods(found)],
    )


def _plain_methods(found: Sequence[ReplayedForecast]) -> list[MethodScore]:
    return [
        _method(
            name,
            found,
            lambda each, name=name: float(np.log((each.plain[name].peak + 1e-9) / each.threshold)),  # type: ignore[misc]
            lambda each, name=name: each.plain[name].level,  # type: ignore[misc]
        )
        for name in (NOW, TREND, SEASON)
    ]


def _method(
    name: str,
    found: Sequence[ReplayedForecast],
    score: Callable[[ReplayedForecast], float],
    level: Callable[[ReplayedForecast], float | None],
) -> MethodScore:
    scores, crossed = np.array([score(each) for each in found]), np.array([each.crossed for each in found], float)
    errors = [
        abs(float(np.log((said + _smallest(each)) / (each.level + _smallest(each)))))
        for each in found
        if (said := level(each)) is not None
    ]
    return MethodScore(
        method=name,
        precision_recall=_rounded(average_precision(crossed, scores)),
        standard_error=_rounded(_error(found, crossed, scores)),
        level_error=_median(errors),
    )


def _error(found: Sequence[ReplayedForecast], crossed: Floats, scores: Floats) -> float:
    rows = defaultdict(list)
    for place, each in enumerate(found):
        rows[each.table].append(place)
    groups, rng = [np.array(each) for each in rows.values()], np.random.default_rng(3)
    drawn = []
    for _ in range(_RESAMPLES):
        chosen = np.concatenate([groups[place] for place in rng.integers(len(groups), size=len(groups))])
        drawn.append(average_precision(crossed[chosen], scores[chosen]))
    known = [each for each in drawn if np.isfinite(each)]
    return float(np.std(known)) if known else float("nan")


def _smallest(each: ReplayedForecast) -> float:
    """So that a level near 0 does not count as a large ratio."""
    return 0.02 * each.threshold


def _median(values: Sequence[float]) -> float | None:
    return _rounded(np.median(values)) if values else None


def _rounded(value: float | np.floating) -> float | None:
    return round(float(value), 4) if np.isfinite(value) else None
