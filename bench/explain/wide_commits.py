"""Tables and writers with laws drawn again for each case: cadence, sizes, tails, unknown values, clocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from explain.cases import HOUR, MINUTE
from explain.develop_commits import FEATURES

NAMES = ("append", "overwrite", "delete", "MERGE", "WRITE", "STREAMING UPDATE", None)
NAME_SHARES = (0.4, 0.2, 0.08, 0.1, 0.1, 0.05, 0.07)
MAINTAINS = ("replace", "OPTIMIZE", "replace")


@dataclass(frozen=True)
class Writer:
    """One way of writing to one table."""

    table: int
    operation: str | None
    app: str | None
    medians: np.ndarray
    spread: np.ndarray
    empty: np.ndarray
    common: float
    tail: float
    unknown: np.ndarray
    forgets: float
    maintains: bool = False

    def drawn(self, rng: np.random.Generator, count: int) -> np.ndarray:
        """Features of `count` commits."""
        size = (count, len(FEATURES))
        own = rng.standard_t(self.tail, size) if self.tail else rng.standard_normal(size)
        log = np.log(self.medians) + self.spread * own + self.common * rng.standard_normal((count, 1))
        return np.where(rng.random(size) < self.empty, 0.0, np.exp(np.minimum(log, 40)))


@dataclass
class Lake:
    """Columns of all commits of the case, unordered."""

    writers: list[Writer]
    at: np.ndarray
    writer: np.ndarray
    features: np.ndarray
    schema: np.ndarray
    spec: np.ndarray
    strength: float = 1.0

    @staticmethod
    def name(commit: int) -> str:
        """Id of the commit at this index."""
        return str(3_100_000_000_000 + 104_729 * commit)

    @property
    def table(self) -> np.ndarray:
        """Table of each commit."""
        return np.array([each.table for each in self.writers])[self.writer]

    @property
    def maintains(self) -> np.ndarray:
        """Whether each commit is maintenance."""
        return np.array([each.maintains for each in self.writers])[self.writer]

    def near(self, rng: np.random.Generator, instant: float) -> int:
        """A commit within some hours: any commit, or any writer's."""
        for width in (6, 24, 1000):
            close = np.flatnonzero((np.abs(self.at - instant) < width * HOUR) & ~self.maintains)
            if close.size:
                break
        if rng.random() < 0.5:
            close = close[self.writer[close] == rng.choice(np.unique(self.writer[close]))]
        return int(rng.choice(close))

    def spoil(self, rng: np.random.Generator, commit: int) -> None:
        """Make a commit odd for its table, by the case's amount."""
        row, fault = self.features[commit], int(rng.integers(6))
        how = np.exp(rng.uniform(np.log(5), np.log(100))) ** self.strength
        if fault == 0:
            row[0] = max(row[0], 2) * how
        elif fault == 1:
            row[3] = max(row[3], 2) * how
        elif fault == 2:
            row *= how**0.6
        elif fault == 3:
            row[6] = max(row[6], 1) * how
            row[0] = max(row[0], 1) * how**0.7
        elif fault == 4:
            row[2] = max(row[2], 2) * how
            row[4] = max(row[4], 1) * how**0.7
        elif rng.random() < 0.5:
            self.schema[commit] = True
        else:
            self.spec[commit] = True

    def crowd(self, rng: np.random.Generator, commit: int, count: int) -> None:
        """Move `count` other commits into the minute around this one."""
        others = rng.permutation(np.flatnonzero(np.arange(self.at.size) != commit))[:count]
        self.at[others] = self.at[commit] + rng.uniform(-30_000, 30_000, others.size)

    def add(self, writer: Writer, at: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Add commits of a writer; returns their indices."""
        if not any(writer is each for each in self.writers):
            self.writers.append(writer)
        number = next(k for k, each in enumerate(self.writers) if each is writer)
        first = self.at.size
        self.at = np.concatenate([self.at, at])
        self.writer = np.concatenate([self.writer, np.full(at.size, number)])
        self.features = np.concatenate([self.features, writer.drawn(rng, at.size)])
        flags = np.zeros(at.size, bool)
        self.schema, self.spec = np.concatenate([self.schema, flags]), np.concatenate([self.spec, flags])
        return np.arange(first, first + at.size)

    def maintain(self, rng: np.random.Generator, instant: float) -> int:
        """Add maintenance of some table at an instant."""
        table = int(rng.choice(self.table))
        known = [each for each in self.writers if each.table == table and each.maintains]
        return int(self.add(known[0] if known else maintenance(rng, table), np.array([instant]), rng)[0])

    def rows(self, rng: np.random.Generator) -> list[dict[str, Any]]:
        """Commits in the case format; values that a writer does not report are null."""
        found = []
        for k in range(self.at.size):
            writer = self.writers[self.writer[k]]
            lost = writer.unknown | (rng.random(len(FEATURES)) < writer.forgets)
            found.append(
                {
                    "id": self.name(k),
                    "table": f"lake.w{writer.table}",
                    "committed_at": round(float(self.at[k])),
                    "operation": writer.operation,
                    "app_id": writer.app,
                    **{name: None if lost[c] else round(float(self.features[k, c])) for c, name in enumerate(FEATURES)},
                    "schema_changed": bool(self.schema[k]),
                    "spec_changed": bool(self.spec[k]),
                }
            )
        return found


def writer(rng: np.random.Generator, table: int, name: str | None = None, *, maintains: bool = False) -> Writer:
    """A random way of writing to a table."""
    bases = np.array([10, 5e8, 4, 2, 5e5, 15, 4.0])
    operation = name or (rng.choice(MAINTAINS) if maintains else rng.choice(np.array(NAMES, object), p=NAME_SHARES))
    empty = np.where(rng.random(7) < 0.25, rng.uniform(0.3, 1, 7), 0.0) * np.array([0, 0, 1, 1, 0, 0, 0.3])
    silent = rng.random() < 0.12
    return Writer(
        table,
        None if operation is None else str(operation),
        None if rng.random() < 0.25 else f"job-{rng.integers(1000)}",
        bases * np.exp(rng.normal(0, 1, 7)) * (20 if maintains else 1),
        np.exp(rng.uniform(np.log(0.1), np.log(0.9), 7)),
        empty,
        float(rng.choice([0, 0.2, 0.6])),
        float(rng.choice([0, 0, 4])),
        rng.random(7) < (0.6 if silent else 0.1),
        float(rng.choice([0, 0, 0.1])),
        maintains,
    )


def maintenance(rng: np.random.Generator, table: int) -> Writer:
    """A random way of rewriting a table's files."""
    return writer(rng, table, maintains=True)


def draw_lake(rng: np.random.Generator, runs: np.ndarray) -> Lake:
    """One to 25 tables; at most some thousand commits."""
    start, end = float(runs[0]) - 24 * HOUR, float(runs[-1])
    lake = Lake([], np.empty(0), np.empty(0, np.int64), np.empty((0, 7)), np.empty(0, bool), np.empty(0, bool))
    lake.strength = float(rng.uniform(0.7, 1.1))
    tables = int(np.exp(rng.uniform(0, np.log(25))))
    clock = rng.random() < 0.3
    pace = rng.uniform(-0.7, 0.7)
    for table in range(tables):
        made = [writer(rng, table) for _ in range(int(rng.integers(1, 3)))]
        for each in made:
            gap = np.clip(np.exp(rng.normal(np.log(2) + pace, 1.2)), 0.1, 36) * HOUR
            lake.add(each, _times(rng, start, end, gap, clock), rng)
        if rng.random() < 0.5:
            gap = np.exp(rng.uniform(np.log(6), np.log(36))) * HOUR
            lake.add(maintenance(rng, table), _times(rng, start, end, gap, clock), rng)
    if not lake.at.size:
        lake.add(writer(rng, 0), start + rng.uniform(0, 1, 12) * (end - start), rng)
    odd = rng.uniform(0, 10) if rng.random() < 0.8 else rng.uniform(10, 40)
    for decoy in rng.choice(lake.at.size, min(int(odd), lake.at.size // 8), replace=False):
        lake.spoil(rng, int(decoy))
    return lake


def _times(rng: np.random.Generator, start: float, end: float, gap: float, clock: bool) -> np.ndarray:
    count = max(3, int((end - start) / gap))
    law = rng.integers(4)
    if clock and law < 3:
        step = max(1, round(gap / HOUR)) * HOUR
        at = np.arange(start - start % HOUR + rng.integers(0, 2) * 30 * MINUTE, end, step)
        return at + rng.uniform(0, 40_000) + rng.uniform(0, 20_000, at.size)
    if law == 0:
        at = start + rng.uniform(0, 1, count) * (end - start)
    elif law == 1:
        many = int(rng.integers(2, 6))
        at = np.repeat(start + rng.uniform(0, 1, max(count // many, 1)) * (end - start), many)
        at = at + rng.uniform(0, 60_000, at.size)
    else:
        at = start + (np.arange(count) + rng.uniform(0, 1) + rng.uniform(-0.45, 0.45, count)) * gap
    return at[(at >= start) & (at < end)]
