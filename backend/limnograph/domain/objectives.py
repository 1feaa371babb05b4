"""What was promised for tables and jobs: the highest acceptable age of a table's last commit, duration of a job, 95th
percentile of the durations of a table's queries, time from an event to the commit that makes it queryable, and cost.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from limnograph.domain.ids import TableName, matches
from limnograph.domain.time import MICROS_PER_SECOND


class Objective(NamedTuple):
    """`tables`, `jobs`: patterns over `catalog.namespace.table` and over names of jobs, an empty one matches all.
    `window_s`: how long a limit must be exceeded before it counts as missed, and kept before it counts as met.
    """

    tables: str
    freshness_s: float | None = None
    jobs: str = ""
    duration_s: float | None = None
    window_s: float = 600.0
    query_p95_s: float | None = None
    event_to_queryable_s: float | None = None
    cost_per_gb_month: float | None = None


class PromisedLimit(NamedTuple):
    """A limit and its window, microseconds."""

    limit_us: int
    window_us: int


class Objectives:
    """The first objective that matches and has the limit applies. Immutable after construction."""

    def __init__(self, promised: Sequence[Objective] = ()) -> None:
        self._promised = tuple(promised)

    def freshness(self, name: TableName) -> PromisedLimit | None:
        """The highest acceptable age of a table's last commit; None without an objective."""
        text = str(name)
        found = (_promised(one.freshness_s, one) for one in self._promised if matches(one.tables, text))
        return next((limit for limit in found if limit is not None), None)

    def queries(self, name: TableName) -> PromisedLimit | None:
        """The highest acceptable 95th percentile of an hour of queries; None without an objective."""
        text = str(name)
        found = (_promised(one.query_p95_s, one) for one in self._promised if matches(one.tables, text))
        return next((limit for limit in found if limit is not None), None)

    def events(self, name: TableName) -> PromisedLimit | None:
        """The longest acceptable time from an event to its commit, by streams; None without an objective."""
        text = str(name)
        found = (_promised(one.event_to_queryable_s, one) for one in self._promised if matches(one.tables, text))
        return next((limit for limit in found if limit is not None), None)

    def cost(self, name: TableName) -> float | None:
        """The highest acceptable cost of a live GB for a month; None without an objective."""
        text = str(name)
        found = (one.cost_per_gb_month for one in self._promised if matches(one.tables, text))
        return next((limit for limit in found if limit is not None), None)

    def duration(self, name: TableName, job: str) -> PromisedLimit | None:
        """The highest acceptable duration of a job on a table; None without an objective."""
        text = str(name)
        found = (
            _promised(one.duration_s, one)
            for one in self._promised
            if matches(one.tables, text) and (not one.jobs or matches(one.jobs, job))
        )
        return next((limit for limit in found if limit is not None), None)


def _promised(seconds: float | None, objective: Objective) -> PromisedLimit | None:
    if seconds is None:
        return None
    return PromisedLimit(round(seconds * MICROS_PER_SECOND), round(objective.window_s * MICROS_PER_SECOND))
