"""A case of the third generator under construction: influences on the job and on others, and what the case shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from explain import third_commits as commits
from explain import third_series as laws
from explain.cases import EPOCH, MINUTE, Case, Effect, series
from explain.third_commits import Commit
from explain.third_series import DAY_MINUTES, STARTS, Rhythm

Level = Callable[[np.ndarray], np.ndarray]


@dataclass
class World:
    """A case under construction. `job`: log level by run; `shared` and `load`: of all jobs and of the load, by time."""

    rng: np.random.Generator
    days: float
    times: np.ndarray
    log: list[Commit]
    rhythm: Rhythm
    tables: int
    job: np.ndarray = field(init=False)
    shared: list[Level] = field(default_factory=list)
    load: list[Level] = field(default_factory=list)
    effects: list[tuple[Commit, int, str, float]] = field(default_factory=list)
    heavy: bool = False

    def __post_init__(self) -> None:
        self.job = np.zeros(len(self.times))
        kind = str(self.rng.choice(["none", "seconds", "minutes", "cache"]))
        self._wait = {"none": 0.0, "seconds": self.rng.uniform(0.05, 1), "minutes": self.rng.uniform(1, 9)}.get(kind)
        self._keep = float(self.rng.choice([5, 10, 30]))

    @property
    def span(self) -> float:
        """Minutes of the case."""
        return self.days * DAY_MINUTES

    def ratio(self, low: float = 0.15) -> float:
        """A slowdown large enough to alert someone, and at most 150 %."""
        return float(1 + np.exp(self.rng.uniform(np.log(low), np.log(1.5))))

    def moment(self, low: float = 0.2, high: float = 0.8) -> float:
        """An instant in this part of the case."""
        return float(self.rng.uniform(low, high) * self.span)

    def pick(self, low: float = 0.2, high: float = 0.8, *, kinds: tuple[str, ...] = (), usual: float = 0.25) -> Commit:
        """A commit that becomes a cause: its writer is drawn first, so that busy writers are not guilty more often.

        A share of `usual` looks like any other; those are from writers that do not commit every few minutes.
        """
        near = [each for each in self.log if low * self.span <= each.minute <= high * self.span]
        near = [each for each in near if each.operation != "replace"] or self.log
        rare = [each for each in near if each.every >= 30]
        looks_usual = bool(rare) and not kinds and self.rng.random() < usual
        near = rare if looks_usual else near
        writers = sorted({(each.table, each.faults) for each in near})
        writer = writers[int(self.rng.integers(len(writers)))]
        own = [each for each in near if (each.table, each.faults) == writer]
        chosen = own[int(self.rng.integers(len(own)))]
        if not looks_usual:
            commits.make_atypical(self.rng, chosen, kinds)
        return chosen

    def cause(self, commit: Commit, ratio: float, shape: str = "step", length: int = 1) -> int:
        """Make a commit change the job from the first run that reads it; returns that run's index."""
        seen = commit.minute + self._wait if self._wait is not None else self._refreshed(commit.minute)
        first = min(int(np.searchsorted(self.times, seen)), len(self.times) - 1)
        self.job += laws.effect(len(self.times), first, float(np.log(ratio)), shape, length)
        self.effects.append((commit, first, shape if ratio > 1 else "drop", ratio))
        return first

    def _refreshed(self, minute: float) -> float:
        """When a reader that caches a table's metadata for some minutes next refreshes it."""
        return float(np.ceil(minute / self._keep) * self._keep)

    def some(self, low: int, high: int) -> int:
        """A random number of things."""
        return int(self.rng.integers(low, high))

    def truth(self) -> list[Effect]:
        """The true effects on the job, after `case`."""
        at = _milliseconds(self.times).tolist()
        return [Effect([each.id], int(at[first]), kind, round(ratio, 4)) for each, first, kind, ratio in self.effects]

    def case(self, name: str) -> Case:
        """The case as presented to a method. Unmeasured data, such as the load of four cases in ten, are left out."""
        rng, elasticity = self.rng, self.rng.uniform(0.4, 1.0)
        knots, drifts = laws.wander(rng, self.span)
        self.load.append(lambda at: np.interp(at, knots, drifts))
        common = self.rhythm.late(float(rng.normal(0, 40)), scale=float(rng.uniform(0, 0.6)))
        level = self.job + self.rhythm.at(self.times) + _sum(self.shared, self.times)
        level = level + elasticity * _sum(self.load, self.times)
        seconds = _seconds(rng, level, heavy=self.heavy)
        return {
            "id": name,
            "job": {"id": f"job-{rng.integers(1 << 20):05x}", **_series(self.times, seconds, "duration_seconds")},
            "controls": [self._control(common) for _ in range(self.some(2, 6) if self.shared else self.some(0, 5))],
            "load": self._shown_load() if len(self.load) > 1 or rng.random() < 0.6 else None,
            "commits": commits.rows(rng, self.log),
            "selection": self._selection() if rng.random() < 0.25 else None,
        }

    def _control(self, common: Rhythm) -> Case:
        """An independent job: has its own schedule, is affected by the infrastructure, reads other tables."""
        rng = self.rng
        usual = STARTS[:3] if self.days < 5 else ("hourly", "events") if self.days < 12 else ("hourly", "several")
        times = laws.runs(rng, usual[self.some(0, len(usual))], self.days)
        level = rng.uniform(0.6, 1.3) * _sum(self.shared, times) + common.at(times)
        seconds = _seconds(rng, level, heavy=rng.random() < 0.15)
        return {"id": f"job-{rng.integers(1 << 20):05x}", **_series(times, seconds, "duration_seconds")}

    def _shown_load(self) -> dict[str, Any]:
        """Rows offered, scraped at separate times, with gaps."""
        rng = self.rng
        times = np.arange(0, self.span, float(rng.choice([5, 10, 15])))
        values = np.exp(rng.uniform(3, 12) + _sum(self.load, times) + 0.03 * rng.standard_normal(len(times)))
        hole = rng.uniform(0, self.span)
        times, values = (each[np.abs(times - hole) > 0.01 * self.span] for each in (times, values))
        values[rng.random(len(values)) < 0.01] = np.nan
        return _series(times, values, "values")

    def _selection(self) -> dict[str, int]:
        """A user's selection: around the whole rise, or anything."""
        rising = [first for _, first, _, ratio in self.effects if ratio > 1] or [self.some(0, len(self.times))]
        low, high = max(0, min(rising) - self.some(2, 30)), min(len(self.times) - 1, max(rising) + self.some(8, 60))
        start, end = _milliseconds(self.times[[low, high]]).tolist()
        return {"from": int(start), "to": int(end)}


def _sum(parts: list[Level], times: np.ndarray) -> np.ndarray:
    level = np.zeros(len(times))
    for part in parts:
        level += part(times)
    return level


def _seconds(rng: np.random.Generator, level: np.ndarray, *, heavy: bool) -> np.ndarray:
    """Durations of a job of some seconds to an hour; some are unknown."""
    base = np.exp(rng.uniform(np.log(12), np.log(3600)))
    seconds: np.ndarray = base * np.exp(level + laws.noise(rng, len(level), heavy=heavy))
    seconds[rng.random(len(seconds)) < rng.choice([0.0, 0.02])] = np.nan
    return seconds


def _milliseconds(times: np.ndarray) -> np.ndarray:
    return EPOCH + np.round(times * MINUTE)


def _series(times: np.ndarray, values: np.ndarray, name: str) -> dict[str, Any]:
    return series(_milliseconds(times), values, name)
