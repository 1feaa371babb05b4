"""Laws of the commits of the public generator: four tables with a jittered cadence and lognormal features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from explain.cases import EPOCH, MINUTE
from explain.series_laws import POINTS, STEP

FEATURES = (
    "added_data_files",
    "added_bytes",
    "removed_data_files",
    "added_delete_files",
    "added_records",
    "manifests",
)
MEDIANS = (12.0, 2e8, 4.0, 3.0, 2e5, 20.0)
OPERATIONS = ("append", "overwrite", "delete", "replace")
OPERATION_SHARES = (0.7, 0.1, 0.1, 0.1)
TABLES = 4


@dataclass
class Commits:
    """Columns of all commits of a case, ordered by time; `features` has one column for each of FEATURES."""

    table: np.ndarray
    minute: np.ndarray
    operation: np.ndarray
    features: np.ndarray
    schema_changed: np.ndarray
    spec_changed: np.ndarray
    writer: list[str]

    def rows(self) -> list[dict[str, Any]]:
        """Commits in the case format."""
        counts = np.round(self.features).astype(np.int64)
        partitions = np.maximum(1, np.round(np.sqrt(self.features[:, 0]))).astype(np.int64)
        return [
            {
                "id": self.name(index),
                "table": f"lake.sales.table_{self.table[index]}",
                "committed_at": EPOCH + int(self.minute[index] * MINUTE),
                "operation": OPERATIONS[self.operation[index]],
                "app_id": self.writer[index],
                **{name: int(counts[index, column]) for column, name in enumerate(FEATURES)},
                "changed_partitions": int(partitions[index]),
                "schema_changed": bool(self.schema_changed[index]),
                "spec_changed": bool(self.spec_changed[index]),
            }
            for index in range(len(self.minute))
        ]

    @staticmethod
    def name(index: int) -> str:
        """Id of the commit at `index`, as text like snapshot ids."""
        return str(5_184_430_069_000_000_000 + index * 7_919)

    def between(self, low: float, high: float) -> np.ndarray:
        """Indices of the commits in a span, in minutes."""
        return np.flatnonzero((self.minute >= low) & (self.minute <= high))


def draw(rng: np.random.Generator, density: int = 1) -> Commits:
    """100 to 236 ordinary commits (times `density`) of four tables, each with a jittered cadence and lognormal laws."""
    columns: list[tuple[np.ndarray, ...]] = []
    total = POINTS * STEP
    for table in range(TABLES):
        count = density * int(rng.integers(25, 60))
        cadence = total / count
        minute = np.clip((np.arange(count) + rng.uniform(-0.45, 0.45, count) + 0.5) * cadence, 0, total - 1)
        medians = np.log(MEDIANS) + rng.normal(0, 0.7, len(FEATURES))
        spread = rng.uniform(0.25, 0.6, len(FEATURES))
        features = np.exp(medians + rng.standard_normal((count, len(FEATURES))) * spread)
        operation = rng.choice(len(OPERATIONS), count, p=OPERATION_SHARES)
        columns.append((np.full(count, table), minute, operation, features))
    table, minute, operation = (np.concatenate([part[column] for part in columns]) for column in range(3))
    features = np.concatenate([part[3] for part in columns])
    order = np.argsort(minute, kind="stable")
    flags = np.zeros(len(order), bool)
    writer = [f"ingest-{table[index]}" for index in order]
    return Commits(table[order], minute[order], operation[order], features[order], flags, flags.copy(), writer)


def make_atypical(rng: np.random.Generator, commits: Commits, index: int) -> None:
    """Give a commit a structural fault: many files, many delete files, much of everything, a schema or spec change."""
    fault = rng.integers(4)
    if fault == 0:
        commits.features[index, 0] *= rng.uniform(15, 100)
    elif fault == 1:
        commits.features[index, 3] *= rng.uniform(15, 80)
    elif fault == 2:
        commits.features[index] *= rng.uniform(5, 30)
    elif rng.random() < 0.5:
        commits.schema_changed[index] = True
    else:
        commits.spec_changed[index] = True
