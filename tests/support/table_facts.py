"""Histories of one table as the facts that rules of findings read: a commit per call, columns by name."""

from __future__ import annotations

from typing import Any

import numpy as np

from limnograph.analysis.findings.facts import COLUMNS, FLOAT_COLUMNS, UNKNOWN, TableChange, TableFacts
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
        self, at: int, kind: str, before: str | None, after: str | None, detail: str | None = None
    ) -> FactsBuilder:
        """A change that is not a commit."""
        self.changes.append(TableChange(kind, None, before, after, Micros(START + at), detail))
        return self

    @property
    def facts(self) -> TableFacts:
        """All of it."""
        rows = sorted(self.rows, key=lambda row: (row["at"], row["id"]))
        columns = {
            name: np.array(
                [row.get(name, np.nan if name in FLOAT_COLUMNS else UNKNOWN) for row in rows],
                np.float64 if name in FLOAT_COLUMNS else np.int64,
            )
            for name in COLUMNS
        }
        return TableFacts(
            times=np.array([row["at"] for row in rows], np.int64),
            ids=np.array([row["id"] for row in rows], np.int64),
            is_commit=np.ones(len(rows), np.bool_),
            columns=columns,
            replaced=np.array([row["operation"] == "replace" for row in rows], np.bool_),
            writers=[row["writer"] for row in rows],
            changes=self.changes,
        )
