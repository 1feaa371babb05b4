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
    """Commits of one table and the attempts they needed. `refused`: commits that gave up because of another one; None
    while no report has stated the outcome of a commit.
    """

    commits: int = 0
    attempts: int = 0
    refused: int | None = None


class ReportedCommits:
    """Thread-safe: guarded by `_lock`. Counts only reports with a number of attempts or an outcome, whose table is in a
    configured catalog.
    """

    def __init__(self, most: int = MOST_TABLES) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._counted: dict[TableName, CommitAttempts] = {}

    def add(self, reports: Iterable[ReportFact]) -> None:
        """Count the commit reports among these."""
        with self._lock:
            for report in reports:
                if report.kind != "commit" or not report.catalog or not report.table:
                    continue
                if not report.attempts and report.outcome is None:
                    continue
                name = TableName(report.catalog, report.namespace or "", report.table)
                before = self._counted.get(name)
                if before is None and len(self._counted) >= self._most:
                    continue
                self._counted[name] = _and(before or CommitAttempts(), report)

    def told(self) -> dict[TableName, CommitAttempts]:
        """The counts so far."""
        with self._lock:
            return dict(self._counted)


def _and(counted: CommitAttempts, report: ReportFact) -> CommitAttempts:
    """The counts with one more report."""
    commits, attempts, refused = counted
    if report.attempts:
        commits, attempts = commits + 1, attempts + report.attempts
    if report.outcome is not None:
        refused = (refused or 0) + (report.outcome == "conflict")
    return CommitAttempts(commits, attempts, refused)
