"""Weights of the choice of a reader's driver, learnt where the driver is known: futures of the first generator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from forecast.fleets import EPOCH_HOUR, READER_METRICS, Sight, driver_of, observed, skipped_hours, true_levels
from forecast.kinds import KINDS, draw_params
from forecast.laws import Floats, Params, SharedLoad, World
from limnograph.analysis.forecast.drivers import WEIGHTS, candidates, choice_signs
from limnograph.analysis.forecast.following import STRUCTURE
from limnograph.analysis.forecast.forecaster import Forecaster
from limnograph.analysis.forecast.model import Model
from limnograph.analysis.forecast.series import HistoryGrid
from limnograph.domain.forecasts.cases import ForecastCase, ForecastTarget

SEEDS = range(95_000, 95_024)
TABLES = 80
PATHS = 8
AHEAD_H = 168
THRESHOLDS = 3
"""Thresholds that are drawn for each future."""
_RIDGE = 3.0
_STEPS = 25
_NEVER = -1e9


class DriverQuestion(NamedTuple):
    """A reader that crosses. `signs`: `[part, WEIGHTS]`; `open`: parts that may be named; `truth`: share of the
    crossings that each part was the driver of.
    """

    kind: str
    metric: str
    signs: Floats
    open: Floats
    truth: Floats


def driver_questions(model: Model, seed: int, tables: int = TABLES) -> list[DriverQuestion]:
    """Questions of one fleet."""
    drawn = list(_readers(seed, tables))
    moves = Forecaster(model).part_moves([case for case, _, _ in drawn])
    found = []
    for (_, kind, counted), own in zip(drawn, moves, strict=True):
        for metric, counts in counted.items():
            truth = np.array([counts[name] for name in STRUCTURE], np.float64)
            named = candidates(metric, own[metric])
            if named and truth.sum():
                possible = np.array([name in named for name in STRUCTURE], np.float64)
                signs = choice_signs(metric, own[metric])
                found.append(DriverQuestion(kind, metric, signs, possible, truth / truth.sum()))
    return found


def fit_choice(asked: Sequence[DriverQuestion]) -> Floats:
    """Weights of a conditional logit with a ridge, by Newton's method."""
    signs, weights = np.stack([each.signs for each in asked]), np.zeros(WEIGHTS)
    possible = np.stack([each.open for each in asked])
    truth = np.stack([each.truth * each.open for each in asked])
    happened = truth.sum(axis=1, keepdims=True)
    for _ in range(_STEPS):
        logs = np.where(possible > 0, signs @ weights, _NEVER)
        p = np.exp(logs - logs.max(axis=1, keepdims=True)) * possible
        p *= happened / p.sum(axis=1, keepdims=True)
        gradient = np.einsum("qpw,qp->w", signs, truth - p) - _RIDGE * weights
        mean = np.einsum("qpw,qp->qw", signs, p)
        spread = np.einsum("qpw,qpv,qp->wv", signs, signs, p) - mean.T @ (mean / np.maximum(happened, 1e-9))
        weights = weights + np.linalg.solve(spread + _RIDGE * np.eye(WEIGHTS), gradient)
    return weights


def right_share(asked: Sequence[DriverQuestion], weights: Floats) -> float:
    """Share of the crossings whose driver these weights name."""
    named = [np.where(each.open > 0, each.signs @ weights, _NEVER).argmax() for each in asked]
    return float(np.mean([each.truth[place] for each, place in zip(asked, named, strict=True)]))


def _readers(seed: int, tables: int) -> Iterator[tuple[ForecastCase, str, dict[str, Counter[str]]]]:
    """Cases that ask about readers, their kind, and how often each part was the driver, by metric."""
    rng = np.random.default_rng(seed)
    names = list(KINDS)
    kinds = [names[int(place)] for place in rng.permutation(tables) % len(names)]
    hours = int(rng.choice([12, 20, 35, 50, 60])) * 24 + int(rng.integers(24))
    params = draw_params(rng, kinds)
    start = EPOCH_HOUR + 24 * int(rng.integers(0, 300))
    load = SharedLoad(rng, start)
    before = load.draw(rng, 0, hours, 1)
    after = load.ahead(rng, before, AHEAD_H, PATHS)
    world = World(params, start, rng)
    past = world.run(hours, before)
    future = world.fork(PATHS, seed + 1).run(AHEAD_H, after)
    for row, kind in enumerate(kinds):
        seen = Sight(start, hours, skipped_hours(rng, hours), [24, AHEAD_H])
        case = observed((past, row), float(params["target_file_bytes"][row, 0]), seen, rng, f"d{seed}-{row}")
        series, levels = HistoryGrid(case), true_levels(past, future, row, hours)
        known = [each for each in READER_METRICS if series.levels(each)[-1] > 0 and np.isfinite(levels[each]).all()]
        targets = [ForecastTarget(metric=each, threshold=float(series.levels(each)[-1])) for each in known]  # type: ignore[arg-type]
        counted = {each: _drivers(each, levels[each], (future, row), rng) for each in known}
        yield msgspec.structs.replace(case, targets=targets), kind, counted


def _drivers(metric: str, levels: Floats, future: tuple[Params, int], rng: np.random.Generator) -> Counter[str]:
    found: Counter[str] = Counter()
    rows, row = future
    for path, level in enumerate(levels):
        own = {name: values[:, :, path : path + 1] for name, values in rows.items()}
        for threshold in level[0] * np.exp(rng.uniform(0.03, 0.8, THRESHOLDS)):
            crossed = np.flatnonzero(level[1:] >= threshold)
            driver = driver_of(metric, (own, row), int(crossed[0]) + 1) if crossed.size else None
            if driver:
                found[driver] += 1
    return found
