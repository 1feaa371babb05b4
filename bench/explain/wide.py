"""A second development generator: every law is drawn again for each case, so that explain is not tuned to one law.

`python -m explain.develop --wide` prints its scores.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from explain import wide_commits
from explain.cases import DAY, HOUR, MINUTE, Effect, Labelled, Truth, series
from explain.develop_series import season
from explain.wide_series import Noise, noise, schedule, shape


@dataclass
class World:
    """A case under construction; `job` is a log factor at the job's runs."""

    rng: np.random.Generator
    at: np.ndarray
    lake: wide_commits.Lake
    noise: Noise
    effects: list[Effect] = field(default_factory=list)
    shared: list[Callable[[np.ndarray], np.ndarray]] = field(default_factory=list)
    load: list[Callable[[np.ndarray], np.ndarray]] = field(default_factory=list)
    breaks: float = 0.0

    def __post_init__(self) -> None:
        rng = self.rng
        self.job = np.zeros(self.at.size)
        self.law = str(
            rng.choice(["next", "table", "fixed", "soon", "refresh", "skips"], p=[0.3, 0.2, 0.1, 0.2, 0.1, 0.1])
        )
        self.mean = float(np.exp(rng.uniform(np.log(2), np.log(45)))) * MINUTE
        self.own = {table: rng.exponential(self.mean) for table in range(40)}
        self.grid = float(rng.choice([1, 2, 4])) * HOUR
        self.odd = float(rng.uniform(0.6, 0.95))

    def ratio(self) -> float:
        """Log-uniform slowdown of 10 to 120 %."""
        return 1 + float(np.exp(self.rng.uniform(np.log(0.1), np.log(1.2))))

    def instant(self, low: float = 0.2, high: float = 0.85) -> float:
        """An instant in the middle of the span."""
        return float(self.at[0] + self.rng.uniform(low, high) * (self.at[-1] - self.at[0]))

    def first(self, commit: int) -> int:
        """First run that a commit affects, by the case's law of delays."""
        when, table = float(self.lake.at[commit]), int(self.lake.table[commit])
        delay = {
            "next": 0.0,
            "table": self.own[table],
            "fixed": self.mean,
            "soon": float(self.rng.exponential(self.mean)),
            "refresh": self.grid - when % self.grid,
            "skips": 0.0,
        }[self.law]
        place = int(np.searchsorted(self.at, when + delay))
        return place + int(self.rng.integers(0, 4)) if self.law == "skips" else place

    def cause(self, commit: int, kind: str = "step", ratio: float | None = None, hours: float = 1.0) -> int:
        """Make a commit change the job; returns the index of the first affected run."""
        place = self.first(commit)
        if place >= self.at.size - 4:
            return self.at.size - 1
        size = np.log(ratio or self.ratio())
        self.job[place:] += size * shape(kind, (self.at[place:] - self.at[place]) / HOUR, hours)
        told = kind if size > 0 else "drop"
        self.effects.append(Effect([self.lake.name(commit)], int(self.at[place]), told, round(float(np.exp(size)), 4)))
        return place

    def guilty(self, low: float = 0.2, high: float = 0.85, odd: float | None = None) -> int:
        """A commit of the span that becomes a cause, most often an odd one."""
        commit = self.lake.near(self.rng, self.instant(low, high))
        if self.rng.random() < (self.odd if odd is None else odd):
            self.lake.spoil(self.rng, commit)
        return commit


def _step(w: World) -> None:
    w.cause(w.guilty())


def _burst(w: World) -> None:
    commit = w.guilty(odd=0.95)
    w.lake.crowd(w.rng, commit, int(w.rng.integers(2, 9)))
    w.cause(commit)


def _ramp(w: World) -> None:
    w.cause(w.guilty(high=0.7), "ramp", hours=w.rng.uniform(3, 24))


def _pulse(w: World) -> None:
    least = 5 * float(np.median(np.diff(w.at))) / HOUR
    w.cause(w.guilty(), "pulse", hours=max(least, w.rng.uniform(1.5, 9)))


