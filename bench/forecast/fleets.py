"""Fleets of cases with their truth: a past, observed with its gaps, and the futures that the law allows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from forecast.kinds import KINDS, draw_params
from forecast.laws import COSTS, STATES, SUMS, Floats, Params, SharedLoad, World
from limnograph.analysis.forecast.series import GIB, HistoryGrid
from limnograph.domain.forecasts.cases import FactColumns, ForecastCase, ForecastTarget, ReaderRuns

EPOCH_HOUR = 498_000
HOUR_MS = 3_600_000
PATHS = 48
READER_METRICS = ("reader_seconds_per_gib", "reader_seconds")


class Sight(NamedTuple):
    """What is seen of a table: `hours` from `start` on without the first `skipped`; which horizons are asked."""

    start: int
    hours: int
    skipped: int
    horizons: Sequence[int]


class Futures(NamedTuple):
    """Levels `[path, hour]` of a table's futures, the same after maintenance, and the rows of the former."""

    levels: dict[str, Floats]
    maintained: dict[str, Floats]
    rows: Params
    row: int


@dataclass(frozen=True)
class TargetTruth:
    """`crossed[h]`, `level[h]` by horizon; `oracle`: probability by the law; `maintained`: the same after maintenance;
    `low`, `high`: 80 % of the level by the law; `hour`: of the crossing; `driver`: of a reader that crossed.
    """

    metric: str
    red: bool
    crossed: dict[int, bool]
    level: dict[int, float]
    oracle: dict[int, float]
    maintained: dict[int, float]
    low: dict[int, float]
    high: dict[int, float]
    hour: int | None
    driver: str | None


@dataclass(frozen=True)
class JudgedCase:
    """A case, its kind, and the truth of each target."""

    case: ForecastCase
    kind: str
    harmless: bool
    hard: bool
    truth: tuple[TargetTruth, ...]


def histories(seed: int, tables: int, days: int) -> list[ForecastCase]:
    """Long pasts of one fleet, to train on; without targets."""
    rng = np.random.default_rng(seed)
    names = list(KINDS)
    kinds = [names[int(place)] for place in rng.integers(len(names), size=tables)]
    params = draw_params(rng, kinds)
    start = EPOCH_HOUR + 24 * int(rng.integers(0, 300))
    world = World(params, start, rng)
    hours = days * 24
    rows = world.run(hours, SharedLoad(rng, start).draw(rng, 0, hours, 1))
    found = []
    for row in range(tables):
        skipped = int(rng.choice([0, 0, 24 * rng.integers(1, 30)]))
        seen = Sight(start, hours, skipped, [])
        found.append(observed((rows, row), float(params["target_file_bytes"][row, 0]), seen, rng, f"t{row}"))
    return found


def readers_fleet(seed: int, tables: int) -> list[JudgedCase]:
    """Cases that ask about readers alone, to judge drivers: one outcome, and no oracle to speak of."""
    return judged_fleet(seed, tables, paths=2, metrics=READER_METRICS)


def judged_fleet(seed: int, tables: int, paths: int = PATHS, metrics: Sequence[str] = ()) -> list[JudgedCase]:
    """Cases of one fleet with their truth. `metrics`: that are asked about; default: those of the kind."""
    rng = np.random.default_rng(seed)
    names = list(KINDS)
    kinds = [names[int(place)] for place in rng.permutation(tables) % len(names)]
    days = int(rng.choice([12, 20, 35, 50, 60]))
    horizons = [24, 168, 720] if days >= 45 else [24, 168]
    params = draw_params(rng, kinds)
    start = EPOCH_HOUR + 24 * int(rng.integers(0, 300))
    hours = days * 24 + int(rng.integers(24))
    load = SharedLoad(rng, start)
    before = load.draw(rng, 0, hours, 1)
    after = load.ahead(rng, before, max(horizons), paths)
    world = World(params, start, rng)
    past = world.run(hours, before)
    ahead = world.fork(paths, seed + 1)
    future = ahead.run(max(horizons), after)
    cared = world.fork(paths, seed + 1)
    cared.maintain()
    cared_future = cared.run(max(horizons), after)
    found = []
    for row, kind in enumerate(kinds):
        seen = Sight(start, hours, skipped_hours(rng, hours), horizons)
        case = observed((past, row), float(params["target_file_bytes"][row, 0]), seen, rng, f"f{seed}-{row}")
        levels = true_levels(past, future, row, hours)
        kept = true_levels(past, cared_future, row, hours)
        case, truth = ask(case, metrics or KINDS[kind].metrics, Futures(levels, kept, future, row), rng)
        found.append(JudgedCase(case, kind, KINDS[kind].harmless, KINDS[kind].hard, truth))
    return found


