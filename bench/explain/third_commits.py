"""Laws of the commits of the third generator: engines with their own cadence, numbers, faults and unreported values.

A table's manifests follow from its history: each commit adds some, merging and compaction remove them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from explain.cases import EPOCH, MINUTE
from explain.commit_laws import FEATURES

FILES, BYTES, REMOVED, DELETES, RECORDS, MANIFESTS, PARTITIONS = range(7)
COLUMNS = (*FEATURES, "changed_partitions")
STREAMS = (1, 5, 10, 15, 30, 60)
FLAGS = frozenset({"schema", "spec"})
DAY = 24 * 60


@dataclass(frozen=True)
class Engine:
    """How an engine writes. Ranges are drawn from per writer; `rewrite` and `deletes` are shares of the added files."""

    operations: dict[str, float]
    every: tuple[float, float]
    files: tuple[float, float]
    spread: float
    partitions: tuple[int, int]
    faults: tuple[str, ...]
    silent: tuple[int, ...]
    app: Literal["stable", "run", "none"]
    rewrite: float = 0.0
    deletes: float = 0.0
    cron: bool = False


ENGINES = {
    "spark": Engine(
        {"append": 0.95, "overwrite": 0.05}, (60, 360), (8, 220), 0.15, (1, 4),
        ("small", "volume", "sprayed", "schema", "spec"), (DELETES,), "run", cron=True,
    ),
    "stream": Engine({"append": 1.0}, (1, 5), (1, 8), 0.2, (1, 2), ("small", "volume"), (REMOVED, DELETES), "stable"),
    "dbt": Engine(
        {"overwrite": 1.0}, (60, 720), (4, 60), 0.3, (1, 3),
        ("refresh", "refresh", "schema", "small"), (DELETES, MANIFESTS), "run", rewrite=1.0, cron=True,
    ),
    "cdc": Engine(
        {"overwrite": 0.7, "append": 0.15, "delete": 0.15}, (8, 40), (2, 16), 0.6, (2, 20),
        ("deletes", "deletes", "sprayed", "volume"), (RECORDS,), "stable", deletes=0.8,
    ),
    "erasure": Engine(
        {"overwrite": 0.6, "delete": 0.4}, (360, 1440), (3, 40), 0.7, (5, 60),
        ("refresh", "deletes", "sprayed"), (RECORDS, PARTITIONS), "none", rewrite=0.9, deletes=0.3,
    ),
    "copy": Engine(
        {"append": 0.8, "delete": 0.2}, (20, 90), (1, 6), 1.0, (1, 1),
        ("volume", "small", "schema"), (MANIFESTS, PARTITIONS), "none",
    ),
}  # fmt: skip
NEEDS = {"small": FILES, "volume": BYTES, "sprayed": PARTITIONS, "refresh": REMOVED, "deletes": DELETES}


@dataclass(eq=False)
class Commit:
    """One commit; NaN in `size` is unknown. `every`: minutes between commits of its writer."""

    table: int
    minute: float
    operation: str
    size: np.ndarray
    app: str | None
    faults: tuple[str, ...]
    every: float
    schema: bool = False
    spec: bool = False
    id: str = field(default="", init=False)


def draw(rng: np.random.Generator, tables: int, days: float) -> list[Commit]:
    """All commits of `tables` tables, a few thousand at most, in order of time."""
    names = list(ENGINES)
    found: list[Commit] = []
    for table in range(tables):
        for name in rng.choice(names, int(rng.choice([1, 2], p=[0.7, 0.3])), replace=False):
            found += _history(rng, table, ENGINES[str(name)], days, most=max(40, 2600 // tables))
        if rng.random() < 0.45:
            every = float(rng.choice([360, DAY, 7 * DAY]))
            starts = np.arange(rng.uniform(0, every), days * DAY, every)
            found += [compaction(rng, table, float(at + rng.exponential(9))) for at in starts]
    last = days * DAY
    found += [backfill(rng, int(rng.integers(tables)), rng.uniform(0, last)) for _ in range(int(rng.integers(0, 4)))]
    found = sorted((each for each in found if each.minute < last), key=lambda each: each.minute)
    _manifests(rng, found, tables)
    return found


def _history(rng: np.random.Generator, table: int, engine: Engine, days: float, most: int) -> list[Commit]:
    """One writer's commits: larger by day and smaller at weekends, on a cron schedule or irregular."""
    every = _log_uniform(rng, engine.every)
    if engine is ENGINES["stream"]:
        every = float(next((step for step in STREAMS if step >= every and days * DAY / step < most), STREAMS[-1]))
    every = max(every, days * DAY / most)
    count = int(days * DAY / every)
    grid = rng.uniform(0, every) + every * np.arange(count)
    gaps = rng.exponential(0.05 * every, count) if engine.cron else rng.normal(0, 0.2 * every, count)
    minute = np.clip(grid + gaps, 0, None)
    middle, bytes_each = _log_uniform(rng, engine.files), _log_uniform(rng, (2e5, 3e8))
    busy = 0.25 * np.sin(2 * np.pi * minute / DAY) - 0.3 * ((minute // DAY).astype(int) % 7 >= 5)
    files = np.maximum(1, np.round(middle * np.exp(busy + engine.spread * rng.standard_normal(count))))
    operation = rng.choice(list(engine.operations), count, p=list(engine.operations.values()))
    size = np.zeros((count, 7))
    size[:, FILES] = np.where(operation == "delete", 0, files)
    size[:, BYTES] = size[:, FILES] * bytes_each * np.exp(0.25 * rng.standard_normal(count))
    size[:, RECORDS] = size[:, BYTES] / rng.uniform(30, 300)
    size[:, REMOVED] = np.where(
        operation == "append", 0, np.round(engine.rewrite * files * rng.uniform(0.8, 1.1, count))
    )
    changed = np.round(engine.deletes * files * rng.uniform(0.6, 1.4, count))
    size[:, DELETES] = np.where(operation == "append", 0, changed)
    few, many = engine.partitions
    size[:, PARTITIONS] = rng.integers(few, max(few, int(rng.integers(few, many + 1))) + 1, count)
    silent = [column for column in engine.silent if rng.random() < 0.7]
    size[:, silent] = np.nan
    stable, per_run = f"app-{rng.integers(1 << 30):08x}", engine.app == "run" and rng.random() < 0.4
    apps = [f"application_{rng.integers(1 << 40)}" if per_run else stable for _ in range(count)]
    return [
        Commit(
            table, float(minute[at]), str(operation[at]), size[at],
            None if engine.app == "none" else apps[at], engine.faults, every,
        )
        for at in range(count)
    ]  # fmt: skip


def _log_uniform(rng: np.random.Generator, limits: tuple[float, float]) -> float:
    return float(np.exp(rng.uniform(*np.log(limits))))


def _manifests(rng: np.random.Generator, commits: list[Commit], tables: int) -> None:
    """Count each table's manifests along its history, including commits whose engine does not report the number."""
    limits, counts = rng.integers(30, 120, tables), rng.integers(4, 30, tables)
    for each in commits:
        counts[each.table] += 1 if each.operation == "append" else 3
        if each.operation == "replace" or counts[each.table] > limits[each.table]:
            counts[each.table] = rng.integers(3, 9)
        if each.size[MANIFESTS] == 0:
            each.size[MANIFESTS] = counts[each.table]


def compaction(rng: np.random.Generator, table: int, minute: float) -> Commit:
    """Many files become few; changes of deletes and records are rarely reported."""
    removed = _log_uniform(rng, (15, 600))
    size = np.array(
        [max(1, removed / rng.uniform(5, 25)), removed * 2e7, removed, 0, removed * 2e5, rng.integers(3, 9), 8.0]
    )
    if rng.random() < 0.5:
        size[[DELETES, RECORDS]] = np.nan
    return Commit(table, minute, "replace", size, "maintenance", ("small", "sprayed"), DAY)


def backfill(rng: np.random.Generator, table: int, minute: float) -> Commit:
    """A manual rewrite of several months: nothing about it is usual, and it mostly affects no job."""
    partitions = float(rng.integers(14, 400))
    files = partitions * rng.uniform(1, 6)
    removed = files * rng.uniform(0, 1.2) * (rng.random() < 0.6)
    added, manifests = files * _log_uniform(rng, (1e6, 2e8)), rng.integers(8, 60)
    size = np.array([files, added, removed, 0, files * 4e5, manifests, partitions])
    app = None if rng.random() < 0.5 else f"app-{rng.integers(1 << 30):08x}"
    return Commit(table, minute, "overwrite" if removed else "append", size, app, ("small", "volume"), 30 * DAY)


def make_atypical(rng: np.random.Generator, commit: Commit, kinds: tuple[str, ...] = ()) -> None:
    """Add a fault typical of this engine, in numbers that it reports; if it reports too few, increase all of them."""
    size = commit.size
    possible = [each for each in kinds or commit.faults if not np.isnan(size[NEEDS.get(each, FILES)]) or each in FLAGS]
    fault = str(rng.choice(possible)) if possible else "all"
    factor = _log_uniform(rng, (8, 90))
    if fault in {"small", "volume", "refresh"}:  # a delete too, which then also writes
        least = np.array([2.0, 2e7, 1e5])
        size[[FILES, BYTES, RECORDS]] = np.maximum(size[[FILES, BYTES, RECORDS]], least)
    if fault in FLAGS:
        commit.schema, commit.spec = fault == "schema", fault == "spec"
        size[FILES] *= rng.uniform(1, 4)
        size[PARTITIONS] *= rng.uniform(2, 12) if fault == "spec" else 1
    elif fault == "small":
        size[FILES] *= factor
        size[PARTITIONS] *= rng.uniform(1, 3)
    elif fault == "volume":
        size[[FILES, BYTES, RECORDS]] *= (0.4 * factor, factor, factor)
    elif fault == "sprayed":
        size[[FILES, PARTITIONS]] = np.maximum(size[[FILES, PARTITIONS]], 2) * (rng.uniform(1, 5), factor)
    elif fault == "refresh":
        size[[FILES, BYTES, RECORDS, PARTITIONS]] *= factor
        size[REMOVED] = max(size[REMOVED], 2) * factor
    elif fault == "deletes":
        size[DELETES] = max(size[DELETES], 2) * factor
    else:
        size[:] = np.maximum(size, 1) * factor
    if commit.operation == "delete" and size[FILES] > 0:
        commit.operation = "overwrite"


def rows(rng: np.random.Generator, commits: list[Commit]) -> list[dict[str, Any]]:
    """Commits in the case format, by time or shuffled. Ids are random: they reveal neither order nor role."""
    ids = np.unique(rng.integers(1 << 53, 1 << 62, 2 * len(commits)))
    for each, number in zip(commits, rng.permutation(ids)[: len(commits)].tolist(), strict=True):
        each.id = str(number)
    ordered = sorted(commits, key=lambda each: each.minute)
    if rng.random() < 0.3:
        ordered = [ordered[at] for at in rng.permutation(len(ordered))]
    return [_row(each, unreadable=rng.random() < 0.004) for each in ordered]


def _row(commit: Commit, *, unreadable: bool) -> dict[str, Any]:
    """`unreadable`: its manifests could not be read, no number is known."""
    numbers = [None if unreadable or value != value else round(value) for value in commit.size.tolist()]  # noqa: PLR0124
    return {
        "id": commit.id,
        "table": f"lake.core.t{commit.table}",
        "committed_at": EPOCH + int(commit.minute * MINUTE),
        "operation": commit.operation,
        "app_id": commit.app,
        **dict(zip(COLUMNS, numbers, strict=True)),
        "schema_changed": commit.schema,
        "spec_changed": commit.spec,
    }