def _decay(w: World) -> None:
    w.cause(w.guilty(high=0.75), "decay", ratio=1.2 * w.ratio(), hours=w.rng.uniform(8, 36))


def _mended(w: World) -> None:
    place = w.cause(w.guilty(high=0.6), ratio=(ratio := w.ratio()))
    mended = w.lake.maintain(w.rng, float(w.at[place] + w.rng.uniform(6, 30) * HOUR))
    w.cause(mended, ratio=1 / ratio)


def _two(w: World) -> None:
    w.cause(w.guilty(high=0.45))
    w.cause(w.guilty(low=0.6))


def _again(w: World) -> None:
    """One writer's commits, each a pulse; some of them have no effect."""
    rng, table = w.rng, int(w.rng.choice(w.lake.table))
    each = wide_commits.writer(rng, table, "overwrite")
    count = int(rng.integers(4, 14))
    span, start = float(w.at[-1] - w.at[0]), float(w.at[0])
    slots = rng.choice(np.arange(2, 38), count, replace=False) + rng.uniform(0, 0.5, count)
    made = w.lake.add(each, start + np.sort(slots) / 40 * span, rng)
    gap, ratio, works = float(np.median(np.diff(w.at))) / HOUR, w.ratio(), rng.choice([1, 0.8])
    for commit in made:
        if rng.random() < works:
            w.cause(int(commit), "pulse", ratio, max(3 * gap, rng.uniform(1, 3)))


def _arrives(w: World) -> Callable[[np.ndarray], np.ndarray]:
    onset, size, hours = w.instant(), np.log(w.ratio()), w.rng.uniform(4, 40)
    kind = str(w.rng.choice(["step", "step", "pulse", "ramp"]))
    return lambda at: np.where(at >= onset, size * shape(kind, np.maximum(at - onset, 0) / HOUR, hours), 0.0)


def _infrastructure(w: World) -> None:
    w.shared.append(_arrives(w))


def _load(w: World) -> None:
    w.load.append(_arrives(w))


def _confounded(w: World) -> None:
    _step(w)
    (_infrastructure if w.rng.random() < 0.5 else _load)(w)


def _own(w: World) -> None:
    for _ in range(int(w.rng.integers(1, 3))):
        w.job[w.at >= w.instant()] += w.rng.choice([-1, 1], p=[0.3, 0.7]) * np.log(w.ratio())


def _own_ramp(w: World) -> None:
    onset, hours = w.instant(high=0.7), w.rng.uniform(4, 48)
    w.job += np.where(w.at >= onset, np.log(w.ratio()) * shape("ramp", np.maximum(w.at - onset, 0) / HOUR, hours), 0)


def _growth(w: World) -> None:
    share = (w.at - w.at[0]) / (w.at[-1] - w.at[0])
    w.job += np.log(1 + w.rng.uniform(0.1, 0.8) * share ** w.rng.uniform(0.6, 2))


def _walk(w: World) -> None:
    w.noise.wander = float(w.rng.uniform(0.03, 0.12))


def _shifted(w: World) -> None:
    """The rhythm itself changes: its height, or its hour."""
    w.breaks = w.instant(0.3, 0.7)


def _improved(w: World) -> None:
    w.cause(w.lake.maintain(w.rng, w.instant()), ratio=1 / w.ratio())


def _nothing(w: World) -> None:
    """No cause at all."""


@dataclass(frozen=True)
class Scenario:
    """What happens; `height` of the rhythm, if fixed."""

    happens: Callable[[World], None]
    cause: str = "commit"
    height: float | None = None


