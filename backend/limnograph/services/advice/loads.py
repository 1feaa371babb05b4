"""How often tables are read: from reported scans, else from runs of jobs that read them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import msgspec

from limnograph.analysis.advice.facts import ReadLoad
from limnograph.domain.facts.events import RunFact
from limnograph.domain.finding_limits import DAY
from limnograph.domain.ids import TableName
from limnograph.domain.time import Micros
from limnograph.ports.query_engine import MetaQuery, QueryEngine
from limnograph.services.jobs.run_log import names_of, reads_rows
from limnograph.services.jobs.runs import RunRegistry
from limnograph.services.reads.recent import RecentNumbers

WEEK_DAYS = 7
BY_RUNS = "No engine reports scans of this table: its reads are the job runs that read it, one scan each."


class WeeklyLoads(NamedTuple):
    """Scans per day of the last week by table uuid, and runs per day that read a table by its name."""

    scans: Mapping[str, float]
    runs: Mapping[TableName, float]

    def of_table(self, uuid: str, name: TableName) -> ReadLoad | None:
        """None: not known."""
        return load_of(self.scans.get(uuid), self.runs.get(name))


def load_of(scans: float | None, runs: float | None) -> ReadLoad | None:
    """Reported scans take precedence, and the two are never added. None: neither is known."""
    if scans:
        return ReadLoad(scans)
    return ReadLoad(runs, basis="runs") if runs else None


def recent_scans(numbers: RecentNumbers, uuid: str) -> float | None:
    """Scans of the last day; None if reports of it are not in memory, or no engine reports scans of the table."""
    found = numbers.day.get(uuid) if numbers.known else None
    scans = 0 if found is None else max(found.scans, found.queries)
    return scans or None


def recent_load(numbers: RecentNumbers, runs: RunRegistry, now: Micros, uuid: str, name: TableName) -> ReadLoad | None:
    """Reads of the last day; None if they are not in memory, or no engine reports them."""
    return load_of(recent_scans(numbers, uuid), runs.reading(name, Micros(now - DAY), now))


def weekly_scans(engine: QueryEngine, now: Micros) -> dict[str, float]:
    """Scans per day of the last week, of tables whose scans are reported. O(hours of a week). Raises SourceError."""
    columns = ("table_uuid", "scans", "query_count")
    rows = engine.select(MetaQuery(table="reads_hourly", columns=columns, start=Micros(now - WEEK_DAYS * DAY), end=now))
    found: dict[str, float] = {}
    for uuid, scans, queries in rows.iter_rows():
        found[uuid] = found.get(uuid, 0.0) + max(scans or 0, queries or 0) / WEEK_DAYS
    return {uuid: scans for uuid, scans in found.items() if scans}


def weekly_loads(engine: QueryEngine, now: Micros) -> WeeklyLoads:
    """Of all tables. O(hours and runs of a week). Raises SourceError."""
    start = Micros(now - WEEK_DAYS * DAY)
    rows = engine.select(MetaQuery(table="runs", columns=("run_id", "status", "tables"), start=start, end=now))
    return WeeklyLoads(weekly_scans(engine, now), runs_per_day(msgspec.convert(rows.to_dicts(), list[RunFact])))


def runs_per_day(runs: Iterable[RunFact]) -> dict[TableName, float]:
    """Of the transitions of a week: runs that read a table, each once."""
    found: dict[TableName, set[str]] = {}
    for run in runs:
        for name in names_of(run):
            if reads_rows(run, name):
                found.setdefault(name, set()).add(run.run_id)
    return {name: len(ids) / WEEK_DAYS for name, ids in found.items()}
