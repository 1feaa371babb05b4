"""Jobs that read tables, and their runs, for forecasts: from the runs that jobs or their engines reported."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from limnograph.analysis.forecast import NO_LOAD, FleetLoad, common_load
from limnograph.analysis.forecast_rows.request import ReadingJob
from limnograph.domain.facts.meta_tables import DAILY, RUNS
from limnograph.domain.forecasts.cases import ReaderRuns
from limnograph.domain.ids import TableName
from limnograph.domain.objectives import Objectives
from limnograph.domain.time import MICROS_PER_SECOND, Micros, to_millis, truncated
from limnograph.ports.meta_upkeep import MetaReads, Where
from limnograph.services.rollups.fold import DAY

HISTORY = 40 * DAY
"""Runs of the last 28 days, and those by which a forecast of 30 days is judged."""
LEAST_RUNS = 8
_COLUMNS = ("job_name", "status", "started_at", "ended_at", "tables", "read_bytes")
_NAME = ("catalog", "namespace", "table")


class KnownReaders(NamedTuple):
    """The job that reads each table most, by table uuid, and the common move of all of them."""

    readers: Mapping[str, ReadingJob] = MappingProxyType({})
    load: FleetLoad = NO_LOAD


class ForecastReaders:
    """Immutable after construction."""

    def __init__(self, upkeep: MetaReads, objectives: Objectives) -> None:
        self._upkeep, self._objectives = upkeep, objectives

    def known(self, as_of: Micros) -> KnownReaders:
        """Readers of runs that started before the cut-off. Raises SourceError. O(runs of 40 days)."""
        runs = self._runs(as_of)
        if not runs:
            return KnownReaders()
        uuids = self._uuids(as_of)
        by_table: dict[str, list[tuple[TableName, ReaderRuns]]] = defaultdict(list)
        for (name, job), ended in runs.items():
            if (uuid := uuids.get(name)) is not None and len(ended) >= LEAST_RUNS:
                by_table[uuid].append((TableName(*name), _reader_runs(job, ended)))
        readers = {}
        for uuid, found in by_table.items():
            name, most = max(found, key=lambda each: (len(each[1].times), each[1].job))
            limit = self._objectives.duration(name, most.job)
            readers[uuid] = ReadingJob(most, None if limit is None else limit.limit_us / MICROS_PER_SECOND)
        return KnownReaders(readers, common_load(reader.runs for reader in readers.values()))

    def _runs(self, as_of: Micros) -> dict[tuple[tuple[str, str, str], str], list[tuple[int, float, int | None]]]:
        """Start, seconds and bytes of the runs that ended well, by table and job."""
        found: dict[tuple[tuple[str, str, str], str], list[tuple[int, float, int | None]]] = defaultdict(list)
        where = Where(start=Micros(as_of - HISTORY), equal={"status": "ok"})
        rows = self._upkeep.rows(RUNS, self._upkeep.standing(RUNS).position, _COLUMNS, where)
        for row in rows.iter_rows(named=True):
            start, end = row["started_at"], row["ended_at"]
            if start is None or end is None or not row["job_name"] or not start < as_of:
                continue
            for table in row["tables"] or ():
                if table["role"] == "reads" and table["metadata_table"] is None and table["catalog"]:
                    name = tuple(table[part] or "" for part in _NAME)
                    run = (start, (end - start) / MICROS_PER_SECOND, row["read_bytes"])
                    found[name, row["job_name"]].append(run)  # type: ignore[index]
        return found

    def _uuids(self, as_of: Micros) -> dict[tuple[str, str, str], str]:
        """Tables by the names of their newest roll-ups."""
        where = Where(start=Micros(truncated(as_of, DAY) - HISTORY))
        position = self._upkeep.standing(DAILY).position
        rows = self._upkeep.rows(DAILY, position, ("table_uuid", "day", *_NAME), where).drop_nulls(_NAME).sort("day")
        return {(c, n, t): uuid for uuid, _, c, n, t in rows.iter_rows()}


def _reader_runs(job: str, ended: list[tuple[int, float, int | None]]) -> ReaderRuns:
    ended.sort(key=lambda run: run[0])
    return ReaderRuns(
        job=job,
        times=[to_millis(Micros(start)) for start, _, _ in ended],
        duration_seconds=[seconds for _, seconds, _ in ended],
        read_bytes=[None if read is None else float(read) for _, _, read in ended],
    )
