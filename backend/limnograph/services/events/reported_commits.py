"""Counts commits and attempts reported by Iceberg clients, by table, since the server's start. Measures contention."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import NamedTuple

from limnograph.domain.facts.events import ReportFact
from limnograph.domain.ids import TableName

MOST_TABLES = 10_000
"""Most tables that are counted. Names come from untrusted clients, so their number is bounded."""


class CommitAttempts(NamedTuple):
    """Commits of one table and the attempts they needed."""

    commits: int
    attempts: int


class ReportedCommits:
    """Thread-safe: guarded by `_lock`. Counts only reports with a number of attempts whose table is in a configured
    catalog.
    """

    def __init__(self, most: int = MOST_TABLES) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._counted: dict[TableName, CommitAttempts] = {}

    def add(self, reports: Iterable[ReportFact]) -> None:
        """Count the commit reports among these."""
        with self._lock:
            for report in reports:
                if report.kind != "commit" or not report.attempts or not report.catalog or not report.table:
                    continue
                name = TableName(report.catalog, report.namespace or "", report.table)
                before = self._counted.get(name)
                if before is None and len(self._counted) >= self._most:
                    continue
                commits, attempts = before or (0, 0)
                self._counted[name] = CommitAttempts(commits + 1, attempts + report.attempts)

    def told(self) -> dict[TableName, CommitAttempts]:
        """The counts so far."""
        with self._lock:
            return dict(self._counted)
