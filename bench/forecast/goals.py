"""Goals of forecasts, as functions of the numbers of `score.summary`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple


class Goal(NamedTuple):
    """`holds`: from the goal on; `floor`: what CI fails below, or above where smaller is better."""

    name: str
    text: str
    value: Callable[[Mapping[str, Any]], float]
    limit: float
    floor: float
    smaller: bool = False
    until: float | None = None

    def holds(self, results: Mapping[str, Any]) -> bool:
        """Whether the goal is met."""
        value = self.value(results)
        if self.until is not None:
            return self.limit <= value <= self.until
        return value <= self.limit if self.smaller else value >= self.limit

    def above_floor(self, results: Mapping[str, Any]) -> bool:
        """Whether the value is at least good enough for CI."""
        value = self.value(results)
        return value <= self.floor if self.smaller else value >= self.floor


def _ratio(name: str) -> Callable[[Mapping[str, Any]], float]:
    return lambda results: results[name]["ap"][0] / results[name]["oracle"][0]


def _covers(hours: int) -> Callable[[Mapping[str, Any]], float]:
    return lambda results: results[f"targets_{hours}"]["coverage"][0]


GOALS = (
    Goal("PR-AUC of tables, 7 days, relative to the oracle", ">= 0.87", _ratio("tables_168"), 0.87, 0.55),
    Goal("PR-AUC of targets, 7 days, relative to the oracle", ">= 0.87", _ratio("targets_168"), 0.87, 0.5),
    Goal(
        "calibration error (ECE) of targets, 7 days",
        "<= 0.05",
        lambda results: results["targets_168"]["ece"][0],
        0.05,
        0.12,
        smaller=True,
    ),
    Goal("precision of the list", ">= 0.75", lambda results: results["alert_precision"][0], 0.75, 0.4),
    Goal("recall of the list", ">= 0.60", lambda results: results["alert_recall"][0], 0.6, 0.2),
    Goal(
        "false alarms on harmless tables",
        "<= 0.10",
        lambda results: results["false_alarms"][0],
        0.1,
        0.4,
        smaller=True,
    ),
    Goal(
        "false alarms in the worst harmless kind",
        "<= 0.15",
        lambda results: max(results["false_alarms_by_kind"].values()),
        0.15,
        1.0,
        smaller=True,
    ),
    *(
        Goal(f"coverage of 80 % intervals, {hours} h", "0.75 to 0.85", _covers(hours), 0.75, 0.6, until=0.85)
        for hours in (24, 168, 720)
    ),
    Goal(
        "median error of the crossing time over the wait",
        "<= 1.0",
        lambda results: results["wait_error"][0],
        1.0,
        1.5,
        smaller=True,
    ),
    Goal("driver named right", ">= 0.72", lambda results: results["driver"][0], 0.72, 0.2),
    Goal(
        "driver above the best constant",
        ">= 0.10",
        lambda results: results["driver"][0] - results["driver_constant"],
        0.1,
        -0.6,
    ),
    Goal("share of abstentions", "<= 0.08", lambda results: results["abstains"][0], 0.08, 0.2, smaller=True),
)
