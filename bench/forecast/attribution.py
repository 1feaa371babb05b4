"""The choice of a reader's driver, learnt where the driver is known: futures of the first generator, of its kinds and
of tables that mix them (`mixtures.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from forecast.fleets import (
    EPOCH_HOUR,
    READER_METRICS,
    Sight,
    draw_threshold,
    driver_of,
    observed,
    skipped_hours,
    true_levels,
)
from forecast.kinds import KINDS, draw_params
from forecast.laws import Floats, Params, SharedLoad, World
from forecast.mixtures import mixed_params
from limnograph.analysis.forecast.choice import tree_signs
from limnograph.analysis.forecast.drivers import WEIGHTS, candidates, choice_signs
from limnograph.analysis.forecast.following import STRUCTURE
from limnograph.analysis.forecast.forecaster import Forecaster
from limnograph.analysis.forecast.model import Model
from limnograph.analysis.forecast.series import HistoryGrid
from limnograph.analysis.forecast.trees import Trees, from_boosting
from limnograph.domain.forecasts.cases import ForecastCase, ForecastTarget

SEEDS = (*range(96_000, 96_050), *range(97_000, 97_050))
MIXED_FROM = 97_000
"""Fleets of seeds from here on mix kinds."""
TABLES = 80
PATHS = 8
THRESHOLDS = 3
"""Thresholds that are drawn for each reader."""
_RIDGE = 3.0
_STEPS = 25
_NEVER = -1e9


class DriverQuestion(NamedTuple):
    """A reader with a threshold that it crosses. `signs`: `[part, WEIGHTS]`; `tree_signs`: `[part, TREE_SIGNS]`;
    `open`: parts that may be named; `truth`: share of the futures that cross because of each part.
    """

    kind: str
    metric: str
    signs: Floats
    tree_signs: Floats
    open: npt.NDArray[np.bool_]
    truth: Floats


class CrossingCase(NamedTuple):
    """A table whose readers cross. `counted`: thresholds, and how often each part was the driver of a crossing."""

    case: ForecastCase
    kind: str
    counted: list[tuple[ForecastTarget, Counter[str]]]


def driver_questions(model: Model, seed: int, tables: int = TABLES) -> list[DriverQuestion]:
    """Questions of one fleet."""
    drawn = list(_crossing(seed, tables))
    targets = [[target for target, _ in each.counted] for each in drawn]
    asked = Forecaster(model).reader_asks([each.case for each in drawn], targets)
    found = []
    for each, questions in zip(drawn, asked, strict=True):
        for own, (_, counts) in zip(questions, each.counted, strict=True):
            truth = np.array([counts[name] for name in STRUCTURE], np.float64)
            possible = np.isin(STRUCTURE, candidates(own.metric, own.moves))
            if possible.any():
                signs = choice_signs(own.metric, own.moves)
                found.append(DriverQuestion(each.kind, own.metric, signs, tree_signs(own), possible, truth / PATHS))
    return found


def fit_choice(asked: Sequence[DriverQuestion]) -> Floats:
    """Weights of a conditional logit with a ridge, by Newton's method."""
    signs, weights = np.stack([each.signs for each in asked]), np.zeros(WEIGHTS)
    possible = np.stack([each.open for each in asked])
    truth = np.stack([each.truth * each.open for each in asked])
    happened = truth.sum(axis=1, keepdims=True)
    for _ in range(_STEPS):
        logs = np.where(possible, signs @ weights, _NEVER)
        p = np.exp(logs - logs.max(axis=1, keepdims=True)) * possible
        p *= happened / p.sum(axis=1, keepdims=True)
        gradient = np.einsum("qpw,qp->w", signs, truth - p) - _RIDGE * weights
        mean = np.einsum("qpw,qp->qw", signs, p)
        spread = np.einsum("qpw,qpv,qp->wv", signs, signs, p) - mean.T @ (mean / np.maximum(happened, 1e-9))
        weights = weights + np.linalg.solve(spread + _RIDGE * np.eye(WEIGHTS), gradient)
    return weights


