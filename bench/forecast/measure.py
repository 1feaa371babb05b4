"""`make bench-forecast`: scores the shipped model on both generators, writes results.json and the report.

`--ci` scores small fleets of each against floors, and writes nothing.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from forecast import fleets, second
from forecast.fleets import JudgedCase
from forecast.goals import GOALS
from forecast.report import write_page
from forecast.score import TableScore, TargetScore, driver_summary, scores, summary
from forecast.tune import answered
from limnograph.analysis.forecast import load_model

RESULTS = Path(__file__).with_name("results.json")
GENERATORS = {"first": (fleets.judged_fleet, 60), "second": (second.judged_fleet, 32)}
READERS = {"first": fleets.readers_fleet, "second": second.readers_fleet}
SEEDS = {"first": range(70_001, 70_009), "second": range(300, 308)}
READER_SEEDS = {"first": range(71_001, 71_009), "second": range(400, 408)}
"""Fleets whose readers' drivers are judged, beside those of the other fleets: few readers cross."""
CI_SEEDS = {"first": (11, 12), "second": (11,)}
CI_READER_SEEDS = {"first": range(72_001, 72_005), "second": range(500, 502)}


def judged(generator: str, seed: int, tables: int | None = None) -> list[JudgedCase]:
    """One fleet with its truth. Functions do not travel between processes, names do."""
    draw, usual = GENERATORS[generator]
    return draw(seed, usual if tables is None else tables)


def reading(generator: str, seed: int) -> list[JudgedCase]:
    """One fleet whose readers are asked about."""
    return READERS[generator](seed, GENERATORS[generator][1])


def score_fleets(drawn: Sequence[Sequence[JudgedCase]], readers: Sequence[Sequence[JudgedCase]]) -> dict[str, Any]:
    """Numbers of the shipped model, adapted to each fleet's own past, as `limnograph forecast` does.

    readers  fleets of which only the drivers are judged
    """
    targets: list[TargetScore] = []
    tables: list[TableScore] = []
    seconds = 0.0
    for fleet in drawn:
        begun = time.process_time()
        answers = answered(load_model().model, fleet)
        seconds += time.process_time() - begun
        own_targets, own_tables = scores(fleet, answers)
        targets += own_targets
        tables += own_tables
    count = sum(len(fleet) for fleet in drawn)
    named = [row for fleet in readers for row in scores(fleet, answered(load_model().model, fleet))[0]]
    return {
        **summary(targets, tables),
        **driver_summary([*targets, *named]),
        "fleets": len(drawn),
        "cases": count,
        "seconds_per_1000": 1000 * seconds / count,
    }


def check_floors() -> bool:
    """Whether small fleets of each generator are above every floor."""
    good = True
    for name in GENERATORS:
        readers = [reading(name, seed) for seed in CI_READER_SEEDS[name]]
        drawn = [judged(name, seed, 48 if name == "second" else 60) for seed in CI_SEEDS[name]]
        found = score_fleets(drawn, readers)
        for goal in GOALS:
            if "720" in goal.name and "targets_720" not in found:
                continue
            value, held = goal.value(found), goal.above_floor(found)
            if value == value and not held:  # noqa: PLR0124 - NaN: the fleet has no such case
                good = False
                print(f"{name}: {goal.name} is {value:.2f}, floor {goal.floor}", file=sys.stderr)
    return good


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ci", action="store_true", help="small fleets of each generator against floors")
    parser.add_argument("--processes", type=int, default=1)
    given = parser.parse_args()
    if given.ci:
        sys.exit(0 if check_floors() else 1)
    results: dict[str, Any] = {"model": load_model().name}
    with ProcessPoolExecutor(given.processes) as pool:
        for name in GENERATORS:
            drawn = list(pool.map(judged, [name] * len(SEEDS[name]), SEEDS[name]))
            readers = list(pool.map(reading, [name] * len(READER_SEEDS[name]), READER_SEEDS[name]))
            results[name] = score_fleets(drawn, readers)
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")
    write_page()