SCENARIOS = {
    "step": Scenario(_step),
    "step2": Scenario(_step),
    "rhythm": Scenario(_step, height=2.0),
    "burst": Scenario(_burst),
    "ramp": Scenario(_ramp),
    "pulse": Scenario(_pulse),
    "decay": Scenario(_decay),
    "mended": Scenario(_mended),
    "two": Scenario(_two),
    "again": Scenario(_again),
    "confounded": Scenario(_confounded),
    "n_quiet": Scenario(_nothing, "none"),
    "n_rhythm": Scenario(_nothing, "none", height=2.0),
    "n_own": Scenario(_own, "none"),
    "n_own_ramp": Scenario(_own_ramp, "none"),
    "n_growth": Scenario(_growth, "none"),
    "n_walk": Scenario(_walk, "none"),
    "n_shifted": Scenario(_shifted, "none"),
    "n_infra": Scenario(_infrastructure, "infrastructure"),
    "n_load": Scenario(_load, "load"),
    "n_improved": Scenario(_improved, "none"),
}


def case(scenario: str, seed: int, index: int) -> Labelled:
    """One case; deterministic in its arguments."""
    law = SCENARIOS[scenario]
    rng = np.random.default_rng((seed, list(SCENARIOS).index(scenario), index, 31))
    while True:
        at = schedule(rng)
        world = World(rng, at, wide_commits.draw_lake(rng, at), noise(rng))
        law.happens(world)
        if (
            law.happens in (_nothing, _own, _own_ramp, _growth, _walk, _shifted, _infrastructure, _load)
            or world.effects
        ):
            break
    name = f"{scenario}-{seed}-{index}"
    return Labelled(_told(world, law, name), Truth(name, scenario, law.cause, world.effects))


def _told(w: World, law: Scenario, name: str) -> dict[str, object]:
    rng, at = w.rng, w.at
    weekly = at[-1] - at[0] > 12 * DAY and rng.random() < 0.5
    height = law.height or (1.0 if w.breaks or rng.random() < 0.6 else 0.0)
    rhythm, other = season(rng, weekly=weekly), season(rng, weekly=weekly)

    def common(when: np.ndarray) -> np.ndarray:
        plain = height * rhythm(when)
        return np.where(when >= w.breaks, 0.6 * plain + 0.4 * height * other(when), plain) if w.breaks else plain

    every = np.arange(at[0], at[-1], 5 * MINUTE)
    has_load = law.cause == "load" or bool(w.load) or rng.random() < 0.4
    rough = np.interp(every, every[::12], np.cumsum(rng.normal(0, 0.01, every[::12].size)))
    load = sum((each(every) for each in w.load), np.zeros(every.size)) + 0.5 * (rough - rough.mean())
    load = load + rng.normal(0, 0.04, every.size)
    shared = lambda when: sum((each(when) for each in w.shared), np.zeros(when.size))  # noqa: E731
    job = w.job + shared(at) + common(at) + rng.uniform(0.5, 1.1) * np.interp(at, every, load) * has_load
    base = float(np.exp(rng.uniform(np.log(5), np.log(3000))))
    controls = []
    for number in range(int(rng.integers(2 if w.shared else 0, 6))):
        when = schedule(rng, span=float(at[-1] - at[0]))
        own = shared(when) * rng.uniform(0.75, 1.2) + rng.uniform(0, 1.2) * common(when)
        controls.append(
            {"id": f"c{number}", **series(when, 40 * np.exp(noise(rng).applied(rng, when, own)), "duration_seconds")}
        )
    seconds = base * np.exp(w.noise.applied(rng, at, job))
    seconds[rng.random(at.size) < rng.choice([0, 0, 0.02])] = np.nan
    return {
        "id": name,
        "job": {"id": "job", **series(at, seconds, "duration_seconds")},
        "controls": controls or None,
        "load": series(every, 1e4 * np.exp(load), "values") if has_load else None,
        "commits": w.lake.rows(rng),
        "selection": None,
    }


def cases(seed: int, each: int, scenarios: tuple[str, ...] = tuple(SCENARIOS)) -> list[Labelled]:
    """`each` cases of each scenario."""
    return [case(scenario, seed, index) for scenario in scenarios for index in range(each)]