def fit_choice_trees(asked: Sequence[DriverQuestion], rounds: int = 100) -> Trees:
    """Trees that say of a part whether it is the driver. Each part that may be named is a row that it is, weighed by
    the futures where it was, and a row that it is not.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier

    possible = np.stack([each.open for each in asked])
    rows = np.stack([each.tree_signs for each in asked])[possible]
    truth = np.stack([each.truth for each in asked])
    was = truth[possible]
    was_not = (truth.sum(axis=1, keepdims=True) - truth)[possible]
    weight = np.concatenate([was, was_not])
    some = weight > 0
    boosted = HistGradientBoostingClassifier(
        max_iter=rounds,
        learning_rate=0.06,
        max_leaf_nodes=8,
        min_samples_leaf=40,
        max_bins=63,
        l2_regularization=2.0,
        max_features=0.5,
        early_stopping=False,
        random_state=1,
    ).fit(np.concatenate([rows, rows])[some], np.repeat([1, 0], len(rows))[some], sample_weight=weight[some])
    return from_boosting(boosted)


def right_share(asked: Sequence[DriverQuestion], scores: Sequence[Floats]) -> float:
    """Share of the crossings whose driver has the largest score. `scores`: of each part, by question."""
    named = [np.where(each.open, own, _NEVER).argmax() for each, own in zip(asked, scores, strict=True)]
    right = sum(each.truth[place] for each, place in zip(asked, named, strict=True))
    return float(right / sum(each.truth.sum() for each in asked))


def _crossing(seed: int, tables: int) -> Iterator[CrossingCase]:
    """Tables whose readers cross in some of their futures."""
    rng = np.random.default_rng(seed)
    names = list(KINDS)
    kinds = [names[int(place)] for place in rng.permutation(tables) % len(names)]
    days = int(rng.choice([12, 20, 35, 50, 60]))
    horizons = [24, 168, 720] if days >= 45 else [24, 168]
    ahead, hours = horizons[-1], days * 24 + int(rng.integers(24))
    params = mixed_params(rng, kinds) if seed >= MIXED_FROM else draw_params(rng, kinds)
    start = EPOCH_HOUR + 24 * int(rng.integers(0, 300))
    load = SharedLoad(rng, start)
    before = load.draw(rng, 0, hours, 1)
    after = load.ahead(rng, before, ahead, PATHS)
    world = World(params, start, rng)
    past = world.run(hours, before)
    future = world.fork(PATHS, seed + 1).run(ahead, after)
    for row, kind in enumerate(kinds):
        seen = Sight(start, hours, skipped_hours(rng, hours), horizons)
        case = observed((past, row), float(params["target_file_bytes"][row, 0]), seen, rng, f"d{seed}-{row}")
        series, levels = HistoryGrid(case), true_levels(past, future, row, hours)
        counted = []
        for metric in READER_METRICS:
            known = series.levels(metric)
            if known[-1] > 0 and np.isfinite(levels[metric]).all():
                for threshold in [draw_threshold(known, rng) for _ in range(THRESHOLDS)]:
                    counts = _drivers(metric, levels[metric], (future, row), threshold)
                    if counts:
                        counted.append((ForecastTarget(metric=metric, threshold=threshold), counts))
        if counted:
            first = {target.metric: target for target, _ in reversed(counted)}
            yield CrossingCase(msgspec.structs.replace(case, targets=list(first.values())), kind, counted)


def _drivers(metric: str, levels: Floats, future: tuple[Params, int], threshold: float) -> Counter[str]:
    found: Counter[str] = Counter()
    rows, row = future
    for path, level in enumerate(levels):
        crossed = np.flatnonzero(level[1:] >= threshold) if level[0] < threshold else np.zeros(0)
        if crossed.size:
            own = {name: rows[name][:, :, path : path + 1] for name in rows}
            driver = driver_of(metric, (own, row), int(crossed[0]) + 1)
            if driver:
                found[driver] += 1
    return found
