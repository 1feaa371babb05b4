"""The public generator: thirteen scenarios of one job, four upstream tables, three controls and an input load.

`python -m explain.synthetic --seed 7 --cases 40 --out DIR` writes cases.jsonl and truth.jsonl. Nothing is tuned to its
test seed: tune on the calibration split, report on the test split, and repeat on unused seeds.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from explain import series_laws as laws
from explain.cases import EPOCH, MINUTE, Effect, Labelled, Truth, series, write
from explain.commit_laws import Commits, draw, make_atypical
from explain.series_laws import DAY_MINUTES, GRID, POINTS, STEP

SPLITS = {"calibrate": (11, 15), "test": (23, 40)}
"""Seed and cases per scenario of the development splits."""
BASE_SECONDS = 300.0
FIRST_MINUTE, LAST_MINUTE = 1.25 * DAY_MINUTES, 6.25 * DAY_MINUTES
"""Range of guilty commits, so that there are runs before and after."""


@dataclass(frozen=True)
class Stress:
    """Makes the public laws harder: share of causes that look atypical, factors on decoys and on commits."""

    atypical: float = 0.8
    decoys: int = 1
    density: int = 1


USUAL = Stress()
STRESSES = {
    "40 % of causes atypical": Stress(atypical=0.4),
    "four times the decoys": Stress(decoys=4),
    "three times the commits": Stress(density=3),
}


@dataclass
class World:
    """A case under construction. `job` and `shared` are logs; `shared` also affects the controls."""

    rng: np.random.Generator
    commits: Commits
    stress: Stress = USUAL
    job: np.ndarray = field(default_factory=lambda: np.zeros(POINTS))
    shared: np.ndarray = field(default_factory=lambda: np.zeros(POINTS))
    load: np.ndarray = field(default_factory=lambda: np.zeros(POINTS))
    effects: list[Effect] = field(default_factory=list)

    def ratio(self) -> float:
        """Log-uniform slowdown of 10 to 100 %."""
        return 1 + float(np.exp(self.rng.uniform(np.log(0.1), np.log(1.0))))

    def guilty_commit(self, low: float = FIRST_MINUTE, high: float = LAST_MINUTE) -> int:
        """A commit of the span that becomes a cause; four of five are structurally atypical, unless stressed."""
        index = int(self.rng.choice(self.commits.between(low, high)))
        if self.rng.random() < self.stress.atypical:
            make_atypical(self.rng, self.commits, index)
        return index

    def cause(self, index: int, lag: float, kind: str, ratio: float, length: float = 0.0) -> None:
        """Make a commit change the job `lag` minutes later."""
        onset = float(self.commits.minute[index]) + lag
        shape = {
            "step": lambda: laws.step(GRID, onset, ratio),
            "ramp": lambda: laws.ramp(GRID, onset, ratio, length),
            "pulse": lambda: laws.pulse(GRID, onset, ratio, length),
        }[kind]
        self.job += shape()
        first = int(np.ceil(onset / STEP)) * STEP * MINUTE
        self.effects.append(Effect([Commits.name(index)], EPOCH + first, kind, round(ratio, 4)))

    def short_lag(self) -> float:
        """Up to an hour, in minutes."""
        return float(self.rng.uniform(0, 60))


def _step(world: World) -> None:
    world.cause(world.guilty_commit(), world.short_lag(), "step", world.ratio())


def _ramp(world: World) -> None:
    world.cause(world.guilty_commit(), world.short_lag(), "ramp", world.ratio(), world.rng.uniform(6, 24) * 60)


def _pulse(world: World) -> None:
    world.cause(world.guilty_commit(), world.short_lag(), "pulse", world.ratio(), world.rng.uniform(2, 6) * 60)


def _two_effects(world: World) -> None:
    middle = (FIRST_MINUTE + LAST_MINUTE) / 2
    for low, high in ((FIRST_MINUTE, middle - 360), (middle + 360, LAST_MINUTE)):
        world.cause(world.guilty_commit(low, high), world.short_lag(), "step", world.ratio())


def _lagged(world: World) -> None:
    world.cause(world.guilty_commit(), float(world.rng.uniform(60, 360)), "step", world.ratio())


def _recurrent(world: World) -> None:
    rng, commits = world.rng, world.commits
    table = int(rng.integers(4))
    candidates = np.flatnonzero((commits.table == table) & (commits.minute < POINTS * STEP - 180))
    ratio = world.ratio()
    for index in np.sort(rng.choice(candidates, int(rng.integers(8, 14)), replace=False)):
        commits.writer[index] = "backfill"
        commits.operation[index] = 1
        if rng.random() < world.stress.atypical:
            commits.features[index] *= rng.uniform(2, 8)
        world.cause(int(index), world.short_lag(), "pulse", ratio, rng.uniform(60, 120))


def _confounded(world: World) -> None:
    _step(world)
    _infrastructure(world)


def _infrastructure(world: World) -> None:
    world.shared += laws.step(GRID, world.rng.uniform(FIRST_MINUTE, LAST_MINUTE), world.ratio())


def _load(world: World) -> None:
    world.load += laws.step(GRID, world.rng.uniform(FIRST_MINUTE, LAST_MINUTE), world.ratio())


def _nothing(world: World) -> None:
    """No cause at all."""


@dataclass(frozen=True)
class Scenario:
    """What happens, and which of the noise laws are fixed instead of random."""

    happens: Callable[[World], None]
    cause: str = "commit"
    season: bool | None = None
    heavy: bool | None = None
    spikes: int = 5


SCENARIOS: dict[str, Scenario] = {
    "step_clean": Scenario(_step, season=False, heavy=False),
    "step_season": Scenario(_step, season=True),
    "step_heavy": Scenario(_step, heavy=True, spikes=25),
    "ramp": Scenario(_ramp),
    "pulse": Scenario(_pulse),
    "two_effects": Scenario(_two_effects),
    "lagged": Scenario(_lagged),
    "recurrent": Scenario(_recurrent),
    "step_confounded": Scenario(_confounded),
    "null_plain": Scenario(_nothing, "none"),
    "null_spikes": Scenario(_nothing, "none", heavy=True, spikes=25),
    "null_infrastructure": Scenario(_infrastructure, "infrastructure"),
    "null_load": Scenario(_load, "load"),
}


def case(scenario: str, seed: int, index: int, stress: Stress = USUAL) -> Labelled:
    """One case; deterministic in its arguments."""
    law = SCENARIOS[scenario]
    rng = np.random.default_rng((seed, list(SCENARIOS).index(scenario), index))
    world = World(rng, draw(rng, stress.density), stress)
    law.happens(world)
    guilty = {commit for effect in world.effects for commit in effect.commit_ids}
    innocent = [number for number in range(len(world.commits.minute)) if Commits.name(number) not in guilty]
    for decoy in rng.choice(innocent, stress.decoys * int(rng.integers(3, 7)), replace=False):
        make_atypical(rng, world.commits, int(decoy))
    name = f"{scenario}-{seed}-{index}"
    return Labelled(_series(world, law, name), Truth(name, scenario, law.cause, world.effects))


def _series(world: World, law: Scenario, name: str) -> dict[str, object]:
    """The case: the job, three controls that share infrastructure and the day, and the load that drives the job."""
    rng = world.rng
    season = rng.random() < 0.5 if law.season is None else law.season
    day = laws.day_shape(rng, GRID, rng.uniform(0.1, 0.3)) if season else np.zeros(POINTS)
    heavy = rng.random() < 0.25 if law.heavy is None else law.heavy
    times = EPOCH + GRID * MINUTE
    world.load += laws.ar1(rng, points=POINTS, phi=0.7, sigma=0.03, heavy=False)

    def noise() -> np.ndarray:
        drawn = laws.ar1(rng, points=POINTS, phi=rng.uniform(0.2, 0.7), sigma=rng.uniform(0.04, 0.1), heavy=heavy)
        return drawn + laws.spikes(rng, POINTS, law.spikes)

    job = BASE_SECONDS * np.exp(world.job + world.shared + day + rng.uniform(0.6, 1.0) * world.load + noise())
    controls = [
        {
            "id": f"control-{number}",
            **series(times, rng.uniform(60, 600) * np.exp(world.shared + day + noise()), "duration_seconds"),
        }
        for number in range(3)
    ]
    return {
        "id": name,
        "job": {"id": "job", **series(times, job, "duration_seconds")},
        "controls": controls,
        "load": series(times, 1000 * np.exp(world.load), "values"),
        "commits": world.commits.rows(),
        "selection": None,
    }


def cases(
    seed: int, each: int, scenarios: tuple[str, ...] = tuple(SCENARIOS), stress: Stress = USUAL
) -> list[Labelled]:
    """`each` cases of each scenario."""
    return [case(scenario, seed, index, stress) for scenario in scenarios for index in range(each)]


def main() -> None:
    """Write a split, or cases of a seed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--split", choices=SPLITS, help="a development split with its own seed and size")
    parser.add_argument("--seed", type=int, default=SPLITS["test"][0])
    parser.add_argument("--cases", type=int, default=SPLITS["test"][1], help="cases a scenario")
    parser.add_argument("--scenario", action="append", choices=SCENARIOS, help="these alone")
    parser.add_argument("--out", type=Path, required=True, help="folder of cases.jsonl and truth.jsonl")
    asked = parser.parse_args()
    seed, each = SPLITS[asked.split] if asked.split else (asked.seed, asked.cases)
    paths = write(cases(seed, each, tuple(asked.scenario or SCENARIOS)), asked.out)
    print(*paths, sep="\n")


if __name__ == "__main__":
    main()
