"""Building blocks of a table's plan: SQL, and commits by writers. Pure values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

MB = 1_000_000
COMMON_SIZES = (100 * MB, 128 * MB)


class Writer(NamedTuple):
    """The writer of a commit, as Spark records it in the summary."""

    app_id: str
    app_name: str
    user: str


@dataclass(frozen=True, slots=True)
class Files:
    """Placeholder data files: their number, the bounds of their random sizes in bytes, rows per file, stem of their
    names.
    """

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
    """SQL that Spark runs: DDL on any table; DELETE or a procedure only on tables with real files."""

    at: int
    sql: str


class Compaction(NamedTuple):
    """Replaces placeholders whose names start with `stem` with `into.count` larger ones: operation `replace`, metadata
    only.
    """

    at: int
    stem: str
    into: Files


Step = Append | RowAppend | SqlStep | Compaction


class TablePlan(NamedTuple):
    """A table: its SQL columns, partitioning, properties, and commits in order of time."""

    name: str
    columns: str
    partitioned_by: str
    properties: dict[str, str]
    steps: tuple[Step, ...]

    @property
    def namespace(self) -> str:
        """The first part of the name."""
        return self.name.split(".", maxsplit=1)[0]

    @property
    def table(self) -> str:
        """The last part of the name."""
        return self.name.split(".")[1]
