"""The development generator: explain is tuned on it in addition to the public one, so that the second remains held out.

`python -m explain.develop --seed 1 --cases 4` prints explain's and the oracle's scores per scenario.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from explain.cases import DAY, HOUR, MINUTE, Effect, Labelled, Truth, series
from explain.develop_commits import Lake, draw_lake
from explain.develop_series import Noise, draw_noise, schedule, season

GUILTY_FROM, GUILTY_TO = 0.2, 0.85
"""Share of the span that contains causes."""


@dataclass
class World:
    """A case under construction; `job` and `shared` are log factors at the job's runs."""

    rng: np.random.Generator
    at: np.ndarray
    lake: Lake
    noise: Noise
    effects: list[Effect] = field(default_factory=list)
    shared: list[tuple[float, float]] = field(default_factory=list)
    load: list[tuple[float, float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.job = np.zeros(self.at.size)

    def ratio(self) -> float:
        """Log-uniform slowdown of 12 to 100 %."""
        return 1 + float(np.exp(self.rng.uniform(np.log(0.12), 0)))

    def instant(self, low: float = GUILTY_FROM, high: float = GUILTY_TO) -> float:
        """An instant in the middle of the span."""
        return float(self.at[0] + self.rng.uniform(low, high) * (self.at[-1] - self.at[0]))

    def delay(self) -> float:
        """Delay from commit to effect: until the next run, minutes, or hours."""
        kind = self.rng.random()
        return 0.0 if kind < 0.5 else float(self.rng.exponential(15 * MINUTE if kind < 0.8 else 90 * MINUTE))

    def cause(self, commit: int, kind: str = "step", ratio: float | None = None, hours: float = 0.0) -> int:
        """Make a commit slow the job from the first run after it and a delay; returns the index of that run."""
        place = int(np.searchsorted(self.at, self.lake.at[commit] + self.delay()))
        size = np.log(ratio or self.ratio())
        since = (self.at[place:] - self.at[place]) / HOUR
        self.job[place:] += (
            size
            * {
                "step": lambda: np.ones_like(since),
                "ramp": lambda: np.clip((since + 0.1) / hours, 0, 1),
                "pulse": lambda: (since < hours).astype(float),
                "decay": lambda: np.exp(-since / hours),
            }[kind]()
        )
        self.effects.append(Effect([self.lake.name(commit)], int(self.at[place]), kind, round(float(np.exp(size)), 4)))
        return place

    def guilty(self, low: float = GUILTY_FROM, high: float = GUILTY_TO) -> int:
        """A commit of the span that becomes a cause; three of four are odd for their own table."""
        commit = self.lake.near(self.rng, self.instant(low, high))
        if self.rng.random() < 0.75:
            self.lake.spoil(self.rng, commit)
        return commit


def _step(world: World) -> None:
    world.cause(world.guilty())


def _burst(world: World) -> None:
    commit = world.guilty()
    world.lake.crowd(world.rng, commit, int(world.rng.integers(2, 9)))
    world.cause(commit)


def _ramp(world: World) -> None:
    world.cause(world.guilty(high=0.7), "ramp", hours=world.rng.uniform(3, 18))


def _pulse(world: World) -> None:
    least = 6 * float(np.median(np.diff(world.at))) / HOUR
    world.cause(world.guilty(), "pulse", hours=max(least, world.rng.uniform(1.5, 8)))


def _decay(world: World) -> None:
    world.cause(world.guilty(high=0.7), "decay", hours=world.rng.uniform(8, 30))


def _mended(world: World) -> None:
    place = world.cause(world.guilty(high=0.6), ratio=(ratio := world.ratio()))
    after = float(world.at[place] + world.rng.uniform(8, 30) * HOUR)
    mended = world.lake.maintain(world.rng, after)
    start = int(np.searchsorted(world.at, world.lake.at[mended]))
    if start < world.at.size - 8:
        world.job[start:] -= np.log(ratio)
        world.effects.append(Effect([world.lake.name(mended)], int(world.at[start]), "drop", round(1 / ratio, 4)))


def _two(world: World) -> None:
    world.cause(world.guilty(high=0.45))
    world.cause(world.guilty(low=0.6))


def _infrastructure(world: World) -> None:
    world.shared.append((world.instant(), np.log(world.ratio())))


def _confounded(world: World) -> None:
    _step(world)
    _infrastructure(world)


def _load(world: World) -> None:
    world.load.append((world.instant(), np.log(world.ratio())))


def _own(world: World) -> None:
    """The job itself changes, independent of any commit."""
    for _ in range(int(world.rng.integers(1, 3))):
        world.job[world.at >= world.instant()] += world.rng.choice([-1, 1], p=[0.3, 0.7]) * np.log(world.ratio())


def _growth(world: World) -> None:
    share = (world.at - world.at[0]) / (world.at[-1] - world.at[0])
    world.job += np.log(1 + world.rng.uniform(0.1, 0.8) * share ** world.rng.uniform(0.6, 2))


def _walk(world: World) -> None:
    """A wandering level: small lasting steps at random times."""
    world.noise.wander = float(world.rng.uniform(0.04, 0.15))


def _nothing(world: World) -> None:
    """No cause at all."""


def _improved(world: World) -> None:
    """Maintenance makes the job faster: to be credited, not blamed."""
    commit = world.lake.maintain(world.rng, world.instant())
    start, ratio = int(np.searchsorted(world.at, world.lake.at[commit])), 1 / world.ratio()
    world.job[start:] += np.log(ratio)
    world.effects.append(Effect([world.lake.name(commit)], int(world.at[start]), "drop", round(ratio, 4)))


@dataclass(frozen=True)
class Scenario:
    """What happens. `steps`: possible minutes between runs (0: irregular); None: any."""

    happens: Callable[[World], None]
    cause: str = "commit"
    steps: tuple[int, ...] = (5, 10, 15, 30, 60, 0)
    weekly: bool = False
    wanders: bool = False


SCENARIOS: dict[str, Scenario] = {
    "frequent": Scenario(_step, steps=(5, 10, 15)),
    "hourly": Scenario(_step, steps=(60,)),
    "irregular": Scenario(_step, steps=(0,)),
    "seasonal": Scenario(_step, weekly=True),
    "wandering": Scenario(_step, wanders=True),
    "burst": Scenario(_burst),
    "ramp": Scenario(_ramp),
    "pulse": Scenario(_pulse),
    "decay": Scenario(_decay),
    "mended": Scenario(_mended),
    "two": Scenario(_two),
    "confounded": Scenario(_confounded),
    "quiet": Scenario(_nothing, "none"),
    "weekly": Scenario(_nothing, "none", weekly=True),
    "growth": Scenario(_growth, "none"),
    "walk": Scenario(_walk, "none"),
    "own": Scenario(_own, "none"),
    "infrastructure": Scenario(_infrastructure, "infrastructure"),
    "load": Scenario(_load, "load"),
    "improved": Scenario(_improved, "none"),
}


def case(scenario: str, seed: int, index: int) -> Labelled:
    """One case; deterministic in its arguments."""
    law = SCENARIOS[scenario]
    rng = np.random.default_rng((seed, list(SCENARIOS).index(scenario), index, 9))
    at = schedule(rng, int(rng.choice(law.steps)), weekly=law.weekly)
    world = World(rng, at, draw_lake(rng, at), draw_noise(rng))
    if law.wanders:
        world.noise.wander = float(rng.uniform(0.02, 0.06))
    law.happens(world)
    name = f"{scenario}-{seed}-{index}"
    return Labelled(_told(world, law, name), Truth(name, scenario, law.cause, world.effects))


def _told(world: World, law: Scenario, name: str) -> dict[str, object]:
    rng, at = world.rng, world.at
    weekly = law.weekly or (at[-1] - at[0] > 12 * DAY and rng.random() < 0.5)
    rhythm = season(rng, weekly=weekly) if weekly or rng.random() < 0.6 else np.zeros_like

    def shifts(found: list[tuple[float, float]], when: np.ndarray) -> np.ndarray:
        return np.array(sum((size * (when >= start) for start, size in found), np.zeros(when.size)))

    every = np.arange(at[0], at[-1], 5 * MINUTE)
    has_load = law.cause == "load" or rng.random() < 0.4
    rough = np.interp(every, every[::12], np.cumsum(rng.normal(0, 0.01, every[::12].size)))
    load = shifts(world.load, every) + 0.5 * rough - 0.5 * rough.mean() + rng.normal(0, 0.04, every.size)
    follows = rng.uniform(0.5, 1.1)
    job = world.job + shifts(world.shared, at) + rhythm(at) + follows * np.interp(at, every, load) * has_load
    base = float(np.exp(rng.uniform(np.log(5), np.log(3000))))
    controls = []
    for number in range(int(rng.integers(2 if world.shared else 0, 5))):
        when = schedule(rng, int(rng.choice((5, 15, 30, 60))), weekly=law.weekly, span=float(at[-1] - at[0]))
        own = shifts(world.shared, when) * rng.uniform(0.8, 1.2) + rng.uniform(0, 1.2) * rhythm(when)
        own = draw_noise(rng).applied(rng, when, own)
        controls.append({"id": f"other-{number}", **series(when, 40 * np.exp(own), "duration_seconds")})
    return {
        "id": name,
        "job": {"id": "job", **series(at, base * np.exp(world.noise.applied(rng, at, job)), "duration_seconds")},
        "controls": controls or None,
        "load": series(every, 1e4 * np.exp(load), "values") if has_load else None,
        "commits": world.lake.rows(),
        "selection": None,
    }


def cases(seed: int, each: int, scenarios: tuple[str, ...] = tuple(SCENARIOS)) -> list[Labelled]:
    """`each` cases of each scenario."""
    return [case(scenario, seed, index) for scenario in scenarios for index in range(each)]


def main() -> None:
    """Print explain's and the oracle's scores, per scenario and pooled."""
    from explain import wide
    from explain.methods import oracle, ours, run
    from explain.score import per_scenario

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=4, help="cases a scenario")
    parser.add_argument("--wide", action="store_true", help="laws drawn anew for each case")
    asked = parser.parse_args()
    drawn = (wide.cases if asked.wide else cases)(asked.seed, asked.cases)
    told = per_scenario(run(oracle, drawn).judged)
    for name, row in per_scenario(run(ours, drawn).judged).items():
        shown = (told[name].top1, row.top1, row.top3, row.precision, row.recall, row.false_blame, row.ece)
        print(f"{name:16}", *("   -" if value is None else f"{value:.2f}" for value in shown))


if __name__ == "__main__":
    main()
