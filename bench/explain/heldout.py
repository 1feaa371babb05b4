"""The second generator: other laws than the public one, kept out of tuning, to measure how well results generalise.

`python -m explain.heldout --seed 101 --cases 20 --out DIR`. An improvement (a drop credited to maintenance) is not
blame: such commits are in the truth's effects, with a ratio below one, and are not guilty.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from explain import heldout_commits as commits
from explain import heldout_series as laws
from explain.cases import EPOCH, MINUTE, Effect, Labelled, Truth, command, series
from explain.heldout_series import DAY_MINUTES, HOURLY, IRREGULAR, QUARTER_HOURLY, TEN_MINUTES, Schedule

SEED, EACH = 101, 20
"""Seed and cases per scenario of the report."""


@dataclass
class World:
    """A case under construction: log levels at the job's runs, and functions of time for effects shared with others."""

    rng: np.random.Generator
    days: float
    times: np.ndarray
    log: commits.Log
    job: np.ndarray = field(init=False)
    shared: list[Callable[[np.ndarray], np.ndarray]] = field(default_factory=list)
    load: list[Callable[[np.ndarray], np.ndarray]] = field(default_factory=list)
    effects: list[tuple[int, float, str, float]] = field(default_factory=list)
    with_controls: bool = False
    with_load: bool = False

    def __post_init__(self) -> None:
        self.job = np.zeros(len(self.times))

    def ratio(self) -> float:
        """A slowdown: median 40 %, at least 12 %, at most fourfold."""
        return float(1 + np.clip(np.exp(self.rng.normal(np.log(0.4), 0.7)), 0.12, 3.0))

    def moment(self, low: float = 0.2, high: float = 0.85) -> float:
        """An instant in this part of the span."""
        return float(self.rng.uniform(low, high) * self.days * DAY_MINUTES)

    def pick(self, low: float = 0.2, high: float = 0.85, *, typical: float = 0.2) -> int:
        """A writer's commit that becomes a cause; `typical`: share of those that look like any other."""
        span = self.days * DAY_MINUTES
        near = (self.log.minute >= low * span) & (self.log.minute <= high * span) & (self.log.operation != "replace")
        index = int(self.rng.choice(np.flatnonzero(near) if near.any() else np.arange(len(near))))
        if self.rng.random() >= typical:
            commits.make_atypical(self.rng, self.log, index)
        return index

    def cause(self, index: int, ratio: float, shape: str = "step", length: float = 1.0, delay: float = -1.0) -> float:
        """Make a commit change the job from the next run after it and a delay; returns that run's instant."""
        seen = float(self.log.minute[index]) + (self.rng.exponential(4.0) if delay < 0 else delay)
        first = min(int(np.searchsorted(self.times, seen)), len(self.times) - 1)
        onset = float(self.times[first])
        self.job += laws.arrive(self.times, onset, float(np.log(ratio)), shape, length)
        self.effects.append((index, onset, shape if ratio > 1 else "drop", ratio))
        return onset

    def mend(self, index: int, ratio: float) -> None:
        """A compaction of the same table, hours later, ends the slowdown."""
        later = self.log.minute[index] + self.rng.uniform(6, 30) * 60
        if later > 0.93 * self.days * DAY_MINUTES:
            return
        table = int(self.log.table[index])
        self.log.add([commits.maintenance(self.rng, table, float(later))])
        self.cause(len(self.log.minute) - 1, 1 / ratio)


def _step(world: World) -> None:
    world.cause(world.pick(), world.ratio())


def _burst(world: World) -> None:
    """Four to seven commits within a minute, of one table or several; one is the cause."""
    index = world.pick(typical=0.0)
    others = world.rng.choice(np.flatnonzero(world.log.operation != "replace"), int(world.rng.integers(3, 7)))
    world.log.add(
        (
            int(world.log.table[each]),
            float(world.log.minute[index] + world.rng.uniform(-0.5, 0.5)),
            str(world.log.operation[each]),
            world.log.size[each].copy(),
            str(world.log.app[each]),
        )
        for each in others
        if each != index
    )
    world.cause(index, world.ratio())


def _delayed(world: World) -> None:
    """The reader caches the table's metadata for hours: the delay lasts until its next refresh."""
    index, keep = world.pick(), float(world.rng.choice([60, 120, 240]))
    world.cause(index, world.ratio(), delay=float(keep - world.log.minute[index] % keep))


def _pulse(world: World) -> None:
    world.cause(world.pick(), 1.15 * world.ratio(), "pulse", float(world.rng.uniform(3, 10) * 60))


def _ramp(world: World) -> None:
    world.cause(world.pick(), 1.15 * world.ratio(), "ramp", float(world.rng.uniform(5, 30) * 60))


