"""The report of a backtest as text."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from limnograph.domain.forecasts.backtest import BacktestReport, HorizonScore
from limnograph.domain.time import Millis

_METHODS = "  {:<24}{:>17}{:>14}"


def backtest_lines(report: BacktestReport) -> Iterator[str]:
    """The report, line by line."""
    tables = f"{report.tables} of {report.tables_known} tables"
    yield f"{tables}, {report.origins} cut-offs, {_day(report.since)} to {_day(report.until)}, model {report.model}"
    if not report.horizons:
        yield "No forecast has an outcome yet."
        return
    for each in report.horizons:
        yield ""
        yield from _horizon(each)
    yield ""
    yield f"Time of the crossing, {report.waits} given: median error over the wait {_number(report.wait_error)}"
    yield f"  the trend's: {_number(report.trend_wait_error)}"
    yield f"Abstained: {_number(report.abstained)} of the forecasts"


def _horizon(score: HorizonScore) -> Iterator[str]:
    yield (
        f"Within {score.hours} h: {score.forecasts} forecasts of {score.targets} levels, {score.crossed:.2f} crossed; "
        f"Brier {score.brier:.3f}, calibration error {score.calibration_error:.3f}, "
        f"80 % interval covers {_number(score.coverage)}"
    )
    yield _METHODS.format("method", "PR-AUC", "level error")
    for each in score.methods:
        error = "" if each.standard_error is None else f" ± {each.standard_error:.3f}"
        found = "nothing crossed" if each.precision_recall is None else f"{each.precision_recall:.3f}{error}"
        yield _METHODS.format(each.method, found, _number(each.level_error, 3))


def _number(value: float | None, digits: int = 2) -> str:
    return "unknown" if value is None else f"{value:.{digits}f}"


def _day(at: Millis) -> str:
    return datetime.fromtimestamp(at / 1_000, UTC).date().isoformat()
