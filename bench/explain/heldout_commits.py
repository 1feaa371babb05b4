"""Laws of the commits of the second generator: writers of seven engines, each with its own operations, cadence, sizes
and unreported values; bursts of several commits within a minute; nightly maintenance.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from explain.cases import EPOCH, MINUTE
from explain.commit_laws import FEATURES

FILES, BYTES, REMOVED, DELETES, RECORDS, MANIFESTS, PARTITIONS = range(7)
COLUMNS = (*FEATURES, "changed_partitions")


@dataclass(frozen=True)
class Writer:
    """How an engine writes: operations with shares, minutes between commits, median files, unreported values."""

    engine: str
    operations: dict[str, float]
    cadence: tuple[float, float]
    files: tuple[float, float]
    spread: float
    unknown: tuple[int, ...] = ()
    names_itself: bool = True


WRITERS = (
    Writer("stream", {"append": 1.0}, (12, 45), (1, 8), 0.25, (PARTITIONS,), names_itself=False),
    Writer("batch", {"append": 0.9, "overwrite": 0.1}, (55, 130), (20, 300), 0.5),
    Writer("merge", {"overwrite": 0.8, "append": 0.2}, (90, 400), (5, 60), 0.9),
    Writer("deltas", {"append": 0.4, "delete": 0.2, "overwrite": 0.4}, (30, 120), (2, 30), 0.6),
    Writer("adhoc", {"append": 0.6, "delete": 0.4}, (120, 900), (1, 12), 1.3, (MANIFESTS, PARTITIONS)),
    Writer("sync", {"append": 0.7, "overwrite": 0.3}, (20, 60), (1, 20), 0.4, (DELETES, MANIFESTS)),
    Writer("load", {"append": 0.5, "overwrite": 0.5}, (360, 1440), (100, 900), 0.35, (RECORDS,)),
)
FAULTS = ("files", "files", "deletes", "all", "manifests", "schema", "spec")


@dataclass
class Log:
    """Columns of the commits of a case in order of time. `size` has COLUMNS; NaN: the engine does not report it."""

    table: np.ndarray
    minute: np.ndarray
    operation: np.ndarray
    size: np.ndarray
    app: np.ndarray
    schema: np.ndarray
    spec: np.ndarray

    def order(self) -> None:
        """Sort by time, in place. Invalidates existing indices."""
        rank = np.argsort(self.minute, kind="stable")
        for name in ("table", "minute", "operation", "size", "app", "schema", "spec"):
            setattr(self, name, getattr(self, name)[rank])

    def add(self, rows: Iterable[tuple[int, float, str, np.ndarray, str]]) -> None:
        """Add commits: table, minute, operation, sizes, application."""
        table, minute, operation, size, app = zip(*rows, strict=True)
        self.table = np.concatenate([self.table, table])
        self.minute = np.concatenate([self.minute, minute])
        self.operation = np.concatenate([self.operation, operation])
        self.size = np.concatenate([self.size, size])
        self.app = np.concatenate([self.app, app])
        more = np.zeros(len(table), bool)
        self.schema, self.spec = np.concatenate([self.schema, more]), np.concatenate([self.spec, more])

    @staticmethod
    def name(index: int) -> str:
        """Id of the commit at `index`; ids are not in order of time."""
        return str((index * 2_654_435_761 + 977) % (1 << 53) + (1 << 60))

    def rows(self, rng: np.random.Generator) -> list[dict[str, Any]]:
        """Commits in the case format, in order of time or shuffled; occasionally any number is missing."""
        lost = rng.random(self.size.shape) < 0.01
        sizes = np.where(lost, np.nan, np.round(self.size)).tolist()
        rows = [
            {
                "id": self.name(index),
                "table": f"lake.core.t{self.table[index]}",
                "committed_at": EPOCH + int(self.minute[index] * MINUTE),
                "operation": str(self.operation[index]),
                "app_id": str(self.app[index]) or None,
                **{name: int(v) if v == v else None for name, v in zip(COLUMNS, sizes[index], strict=True)},  # noqa: PLR0124
                "schema_changed": bool(self.schema[index]),
                "spec_changed": bool(self.spec[index]),
            }
            for index in range(len(self.minute))
        ]
        in_time = rng.random() < 0.7
        return [rows[index] for index in (np.argsort(self.minute) if in_time else rng.permutation(len(rows)))]


def draw(rng: np.random.Generator, tables: int, days: float, crowd: float = 1.0) -> Log:
    """All commits of `tables` tables, at most about 2,000; `crowd` shortens the time between commits."""
    log = Log(
        *(np.empty(0, kind) for kind in (int, float, object)),
        np.empty((0, 7)),
        *(np.empty(0, k) for k in (object, bool, bool)),
    )
    for table in range(tables):
        for writer in rng.choice(len(WRITERS), int(rng.choice([1, 2], p=[0.75, 0.25])), replace=False):
            log.add(_history(rng, table, WRITERS[writer], days=days, crowd=crowd, most=max(20, 2000 // tables)))
        if rng.random() < 0.4:
            log.add(maintenance(rng, table, day * 1440 + rng.uniform(90, 300)) for day in range(int(days)))
    log.order()
    return log


def _history(
    rng: np.random.Generator, table: int, writer: Writer, *, days: float, crowd: float, most: int
) -> list[tuple[int, float, str, np.ndarray, str]]:
    """One writer's commits to one table: more frequent by day, each operation with its own sizes."""
    cadence = float(np.exp(rng.uniform(*np.log(writer.cadence)))) / crowd
    count = int(min(most, max(3, days * 1440 / cadence)))
    minute = np.cumsum(rng.gamma(6, 1 / 6, count))
    minute *= days * 1440 * 0.998 / minute[-1]
    names = list(writer.operations)
    operation = rng.choice(names, count, p=list(writer.operations.values()))
    middle = float(np.exp(rng.uniform(*np.log(writer.files))))
    day = 1 + 0.5 * np.sin(2 * np.pi * minute / 1440 + rng.uniform(0, 6))
    files = np.maximum(1, rng.negative_binomial(1 / writer.spread**2, 1 / (1 + middle * day * writer.spread**2)))
    size = np.zeros((count, 7))
    size[:, FILES] = files
    size[:, BYTES] = files * np.exp(rng.uniform(14, 19) + rng.normal(0, 0.3, count))
    size[:, RECORDS] = size[:, BYTES] / rng.uniform(40, 400)
    size[:, MANIFESTS] = rng.uniform(3, 60) * np.exp(wave(rng, count))
    size[:, PARTITIONS] = np.maximum(1, np.minimum(files, rng.integers(1, 25)))
    rewrites, deletes = operation == "overwrite", operation == "delete"
    size[rewrites, REMOVED] = files[rewrites] * rng.uniform(0.5, 1.0)
    if writer.engine == "deltas":
        size[rewrites, DELETES] = np.maximum(1, files[rewrites] * rng.uniform(0.2, 1.0))
        size[rewrites, REMOVED] = 0
    size[deletes, FILES] = 0
    size[deletes, REMOVED if rng.random() < 0.5 else DELETES] = np.maximum(1, files[deletes] // 2)
    size[:, list(writer.unknown)] = np.nan
    app = f"{writer.engine}-{table}" if writer.names_itself else ""
    return [(table, float(minute[i]), str(operation[i]), size[i], app) for i in range(count)]


def wave(rng: np.random.Generator, count: int) -> np.ndarray:
    """A saw-tooth, as the number of manifests grows and is reduced by merges."""
    period = int(rng.integers(10, 80))
    return 0.8 * ((np.arange(count) + rng.integers(period)) % period) / period


def maintenance(rng: np.random.Generator, table: int, minute: float) -> tuple[int, float, str, np.ndarray, str]:
    """A compaction: many files removed, few added."""
    removed = float(rng.uniform(30, 400))
    size = np.array([removed / rng.uniform(8, 30), removed * 3e7, removed, 0, removed * 1e5, rng.uniform(2, 8), 5.0])
    return table, minute, "replace", size, "compaction"


def make_atypical(rng: np.random.Generator, log: Log, index: int) -> None:
    """Add one structural fault, as strong as the table's own engine would make it."""
    fault, size = str(rng.choice(FAULTS)), log.size[index]
    if np.isnan(size[{"deletes": DELETES, "manifests": MANIFESTS}.get(fault, FILES)]):
        fault = "files"  # a value that the engine never reports must not appear with the fault
    if fault == "files":
        size[FILES] = max(size[FILES], 2) * np.exp(rng.uniform(np.log(8), np.log(200)))
    elif fault == "deletes":
        size[DELETES] = max(size[DELETES], 1) * np.exp(rng.uniform(np.log(20), np.log(300)))
    elif fault == "all":
        size *= np.exp(rng.uniform(np.log(4), np.log(40)))
    elif fault == "manifests":
        size[MANIFESTS] = max(size[MANIFESTS], 4) * rng.uniform(8, 40)
        size[FILES] *= rng.uniform(1, 4)
    elif fault == "schema":
        log.schema[index] = True
        size[FILES] *= rng.uniform(1, 3)
    else:
        log.spec[index] = True
        size[[FILES, PARTITIONS]] *= rng.uniform(3, 20)
