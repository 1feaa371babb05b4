"""Generated statements on a real Trino: tables of every transform, and which partitions' files a statement replaces."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import trino

from limnograph.analysis.advice.statements.iceberg import rewrite_data_files
from limnograph.analysis.advice.statements.scopes import PartitionChoice, PartitionScope, ScopeField
from limnograph.analysis.advice.statements.subject import StatementTable

TIME = "timestamp(6) with time zone"
AT = "TIMESTAMP '2026-11-{} {}:00:00 UTC'"
DAY = 20_777
CASES: list[tuple[str, str, str, str, str, tuple[str, ...], object]] = [
    ("year", TIME, "year(v)", "timestamptz", "year", (AT.format(20, "01"), "TIMESTAMP '2025-11-20 01:00:00 UTC'"), 56),
    (
        "month",
        TIME,
        "month(v)",
        "timestamptz",
        "month",
        (AT.format(20, "01"), "TIMESTAMP '2026-10-20 01:00:00 UTC'"),
        682,
    ),
    ("day", TIME, "day(v)", "timestamptz", "day", (AT.format(20, "01"), AT.format(21, "01")), DAY),
    ("hour", TIME, "hour(v)", "timestamptz", "hour", (AT.format(20, "01"), AT.format(20, "02")), DAY * 24 + 1),
    ("truncated", "bigint", "truncate(v, 10)", "long", "truncate[10]", ("11", "21"), 10),
    ("text", "varchar", "v", "string", "identity", (r"U&'it''s \\ \000A\202E;--'", "'b'"), "it's \\ \n\u202e;--"),
    (
        "moment",
        TIME,
        "v",
        "timestamptz",
        "identity",
        (AT.format(20, "01"), AT.format(21, "01")),
        DAY * 86_400_000_000 + 3_600_000_000,
    ),
    ("amount", "decimal(9,2)", "v", "decimal(9, 2)", "identity", ("DECIMAL '-0.01'", "DECIMAL '1.50'"), -1),
    ("bytes", "varbinary", "v", "binary", "identity", ("X'00FF'", "X'01'"), b"\x00\xff"),
    ("clock", "time(6)", "v", "time", "identity", ("TIME '01:02:03.000004'", "TIME '00:00:00'"), 3_723_000_004),
    ("share", "double", "v", "double", "identity", ("DOUBLE '0.1'", "DOUBLE '0.2'"), 0.1),
    ("nothing", "bigint", "bucket(v, 4)", "long", "bucket[4]", ("NULL", "1"), None),
]
"""Name, type and partitioning in Trino, type and transform in Iceberg, two values of a column, and the partition's raw
value of the first one.
"""


class TrinoTable:
    """A table of one partitioned column `v`, with two files in each partition."""

    def __init__(self, cursor: trino.dbapi.Cursor, namespace: str, case: tuple[Any, ...]) -> None:
        self.name, kind, partitioning, iceberg_kind, transform, values, value = case
        self.cursor = cursor
        self.subject = StatementTable("shop", (namespace,), self.name, "", trino_catalog="lake")
        self.full = f"lake.{namespace}.{self.name}"
        self.field = ScopeField("v_p", ("v",), iceberg_kind, transform)
        self.value = value
        cursor.execute(f"CREATE TABLE {self.full} (v {kind}) WITH (partitioning = ARRAY['{partitioning}'])").fetchall()
        for _ in range(2):
            cursor.execute(f"INSERT INTO {self.full} VALUES {', '.join(f'({each})' for each in values)}").fetchall()

    def files(self) -> dict[str, str]:
        """The partition of each file."""
        place, name = self.full.rsplit(".", 1)
        found = self.cursor.execute(f'SELECT file_path, partition FROM {place}."{name}$files"')
        return {file: str(partition) for file, partition in found.fetchall()}

    def optimize(self) -> tuple[set[str], set[str]]:
        """Partitions whose files the statement replaced, and those it left."""
        before = self.files()
        choice = PartitionChoice([PartitionScope((self.field,), (self.value,))], [])
        made = rewrite_data_files(self.subject, choice, {})
        execute(self.cursor, made.statements.trino)
        after = self.files()
        return {before[file] for file in before.keys() - after.keys()}, {
            before[file] for file in before.keys() & after.keys()
        }


def execute(cursor: trino.dbapi.Cursor, text: str | None) -> None:
    """Run each statement of a text, as Trino's command line does."""
    assert text is not None
    for statement in re.findall(r"[^;']*(?:'[^']*'[^;']*)*;", text):
        cursor.execute(statement[:-1]).fetchall()


def read_back(cursor: trino.dbapi.Cursor, names: Sequence[str], literals: Sequence[str]) -> tuple[list[str], list[str]]:
    """What Trino reads identifiers and string literals as."""
    columns = ", ".join(f"{literal} AS {name}" for literal, name in zip(literals, names, strict=True))
    cursor.execute(f"SELECT {columns}")
    (row,) = cursor.fetchall()
    return [column[0] for column in cursor.description], list(row)