def _fading(world: World) -> None:
    world.cause(world.pick(), 1.3 * world.ratio(), "decay", float(world.rng.uniform(8, 40) * 60))


def _mended(world: World) -> None:
    index, ratio = world.pick(high=0.7), world.ratio()
    world.cause(index, ratio)
    world.mend(index, ratio)


def _two(world: World) -> None:
    world.cause(world.pick(0.15, 0.4), world.ratio())
    world.cause(world.pick(0.6, 0.85), world.ratio())


def _nightly(world: World) -> None:
    """A repair job of another application runs three to seven times, for an hour or three each time."""
    table, ratio = int(world.rng.integers(world.log.table.max() + 1)), 1.1 * world.ratio()
    nights = world.rng.choice(
        np.arange(1, int(world.days)), min(int(world.rng.integers(3, 8)), int(world.days) - 1), replace=False
    )
    clock = world.rng.uniform(0, DAY_MINUTES)
    for night in np.sort(nights):
        minute = min(night * DAY_MINUTES + clock + world.rng.normal(0, 20), world.days * DAY_MINUTES - 240)
        size = np.array([40, 4e9, 35, 0, 3e6, 25, 12]) * np.exp(world.rng.normal(0, 0.2, 7))
        world.log.add([(table, float(minute), "overwrite", size, "repair")])
        world.cause(len(world.log.minute) - 1, ratio, "pulse", float(world.rng.uniform(70, 180)))


def _infrastructure(world: World) -> None:
    onset, size, world.with_controls = world.moment(), np.log(world.ratio()), True
    length, kind = float(world.rng.uniform(4, 40) * 60), str(world.rng.choice(["step", "pulse", "ramp"]))
    world.shared.append(lambda at: laws.arrive(at, onset, size, kind, length))


def _load(world: World) -> None:
    onset, size, world.with_load = world.moment(), np.log(world.ratio()), True
    length, kind = float(world.rng.uniform(4, 40) * 60), str(world.rng.choice(["step", "pulse", "ramp"]))
    world.load.append(lambda at: laws.arrive(at, onset, size, kind, length))


def _confounded(world: World) -> None:
    _step(world)
    (_infrastructure if world.rng.random() < 0.5 else _load)(world)


def _drift(world: World) -> None:
    """The data grows: the job slows down over the whole span, no commit more guilty than the next."""
    world.job += np.log1p(world.rng.uniform(0.2, 0.7) * world.times / world.times[-1])


def _own_change(world: World) -> None:
    """A new version of the job itself: slower from an instant onward, independent of the tables."""
    world.job += laws.arrive(world.times, world.moment(), float(np.log(world.ratio())), "step", 1.0)


def _improved(world: World) -> None:
    """Maintenance makes the job faster: nothing to blame."""
    table = int(world.rng.integers(world.log.table.max() + 1))
    world.log.add([commits.maintenance(world.rng, table, world.moment())])
    world.cause(len(world.log.minute) - 1, 1 / world.ratio())


def _nothing(world: World) -> None:
    """No cause at all."""


@dataclass(frozen=True)
class Scenario:
    """What happens, when the job runs, and the size and rhythm of its world."""

    happens: Callable[[World], None]
    schedule: Schedule | None = None
    cause: str = "commit"
    tables: tuple[int, int] = (1, 8)
    season: float = 0.15
    crowd: float = 1.0


SCENARIOS: dict[str, Scenario] = {
    "hourly": Scenario(_step, HOURLY),
    "ten_minutes": Scenario(_step, TEN_MINUTES),
    "irregular": Scenario(_step, IRREGULAR),
    "weekly_rhythm": Scenario(_step, QUARTER_HOURLY, season=0.5),
    "many_tables": Scenario(_step, tables=(12, 20), crowd=1.5),
    "burst": Scenario(_burst),
    "delayed": Scenario(_delayed),
    "pulse": Scenario(_pulse),
    "ramp": Scenario(_ramp),
    "fading": Scenario(_fading),
    "mended": Scenario(_mended),
    "two_causes": Scenario(_two),
    "nightly_repair": Scenario(_nightly, TEN_MINUTES),
    "confounded": Scenario(_confounded),
    "innocent_quiet": Scenario(_nothing, cause="none"),
    "innocent_week": Scenario(_nothing, cause="none", season=0.6),
    "innocent_infrastructure": Scenario(_infrastructure, cause="infrastructure"),
    "innocent_load": Scenario(_load, cause="load"),
    "innocent_drift": Scenario(_drift, cause="none"),
    "innocent_own_change": Scenario(_own_change, cause="none"),
    "innocent_maintenance": Scenario(_improved, cause="none"),
}


