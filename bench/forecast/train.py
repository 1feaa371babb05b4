"""`make train-forecast`: trains the model that ships with the product, on pasts that the first generator makes, fits
its choice of drivers (`attribution.py`) and tunes it (`tune.py`) on other fleets of that generator.
"""

from __future__ import annotations

import argparse
import time
from concurrent.futures import Executor, ProcessPoolExecutor
from pathlib import Path

import numpy as np

from forecast.attribution import SEEDS as DRIVER_SEEDS
from forecast.attribution import driver_questions, fit_choice, fit_choice_trees
from forecast.fleets import histories, judged_fleet
from forecast.tune import PATHS as TUNING_PATHS
from forecast.tune import SEEDS as TUNING_SEEDS
from forecast.tune import TABLES as TUNING_TABLES
from forecast.tune import tuned
from limnograph.analysis.forecast.forecaster import SHIPPED
from limnograph.analysis.forecast.load import common_load
from limnograph.analysis.forecast.model import Model
from limnograph.analysis.forecast.past import PastQuestions, joined, past_questions
from limnograph.analysis.forecast.series import HistoryGrid
from limnograph.analysis.forecast.training import HORIZONS, fit

FILE = Path(__file__).parents[2] / "backend" / "limnograph" / "analysis" / "forecast" / SHIPPED
TABLES = 80
CUTS = 2


def questions(seed: int, tables: int = TABLES) -> PastQuestions:
    """Questions of one fleet of random length, at random cut-offs."""
    rng = np.random.default_rng(seed)
    cases = histories(seed, tables, int(rng.integers(40, 100)))
    load = common_load([case.runs for case in cases if case.runs])
    series = [HistoryGrid(case, load=load) for case in cases]
    cuts = [sorted(rng.integers(30, max(each.hours - 168, 31), CUTS).tolist()) for each in series]
    usable = [[cut for cut in own if cut < each.hours] for own, each in zip(cuts, series, strict=True)]
    return past_questions(series, usable, HORIZONS, seed)


def with_choice(model: Model, pool: Executor) -> Model:
    """The model with a choice of drivers that is learnt on fleets of its own."""
    fleets = pool.map(driver_questions, [model] * len(DRIVER_SEEDS), DRIVER_SEEDS)
    asked = [each for own in fleets for each in own]
    return model._replace(drivers=fit_choice(asked), driver_trees=fit_choice_trees(asked))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fleets", type=int, default=24)
    parser.add_argument("--rounds", type=int, default=150)
    parser.add_argument("--seed", type=int, default=100)
    parser.add_argument("--into", type=Path, default=FILE)
    parser.add_argument("--processes", type=int, default=1)
    given = parser.parse_args()
    begun = time.perf_counter()
    with ProcessPoolExecutor(given.processes) as pool:
        asked = joined(list(pool.map(questions, range(given.seed, given.seed + given.fleets))))
        print(f"{len(asked.crossed)} questions after {time.perf_counter() - begun:.0f} s", flush=True)
        count = len(TUNING_SEEDS)
        judged = pool.map(judged_fleet, TUNING_SEEDS, [TUNING_TABLES] * count, [TUNING_PATHS] * count)
        trees = fit(asked, f"shipped-{given.fleets * TABLES}-tables", rounds=given.rounds)
        model = tuned(trees, list(judged), pool)
        model = with_choice(model, pool)
    given.into.write_bytes(model.to_bytes())
    print(f"{given.into.stat().st_size} bytes after {time.perf_counter() - begun:.0f} s")
