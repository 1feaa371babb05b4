"""A table of the demo: its SQL, and commits by writers in order of time. Pure values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

MB = 1_000_000
COMMON_SIZES = (100 * MB, 128 * MB)


class Writer(NamedTuple):
    """Who commits: what Spark would write into the summary."""

    app_id: str
    app_name: str
    user: str


@dataclass(frozen=True, slots=True)
class Files:
    """Placeholder data files: how many, sizes in bytes drawn between two bounds, rows each, stem of their names."""

    count: int
    sizes: tuple[int, int] = COMMON_SIZES
    rows: int = 850_000
    stem: str = "part"


class Append(NamedTuple):
    """An append of placeholders, to the partition of the commit's day or `late_days` before it."""

    at: int
    files: Files
    writer: Writer
    late_days: int = 0
    branch: str = "main"


@dataclass(frozen=True, slots=True)
class RowAppend:
    """An append of real rows in one real Parquet file."""

    at: int
    count: int
    writer: Writer


class SqlStep(NamedTuple):
    """SQL that Spark runs: DDL on any table, DELETE or a procedure only where the files are real."""

    at: int
    sql: str


class Compaction(NamedTuple):
    """Placeholders whose name holds `stem` become `into.count` bigger ones: operation `replace`, metadata only."""

    at: int
    stem: str
    into: Files


Step = Append | RowAppend | SqlStep | Compaction


class TablePlan(NamedTuple):
    """One table: its SQL columns, partitioning, properties and its commits in order of time."""

    name: str
    columns: str
    partitioned_by: str
    properties: dict[str, str]
    steps: tuple[Step, ...]

    @property
    def namespace(self) -> str:
        """First part of the name."""
        return self.name.split(".", maxsplit=1)[0]

    @property
    def table(self) -> str:
        """Last part of the name."""
        return self.name.split(".")[1]