def skipped_hours(rng: np.random.Generator, hours: int) -> int:
    """Hours before the table was first seen: a young table, or one that is observed since recently."""
    return hours - int(rng.integers(30, 24 * 9)) if rng.random() < 0.08 else int(rng.choice([0, 0, 0, hours // 3]))


def observed(
    table: tuple[Params, int], target: float, seen_as: Sight, rng: np.random.Generator, name: str
) -> ForecastCase:
    """A table as it is observed: rows of hours with commits, daily rows before 28 days, nulls, outages, lost rows."""
    rows, row = table
    start, hours, skipped, horizons = seen_as
    commits = rows["commits"][:hours, row, 0]
    seen = np.flatnonzero(commits > 0)
    seen = seen[seen >= skipped]
    if rng.random() < 0.15:
        begun, length = rng.integers(hours), rng.integers(6, 60)
        seen = seen[(seen < begun) | (seen >= begun + length)]
    seen = seen[rng.random(seen.size) >= rng.choice([0.0, 0.0, 0.02, 0.1])]
    columns: dict[str, Any] = {name: rows[name][seen, row, 0].astype(np.float64) for name in (*STATES, *SUMS)}
    at, span = start + seen, np.ones(seen.size, np.int64)
    if horizons:
        at, span, columns = _aggregated(at, columns, start + hours)
    for column in (*STATES, *SUMS):
        share = rng.choice([0.0, 0.0, 0.03, 0.3]) if column in STATES else rng.choice([0.0, 0.0, 0.02])
        columns[column] = np.where(rng.random(at.size) < share, np.nan, columns[column])
    if rng.random() < 0.05:
        columns["skew_max_over_median"] = np.full(at.size, np.nan)
    columns["spec_id"] = np.zeros(at.size)
    return ForecastCase(
        id=name,
        fleet="",
        table=name,
        as_of=(start + hours) * HOUR_MS,
        first_seen=(start + skipped) * HOUR_MS,
        horizons_hours=list(horizons),
        target_file_bytes=target,
        facts=FactColumns(at=at * HOUR_MS, span_hours=span, **columns),
        targets=[],
        runs=_runs(rows, row, seen_as, rng),
    )


def _aggregated(at: Any, columns: dict[str, Any], end: int) -> tuple[Any, Any, dict[str, Any]]:
    """Rows older than 28 days become daily rows."""
    old = at < end - 28 * 24
    day = np.where(old, at // 24 * 24, at)
    first = np.concatenate([[True], day[1:] != day[:-1]]) if at.size else np.zeros(0, bool)
    last = np.append(np.flatnonzero(first)[1:] - 1, at.size - 1)[: first.sum()]
    group = np.cumsum(first) - 1
    found = {}
    for name, values in columns.items():
        found[name] = np.bincount(group, values, int(first.sum())) if name in SUMS else values[last]
    return day[first], np.where(old[first], 24, 1), found


def _runs(rows: Params, row: int, seen_as: Sight, rng: np.random.Generator) -> ReaderRuns:
    start, hours, skipped, _ = seen_as
    seconds = rows["seconds"][:hours, row, 0].astype(np.float64)
    ran = np.flatnonzero(np.isfinite(seconds))
    ran = ran[(ran >= skipped) & (rng.random(ran.size) >= 0.01)]
    if rng.random() < 0.05:
        ran = ran[:0]
    read = rows["read_bytes"][ran, row, 0].astype(np.float64)
    share = rng.choice([0.0, 0.0, 0.05, 0.4])
    return ReaderRuns(
        job=f"job-{row}",
        times=(start + ran) * HOUR_MS + rng.integers(0, 600_000, ran.size),
        duration_seconds=np.where(rng.random(ran.size) < 0.01, np.nan, seconds[ran]),
        read_bytes=np.where(rng.random(ran.size) < share, np.nan, read),
    )


def true_levels(past: Params, future: Params, row: int, hours: int) -> dict[str, Floats]:
    """Levels at each hour from the cut-off on: `[path, hour]`, hour 0 is the cut-off."""
    found = {}
    width = 24
    for name in (*STATES, "delete_ratio"):
        before, after = (_state(rows, name, row) for rows in (past, future))
        before = np.repeat(before[-width:], after.shape[1], axis=1)
        sums = np.cumsum(np.concatenate([np.zeros((1, after.shape[1])), before, after]), axis=0)
        found[name] = ((sums[width:] - sums[:-width]) / width).T
    seconds = _reader(past, future, row, "seconds")
    read = _reader(past, future, row, "read_bytes")
    found["reader_seconds"] = _reader_levels(seconds, hours)
    found["reader_seconds_per_gib"] = _reader_levels(seconds / (read / GIB), hours)
    return found


def _state(rows: Params, name: str, row: int) -> Floats:
    if name == "delete_ratio":
        return rows["total_position_deletes"][:, row] / np.maximum(rows["total_records"][:, row], 1.0)
    return rows[name][:, row].astype(np.float64)


def _reader(past: Params, future: Params, row: int, name: str) -> Floats:
    before, after = past[name][:, row].astype(np.float64), future[name][:, row].astype(np.float64)
    return np.concatenate([np.repeat(before, after.shape[1], axis=1), after])


def _reader_levels(values: Floats, hours: int) -> Floats:
    ran = np.flatnonzero(np.isfinite(values[:, 0]))
    ahead = values.shape[0] - hours
    if ran.size < 3:
        return np.full((values.shape[1], ahead + 1), np.nan)
    count = max(3, round(24 / float(np.median(np.diff(ran)))))
    windows = np.lib.stride_tricks.sliding_window_view(values[ran], min(count, ran.size), axis=0)
    medians = np.median(windows, axis=-1)
    last = np.searchsorted(ran, hours + np.arange(ahead + 1), side="left") - min(count, ran.size)
    return medians[np.clip(last, 0, len(medians) - 1)].T


def ask(
    case: ForecastCase, metrics: Sequence[str], futures: Futures, rng: np.random.Generator
) -> tuple[ForecastCase, tuple[TargetTruth, ...]]:
    """Targets with thresholds as users set them, from what is known at the cut-off, and the truth."""
    series = HistoryGrid(case)
    levels = futures.levels
    chosen = [metrics[int(place)] for place in rng.permutation(len(metrics))[: rng.integers(1, 4)]]
    if rng.random() < 0.3:
        chosen.append(str(rng.choice(["small_files", "live_snapshots", "manifests", "skew_max_over_median"])))
    targets, truths = [], []
    for metric in dict.fromkeys(chosen):
        seen = series.levels(metric)
        if not np.isfinite(seen[-1]) or seen[-1] <= 0 or not np.isfinite(levels[metric]).all():
            continue
        threshold = draw_threshold(seen, rng)
        targets.append(ForecastTarget(metric=metric, threshold=threshold))  # type: ignore[arg-type]
        truths.append(_truth(metric, threshold, futures, case.horizons_hours))
    return _with(case, targets), tuple(truths)


def draw_threshold(seen: Floats, rng: np.random.Generator) -> float:
    """A threshold as users set it: from the level of now or the top of two weeks, often a round number."""
    top = float(np.nanmax(seen[-24 * 14 :]))
    threshold = float(rng.choice([seen[-1] * np.exp(rng.uniform(-0.05, 1.3)), top * np.exp(rng.uniform(-0.15, 0.9))]))
    if rng.random() < 0.5:
        step = 10.0 ** np.floor(np.log10(threshold))
        threshold = float(np.ceil(threshold / step * 2) / 2 * step)
    return threshold


def _with(case: ForecastCase, targets: list[ForecastTarget]) -> ForecastCase:
    import msgspec

    return msgspec.structs.replace(case, targets=targets)


def _truth(metric: str, threshold: float, futures: Futures, horizons: Sequence[int]) -> TargetTruth:
    level, kept = futures.levels[metric], futures.maintained[metric]
    above = level[:, 1:] >= threshold
    cared = kept[1:, 1:] >= threshold
    crossing = np.flatnonzero(above[0])
    red = bool(level[0, 0] >= threshold)
    hour = int(crossing[0]) + 1 if crossing.size and not red else None
    return TargetTruth(
        metric=metric,
        red=red,
        crossed={h: bool(above[0, :h].any()) for h in horizons},
        level={h: float(level[0, h]) for h in horizons},
        oracle={h: float(above[1:, :h].any(axis=1).mean()) for h in horizons},
        maintained={h: float(cared[:, :h].any(axis=1).mean()) for h in horizons},
        low={h: float(np.quantile(level[1:, h], 0.1)) for h in horizons},
        high={h: float(np.quantile(level[1:, h], 0.9)) for h in horizons},
        hour=hour,
        driver=driver_of(metric, (futures.rows, futures.row), hour) if hour and metric.startswith("reader") else None,
    )


_LEAST_RISE = 0.03
"""Share of the cost that the driver's rise must be: below it, noise or load crossed the threshold."""


def driver_of(metric: str, future: tuple[Params, int], hour: int) -> str | None:
    """The cost that rose most until the crossing, per GiB of what is read where the metric is; None if none did."""
    rows, row = future
    last = min(hour, len(rows["seconds"]) - 1)
    cost = {name: rows[f"cost_{name}"][:, row, 0].astype(np.float64) for name in COSTS}
    skewed = cost.pop("skew_max_over_median")
    base = np.maximum(sum(cost.values()), 1e-9)
    if metric == "reader_seconds_per_gib":
        gib = np.maximum(cost.pop("total_bytes"), 1e-9)
        cost = {name: values / gib for name, values in cost.items()}
        base /= gib
        skewed /= gib
    rises = {name: _rise(values, last) for name, values in cost.items()}
    rises["skew_max_over_median"] = float(base[:24].mean()) * _rise(skewed / base, last)
    found = max(rises, key=lambda name: rises[name])
    return found if rises[found] >= _LEAST_RISE * float(base[0] + skewed[0]) else None


def _rise(values: Floats, last: int) -> float:
    """From the first day to the last 24 hours before the crossing."""
    if last < 24:
        return float(values[last] - values[0])
    return float(values[max(last - 23, 0) : last + 1].mean() - values[:24].mean())