def case(scenario: str, seed: int, index: int) -> Labelled:
    """One case; deterministic in its arguments."""
    law = SCENARIOS[scenario]
    rng = np.random.default_rng((977, seed, list(SCENARIOS).index(scenario), index))
    schedule = law.schedule or (HOURLY, TEN_MINUTES, IRREGULAR, QUARTER_HOURLY)[int(rng.integers(4))]
    days = float(rng.uniform(14, 21) if schedule is HOURLY else rng.uniform(6, 14))
    log = commits.draw(rng, int(rng.integers(law.tables[0], law.tables[1] + 1)), days, law.crowd)
    world = World(rng, days, laws.runs(rng, schedule, days), log)
    law.happens(world)
    guilty = {index for index, *_ in world.effects}
    innocent = np.setdiff1d(np.arange(len(log.minute)), list(guilty))
    for decoy in rng.choice(innocent, min(int(rng.integers(2, 9)), len(innocent)), replace=False):
        commits.make_atypical(rng, log, int(decoy))
    name = f"{scenario}-{seed}-{index}"
    effects = [
        Effect([log.name(each)], EPOCH + round(onset * MINUTE), kind, round(ratio, 4))
        for each, onset, kind, ratio in world.effects
    ]
    return Labelled(_assemble(world, law, name), Truth(name, scenario, law.cause, effects))


def _assemble(world: World, law: Scenario, name: str) -> dict[str, object]:
    rng = world.rng
    own, common = (laws.Week.draw(rng, law.season * share) for share in (rng.uniform(0, 0.5), rng.uniform(0.5, 1)))
    elasticity = rng.uniform(0.5, 1.0)
    level = world.job + own.at(world.times) + _at(world.shared, world.times) + common.at(world.times)
    load_wander = laws.wander(rng, world.times, 120, 0.04)
    level = level + elasticity * (_at(world.load, world.times) + load_wander)
    seconds = laws.durations(rng, world.times, level, additive=rng.random() < 0.4)
    seconds[rng.random(len(seconds)) < (0.02 if rng.random() < 0.3 else 0.0)] = np.nan
    with_load = world.with_load or rng.random() < 0.4
    load = np.exp(7 + _at(world.load, world.times) + load_wander + 0.02 * rng.standard_normal(len(world.times)))
    return {
        "id": name,
        "job": {"id": "reader", **_series(world.times, seconds, "duration_seconds")},
        "controls": _controls(world, common),
        "load": _series(world.times, load, "values") if with_load else None,
        "commits": world.log.rows(rng),
        "selection": _selection(world) if rng.random() < 0.25 else None,
    }


def _at(parts: list[Callable[[np.ndarray], np.ndarray]], times: np.ndarray) -> np.ndarray:
    return sum((part(times) for part in parts), np.zeros(len(times)))


def _series(times: np.ndarray, values: np.ndarray, name: str) -> dict[str, object]:
    return series(np.round(EPOCH + times * MINUTE), values, name)


def _controls(world: World, common: laws.Week) -> list[dict[str, object]]:
    """None to five jobs on independent schedules, each affected by the infrastructure to a different degree."""
    rng, controls = world.rng, []
    for number in range(int(rng.integers(3, 6) if world.with_controls else rng.integers(0, 5))):
        schedule = (HOURLY, TEN_MINUTES, IRREGULAR, QUARTER_HOURLY)[int(rng.integers(4))]
        times = laws.runs(rng, schedule, world.days)
        level = rng.uniform(0.7, 1.2) * _at(world.shared, times) + common.at(times)
        seconds = laws.durations(rng, times, level, additive=rng.random() < 0.3)
        controls.append({"id": f"other-{number}", **_series(times, seconds, "duration_seconds")})
    return controls


def _selection(world: World) -> dict[str, int]:
    """A user's selection: from some runs before the first change (or any instant) to some runs after it."""
    rising = [onset for _, onset, _, ratio in world.effects if ratio > 1]
    at = int(np.searchsorted(world.times, min(rising) if rising else world.moment()))
    first = world.times[max(0, at - int(world.rng.integers(2, 30)))]
    last = world.times[min(len(world.times) - 1, at + int(world.rng.integers(10, 60)))]
    return {"from": EPOCH + round(first * MINUTE), "to": EPOCH + round(last * MINUTE)}


def cases(seed: int, each: int, scenarios: tuple[str, ...] = tuple(SCENARIOS)) -> list[Labelled]:
    """`each` cases of each scenario."""
    return [case(scenario, seed, index) for scenario in scenarios for index in range(each)]


if __name__ == "__main__":
    command(__doc__, cases, tuple(SCENARIOS), seed=SEED, each=EACH)
