"""Scores of answers against the truth, beside the oracle and plain methods, with standard errors over tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from forecast.fleets import JudgedCase
from limnograph.analysis.forecast import Forecasted
from limnograph.analysis.forecast.features import CROSS_FEATURES, Futures, cross_features
from limnograph.analysis.forecast.grid import HOUR_MS
from limnograph.analysis.forecast.series import HistoryGrid
from limnograph.analysis.forecast.views import LevelView, view_block
from limnograph.analysis.forecast_rows.replay_scores import average_precision, calibration_error

WEEK = 168
RESAMPLES = 80
PLAIN = {
    "room only": lambda row: -row["room"],
    "trend (Theil-Sen)": lambda row: row["trend_7d_z"],
    "seasonal naive": lambda row: row["season_peak"],
    "day bootstrap": lambda row: row["path_p"] + 1e-3 * -row["room"],
}


class TargetScore(NamedTuple):
    """One target of one table: probabilities of every method, and what happened."""

    table: str
    kind: str
    harmless: bool
    metric: str
    red: bool
    p: dict[int, float]
    cared: dict[int, float | None]
    oracle: dict[int, float]
    oracle_cared: dict[int, float]
    crossed: dict[int, bool]
    covered: dict[int, bool]
    width: dict[int, float]
    oracle_width: dict[int, float]
    wait_error: float | None
    driver: str | None
    named: str | None
    abstained: str | None
    plain: dict[str, float]


class TableScore(NamedTuple):
    """One table: risk, alert, and whether any target crossed."""

    table: str
    kind: str
    harmless: bool
    risk: dict[int, float]
    oracle: dict[int, float]
    crossed: dict[int, bool]
    alert: bool
    plain: dict[str, float]


def scores(judged: Sequence[JudgedCase], answers: Sequence[Forecasted]) -> tuple[list[TargetScore], list[TableScore]]:
    """Rows of one fleet."""
    targets, tables = [], []
    for each, answer in zip(judged, answers, strict=True):
        own = _targets(each, answer)
        targets += own
        open_ones = [score for score in own if not score.red]
        if not open_ones:
            continue
        tables.append(
            TableScore(
                table=each.case.id,
                kind=each.kind,
                harmless=each.harmless,
                risk={row.hours: row.p for row in answer.answer.risk},
                oracle={h: max(score.oracle[h] for score in open_ones) for h in each.case.horizons_hours},
                crossed={h: any(score.crossed[h] for score in open_ones) for h in each.case.horizons_hours},
                alert=answer.answer.alert,
                plain={name: max(score.plain[name] for score in open_ones) for name in PLAIN},
            )
        )
    return targets, tables


def _targets(judged: JudgedCase, answer: Forecasted) -> list[TargetScore]:
    found = []
    plain = _plain(judged)
    for target, truth, scores_of in zip(answer.answer.targets, judged.truth, plain, strict=True):
        by_hour = {each.hours: each for each in target.horizons}
        at = None if target.crosses_at is None else (target.crosses_at - judged.case.as_of) / HOUR_MS
        known = [h for h in by_hour if by_hour[h].p10 is not None]
        found.append(
            TargetScore(
                table=judged.case.id,
                kind=judged.kind,
                harmless=judged.harmless,
                metric=target.metric,
                red=truth.red,
                p={h: each.p_cross or 0.0 for h, each in by_hour.items()},
                cared={h: each.p_cross_if_maintained for h, each in by_hour.items()},
                oracle=truth.oracle,
                oracle_cared=truth.maintained,
                crossed=truth.crossed,
                covered={h: h in known and by_hour[h].p10 <= truth.level[h] <= by_hour[h].p90 for h in by_hour},
                width={h: _width(by_hour[h].p10, by_hour[h].p90) for h in known},
                oracle_width={h: _width(truth.low[h], truth.high[h]) for h in known},
                wait_error=abs(at - truth.hour) / truth.hour if at and truth.hour else None,
                driver=truth.driver,
                named=target.drivers[0].metric if target.drivers else None,
                abstained=target.abstained,
                plain=scores_of,
            )
        )
    return found


def _plain(judged: JudgedCase) -> list[dict[str, float]]:
    series = HistoryGrid(judged.case)
    views = [LevelView(series, series.hours, target.metric) for target in judged.case.targets]
    if not views:
        return []
    block = view_block(views)
    futures = Futures.drawn(block, WEEK // 24)
    limits = np.array([target.threshold for target in judged.case.targets])
    rows = np.nan_to_num(cross_features(block, futures, limits, WEEK), nan=0.0)
    named = [dict(zip(CROSS_FEATURES, row, strict=True)) for row in rows]
    return [{name: float(method(row)) for name, method in PLAIN.items()} for row in named]


def _width(low: float, high: float) -> float:
    floor = 0.02 * high + 1e-9
    return float(np.log((high + floor) / (low + floor)))


def summary(targets: Sequence[TargetScore], tables: Sequence[TableScore]) -> dict[str, Any]:
    """Every number of the report, each with its standard error."""
    found: dict[str, Any] = {"targets": len(targets), "tables": len(tables)}
    for hours in (24, 168, 720):
        own = [each for each in targets if not each.red and hours in each.p]
        rows = [each for each in tables if hours in each.risk]
        if not own:
            continue
        found[f"targets_{hours}"] = {
            "ap": _with_error(own, _target_ap(hours, "p")),
            "oracle": _with_error(own, _target_ap(hours, "oracle")),
            "brier": _with_error(own, lambda part, h=hours: _mean([(e.p[h] - e.crossed[h]) ** 2 for e in part])),
            "ece": _with_error(own, lambda part, h=hours: _ece(part, h)),
            "base": _mean([each.crossed[hours] for each in own]),
            "coverage": _with_error(
                [each for each in targets if hours in each.p],
                lambda part, h=hours: _mean([each.covered[h] for each in part]),
            ),
        }
        found[f"tables_{hours}"] = {
            "ap": _with_error(rows, _table_ap(hours, "risk")),
            "oracle": _with_error(rows, _table_ap(hours, "oracle")),
        }
    week = [each for each in targets if not each.red]
    found["plain_targets"] = {name: _with_error(week, _plain_ap(name)) for name in PLAIN}
    found["plain_tables"] = {name: _with_error(tables, _plain_ap(name)) for name in PLAIN}
    return {**found, **_alerts(tables), **_rest(targets), **driver_summary(targets)}


def driver_summary(targets: Sequence[TargetScore]) -> dict[str, Any]:
    """How often the first driver is right, and how often the best constant is."""
    drivers = [each for each in targets if each.driver]
    names = sorted({each.driver for each in drivers if each.driver})
    constant = max((_mean([each.driver == name for each in drivers]) for name in names), default=float("nan"))
    return {
        "drivers": len(drivers),
        "driver": _with_error(drivers, lambda part: _mean([e.driver == e.named for e in part])),
        "driver_constant": constant,
    }


def _alerts(tables: Sequence[TableScore]) -> dict[str, Any]:
    harmless = [each for each in tables if each.harmless and not each.crossed[WEEK]]
    kinds = sorted({each.kind for each in harmless})
    by_kind = {kind: _mean([each.alert for each in harmless if each.kind == kind]) for kind in kinds}
    return {
        "alert_precision": _with_error(tables, lambda part: _mean([e.crossed[WEEK] for e in part if e.alert])),
        "alert_recall": _with_error(tables, lambda part: _mean([e.alert for e in part if e.crossed[WEEK]])),
        "false_alarms": _with_error(harmless, lambda part: _mean([each.alert for each in part])),
        "false_alarms_by_kind": by_kind,
    }


def _rest(targets: Sequence[TargetScore]) -> dict[str, Any]:
    waits = [each for each in targets if each.wait_error is not None]
    silent = [each for each in targets if each.abstained]
    said = [each for each in targets if not each.abstained]
    cared = [each for each in targets if not each.red and each.cared.get(WEEK) is not None]
    return {
        "wait_error": _with_error(waits, lambda part: float(np.median([e.wait_error for e in part]))),
        "abstains": _with_error(targets, lambda part: _mean([bool(e.abstained) for e in part])),
        "width_abstained": float(np.median([e.width.get(WEEK, 0.0) for e in silent])) if silent else None,
        "width_said": float(np.median([e.width.get(WEEK, 0.0) for e in said])) if said else None,
        "oracle_width_abstained": float(np.median([e.oracle_width.get(WEEK, 0.0) for e in silent])) if silent else None,
        "oracle_width_said": float(np.median([e.oracle_width.get(WEEK, 0.0) for e in said])) if said else None,
        "maintained_error": _with_error(
            cared, lambda part: _mean([abs(e.cared[WEEK] - e.oracle_cared[WEEK]) for e in part])
        ),
        "maintained_unchanged": _mean([abs(e.p[WEEK] - e.oracle_cared[WEEK]) for e in cared]),
        "kinds": _by_kind(targets),
    }


def _by_kind(targets: Sequence[TargetScore]) -> dict[str, Any]:
    found = {}
    for kind in sorted({each.kind for each in targets}):
        own = [each for each in targets if each.kind == kind and not each.red]
        if own:
            found[kind] = {
                "targets": len(own),
                "crossed": _mean([each.crossed[WEEK] for each in own]),
                "p": _mean([each.p[WEEK] for each in own]),
                "brier": _mean([(each.p[WEEK] - each.crossed[WEEK]) ** 2 for each in own]),
                "oracle_brier": _mean([(each.oracle[WEEK] - each.crossed[WEEK]) ** 2 for each in own]),
                "coverage": _mean([each.covered[WEEK] for each in own]),
                "abstains": _mean([bool(each.abstained) for each in own]),
            }
    return found


def _target_ap(hours: int, name: str) -> Callable[[Sequence[TargetScore]], float]:
    return lambda part: average_precision(
        np.array([each.crossed[hours] for each in part], float), np.array([getattr(each, name)[hours] for each in part])
    )


def _table_ap(hours: int, name: str) -> Callable[[Sequence[TableScore]], float]:
    return lambda part: average_precision(
        np.array([each.crossed[hours] for each in part], float), np.array([getattr(each, name)[hours] for each in part])
    )


def _plain_ap(name: str) -> Callable[[Sequence[Any]], float]:
    return lambda part: average_precision(
        np.array([each.crossed[WEEK] for each in part], float), np.array([each.plain[name] for each in part])
    )


def _ece(part: Sequence[TargetScore], hours: int) -> float:
    return calibration_error(
        np.array([each.crossed[hours] for each in part], float), np.array([each.p[hours] for each in part])
    )


def _with_error(rows: Sequence[Any], measure: Callable[[Sequence[Any]], float]) -> list[float]:
    """The measure and its standard error, by resampling tables."""
    if not rows:
        return [float("nan"), float("nan")]
    by_table: dict[str, list[Any]] = {}
    for row in rows:
        by_table.setdefault(row.table, []).append(row)
    groups = list(by_table.values())
    rng = np.random.default_rng(3)
    drawn = []
    for _ in range(RESAMPLES):
        chosen = [row for place in rng.integers(len(groups), size=len(groups)) for row in groups[place]]
        drawn.append(measure(chosen))
    return [measure(rows), float(np.nanstd(drawn))]


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else float("nan")


def flat(results: Mapping[str, Any]) -> dict[str, float]:
    """Numbers that goals are checked on."""
    return {name: value[0] for name, value in results.items() if isinstance(value, list)}
