"""All known jobs by table: those that ran in the last two weeks, and those of the settings. Answers from memory whether
a table has a job, and which jobs have a text in their name.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from limnograph.domain.ids import TableName
from limnograph.services.jobs.discovery import ConfiguredJob

_NO_TABLE: frozenset[TableName] = frozenset()


class FoundJob(NamedTuple):
    """A job and the tables that it reads or writes, by name."""

    name: str
    tables: Sequence[TableName]


class _JobTables(NamedTuple):
    """`by_job`: tables by job; `tables`: all of them."""

    by_job: Mapping[str, frozenset[TableName]]
    tables: frozenset[TableName]


class JobDirectory:
    """Thread-safe: what was observed, and what the settings say of the listed names, are replaced whole."""

    def __init__(self, configured: Sequence[ConfiguredJob] = ()) -> None:
        self._configured = tuple(configured)
        self._observed = _JobTables({}, _NO_TABLE)
        self._matched: Mapping[TableName, tuple[str, ...]] = {}
        self._of_settings: tuple[Mapping[TableName, str], _JobTables] = {}, self._observed

    def take(self, runs: Iterable[tuple[TableName, str]]) -> None:
        """Replace what was observed: each table and each job that ran on it."""
        by_job: dict[str, set[TableName]] = defaultdict(set)
        for name, job in runs:
            by_job[job].add(name)
        if by_job != self._observed.by_job:
            self._observed = _gathered(by_job)

    @property
    def count(self) -> int:
        """The number of known jobs, those of the settings included."""
        return len({*self._observed.by_job, *(job.name for job in self._configured)})

    def linked(self, names: Mapping[TableName, str]) -> frozenset[TableName]:
        """The tables that have a job. `names`: those of the lake."""
        return self._observed.tables | self._configured_for(names).tables

    def find(self, text: str, names: Mapping[TableName, str], limit: int) -> list[FoundJob]:
        """Jobs whose name contains a text, regardless of case: the exact one first, then by name. O(jobs)."""
        folded, both = text.casefold(), (self._observed.by_job, self._configured_for(names).by_job)
        found = {job for part in both for job in part if folded in job.casefold()}
        order = sorted(found, key=lambda job: (job.casefold() != folded, not job.casefold().startswith(folded), job))
        return [
            FoundJob(job, sorted(set().union(*(part.get(job, _NO_TABLE) for part in both)))) for job in order[:limit]
        ]

    def _configured_for(self, names: Mapping[TableName, str]) -> _JobTables:
        """Tables of the jobs in the settings. O(tables) when a name appeared or vanished, and O(jobs) per new name."""
        if self._of_settings[0] is not names:
            known, by_job = self._matched, defaultdict[str, set[TableName]](set)
            matched = {name: known[name] if name in known else self._jobs_of(name) for name in names}
            for name, jobs in matched.items():
                for job in jobs:
                    by_job[job].add(name)
            self._matched, self._of_settings = matched, (names, _gathered(by_job))
        return self._of_settings[1]

    def _jobs_of(self, name: TableName) -> tuple[str, ...]:
        return tuple(job.name for job in self._configured if job.role_in(name))


def _gathered(by_job: Mapping[str, set[TableName]]) -> _JobTables:
    frozen = {job: frozenset(tables) for job, tables in by_job.items()}
    return _JobTables(frozen, frozenset().union(*frozen.values()))
