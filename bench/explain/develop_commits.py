"""Tables and writers of the development generator: streams, batches, merges, maintenance, terse engines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from explain.cases import HOUR, MINUTE

FEATURES = (
    "added_data_files",
    "added_bytes",
    "removed_data_files",
    "added_delete_files",
    "added_records",
    "manifests",
    "changed_partitions",
)


@dataclass(frozen=True)
class Writer:
    """One way of writing: operation, hours between commits, medians of FEATURES, spread, and unknown features."""

    operation: str | None
    hours: tuple[float, float]
    medians: tuple[float, ...]
    spread: float
    unknown: tuple[int, ...] = ()


STREAM = Writer("append", (0.15, 1.5), (3, 2e7, 0, 0, 2e4, 30, 1), 0.25, (6,))
BATCH = Writer("append", (1, 8), (40, 4e9, 0, 0, 4e6, 12, 4), 0.5)
MERGE = Writer("overwrite", (0.5, 6), (15, 8e8, 12, 2, 5e5, 25, 8), 0.6)
ERASER = Writer("delete", (3, 24), (1, 1e7, 2, 6, 0, 20, 3), 0.7, (1, 4))
MAINTENANCE = Writer("replace", (8, 30), (20, 6e9, 400, 0, 6e6, 8, 10), 0.4)
SILENT = Writer(None, (0.5, 12), (10, 1e9, 0, 0, 1e6, 10, 2), 0.5, (1, 3, 5, 6))
WRITERS = (STREAM, BATCH, MERGE, ERASER, MAINTENANCE, SILENT)
SHARES = (0.25, 0.3, 0.2, 0.1, 0.0, 0.15)


@dataclass
class Lake:
    """Columns of all commits of the case, unordered."""

    at: np.ndarray
    table: np.ndarray
    writer: np.ndarray
    features: np.ndarray
    schema: np.ndarray
    spec: np.ndarray

    @staticmethod
    def name(commit: int) -> str:
        """Id of the commit at this index."""
        return str(7_000_000_000_000 + 104_729 * commit)

    def near(self, rng: np.random.Generator, instant: float) -> int:
        """A commit near an instant, except maintenance; rare writers are as likely as frequent ones."""
        close = np.flatnonzero((np.abs(self.at - instant) < 8 * HOUR) & (WRITERS.index(MAINTENANCE) != self.writer))
        if not close.size:
            return int(np.abs(self.at - instant).argmin())
        kind = self.table[close] * 10 + self.writer[close]
        mine = close[kind == rng.choice(np.unique(kind))]
        return int(rng.choice(mine))

    def spoil(self, rng: np.random.Generator, commit: int) -> None:
        """Make a commit odd for its table."""
        fault, row = int(rng.integers(6)), self.features[commit]
        if fault == 0:
            row[0] = max(row[0], 2) * rng.uniform(8, 100)
        elif fault == 1:
            row[3] = max(row[3], 2) * rng.uniform(8, 80)
        elif fault == 2:
            row *= rng.uniform(4, 20)
        elif fault == 3:
            row[6] = max(row[6], 1) * rng.uniform(8, 60)
            row[0] = max(row[0], 1) * rng.uniform(4, 30)
        elif rng.random() < 0.5:
            self.schema[commit] = True
        else:
            self.spec[commit] = True

    def crowd(self, rng: np.random.Generator, commit: int, count: int) -> None:
        """Move `count` other commits into the minute around this one."""
        others = rng.permutation(np.flatnonzero(np.arange(self.at.size) != commit))[:count]
        self.at[others] = self.at[commit] + rng.uniform(-30_000, 30_000, others.size)

    def maintain(self, rng: np.random.Generator, instant: float) -> int:
        """Add a compaction at an instant."""
        table = int(rng.choice(self.table))
        made = _drawn(rng, table, MAINTENANCE, np.array([instant]))
        for name in ("at", "table", "writer", "features", "schema", "spec"):
            setattr(self, name, np.concatenate([getattr(self, name), getattr(made, name)]))
        return self.at.size - 1

    def rows(self) -> list[dict[str, Any]]:
        """Commits in the case format; values that a writer does not report are null."""
        found = []
        for k in range(self.at.size):
            writer = WRITERS[self.writer[k]]
            numbers = {
                name: None if column in writer.unknown else round(float(self.features[k, column]))
                for column, name in enumerate(FEATURES)
            }
            found.append(
                {
                    "id": self.name(k),
                    "table": f"lake.t{self.table[k]}",
                    "committed_at": round(float(self.at[k])),
                    "operation": writer.operation,
                    "app_id": None if writer is SILENT else f"app-{self.table[k]}-{self.writer[k]}",
                    **numbers,
                    "schema_changed": bool(self.schema[k]),
                    "spec_changed": bool(self.spec[k]) if writer is not SILENT else None,
                }
            )
        return found


def _drawn(rng: np.random.Generator, table: int, writer: Writer, at: np.ndarray) -> Lake:
    medians = np.array(writer.medians) * np.exp(rng.normal(0, 0.8, len(FEATURES)))
    features = medians * np.exp(writer.spread * rng.standard_normal((at.size, len(FEATURES))))
    flags = np.zeros(at.size, bool)
    number = WRITERS.index(writer)
    return Lake(at, np.full(at.size, table), np.full(at.size, number), features, flags, flags.copy())


def draw_lake(rng: np.random.Generator, runs: np.ndarray) -> Lake:
    """One to nine tables with one to three writers each, starting a day before the runs."""
    start, end = float(runs[0]) - 24 * HOUR, float(runs[-1])
    parts = []
    for table in range(int(rng.integers(1, 10))):
        chosen = [WRITERS[k] for k in rng.choice(len(WRITERS), int(rng.integers(1, 3)), replace=False, p=SHARES)]
        for writer in [*chosen, *([MAINTENANCE] if rng.random() < 0.5 else [])]:
            gap = np.exp(rng.uniform(*np.log(writer.hours))) * HOUR
            count = max(4, int((end - start) / gap))
            at = start + (np.arange(count) + rng.uniform(0, 1) + rng.uniform(-0.3, 0.3, count)) * gap
            if rng.random() < 0.15:
                at = np.repeat(at[::4], 4) + np.tile(np.arange(4) * MINUTE / 5, at[::4].size)
            parts.append(_drawn(rng, table, writer, at))
    lake = Lake(*(np.concatenate([getattr(part, name) for part in parts]) for name in Lake.__dataclass_fields__))
    within = (lake.at >= start) & (lake.at <= end)
    lake = Lake(*(getattr(lake, name)[within] for name in Lake.__dataclass_fields__))
    decoys = rng.choice(lake.at.size, min(int(rng.integers(0, 9)), lake.at.size // 8), replace=False)
    for decoy in decoys:
        lake.spoil(rng, int(decoy))
    return lake
