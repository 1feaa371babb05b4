"""Histories of one table as the facts that rules of findings read: a commit per call, columns by name."""

from __future__ import annotations

from typing import Any

import numpy as np

from limnograph.analysis.findings.facts import (
    COLUMNS,
    FLOAT_COLUMNS,
    UNKNOWN,
    CodedTexts,
    Ints,
    TableChange,
    TableFacts,
)
from limnograph.domain.time import Micros

MINUTE = 60_000_000
HOUR = 60 * MINUTE
DAY = 24 * HOUR
START = Micros(20_000 * DAY)
MIB = 1 << 20
GIB = 1 << 30


class FactsBuilder:
    """Used by one test. Commits are given in any order of time."""

    def __init__(self, **defaults: Any) -> None:
        self.rows: list[dict[str, Any]] = []
        self.changes: list[TableChange] = []
        self._defaults = {"total_bytes": 100 * GIB, "target_file_bytes": 512 * MIB, **defaults}

    def commit(self, at: int, operation: str = "append", writer: str | None = "etl", **columns: Any) -> FactsBuilder:
        """A commit so many microseconds after the start; a column that is not named is unknown."""
        row = {**self._defaults, **columns, "at": START + at, "id": len(self.rows) + 1}
        self.rows.append({**row, "operation": operation, "writer": writer})
        return self

    def change(
        self,
        at: int,
        kind: str,
        before: str | None,
        after: str | None,
        detail: str | None = None,
        subject: str | None = None,
    ) -> FactsBuilder:
        """A change that is not a commit."""
        self.changes.append(TableChange(kind, subject, before, after, Micros(START + at), detail))
        return self

    @property
    def facts(self) -> TableFacts:
        """All of it."""
        rows = sorted(self.rows, key=lambda row: (row["at"], row["id"]))
        return TableFacts(
            times=np.array([row["at"] for row in rows], np.int64),
            ids=np.array([row["id"] for row in rows], np.int64),
            is_commit=np.ones(len(rows), np.bool_),
            cells=np.array([_cells(name, rows) for name in COLUMNS]),
            replaced=np.array([row["operation"] == "replace" for row in rows], np.bool_),
            writers=_coded([row["writer"] for row in rows]),
            hot_partitions=_coded([row.get("hot_partition") for row in rows]),
            changes=sorted(self.changes, key=lambda change: change.at),
        )


def _cells(name: str, rows: list[dict[str, Any]]) -> Ints:
    values = [row.get(name, UNKNOWN) for row in rows]
    if name not in FLOAT_COLUMNS:
        return np.array(values, np.int64)
    bits = np.array([0.0 if value == UNKNOWN else value for value in values], np.float64).view(np.int64)
    return np.where([value == UNKNOWN for value in values], UNKNOWN, bits).astype(np.int64)


def _coded(texts: list[str | None]) -> CodedTexts:
    names = list(dict.fromkeys(texts))
    return CodedTexts(np.array([names.index(text) for text in texts], np.int64), names)
