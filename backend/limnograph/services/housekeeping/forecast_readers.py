"""Jobs that read tables, and their runs, for forecasts: from the runs that jobs or their engines reported, and for
tables of which no run is known, from the queries that engines reported.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from operator import itemgetter
from types import MappingProxyType
from typing import NamedTuple

import polars as pl

from limnograph.analysis.forecast import NO_LOAD, FleetLoad, common_load
from limnograph.analysis.forecast_rows.request import ReadingJob
from limnograph.domain.facts.meta_tables import DAILY, REPORTS, RUNS
from limnograph.domain.facts.reads import RAW_DAYS
from limnograph.domain.forecasts.cases import ReaderRuns
from limnograph.domain.ids import TableName
from limnograph.domain.objectives import Objectives
from limnograph.domain.time import MICROS_PER_SECOND, Micros, to_millis, truncated
from limnograph.ports.meta_upkeep import MetaReads, Where
from limnograph.services.rollups.fold import DAY

HISTORY = 40 * DAY
"""Runs of the last 28 days, and those by which a forecast of 30 days is judged."""
LEAST_RUNS = 8
MOST_QUERIES = 2_000
"""Queries of one source that are looked at."""
EndedRun = tuple[int, float, int | None]
"""Start in microseconds, seconds, bytes."""
EndedRuns = dict[tuple[tuple[str, str, str], str], list[EndedRun]]
"""By table and job."""
_COLUMNS = ("job_name", "status", "started_at", "ended_at", "tables", "read_bytes")
_NAME = ("catalog", "namespace", "table")
_REPORT_COLUMNS = (
    *("event_id", *_NAME, "at", "job_name", "run_id", "query_id", "outcome", "wall_seconds", "read_bytes"),
)


class KnownReaders(NamedTuple):
    """The job that reads each table most, by table uuid, and the common move of all of them."""

    readers: Mapping[str, ReadingJob] = MappingProxyType({})
    load: FleetLoad = NO_LOAD


class ForecastReaders:
    """Immutable after construction."""

    def __init__(self, upkeep: MetaReads, objectives: Objectives, most_queries: int = MOST_QUERIES) -> None:
        self._upkeep, self._objectives, self._most = upkeep, objectives, most_queries

    def known(self, as_of: Micros) -> KnownReaders:
        """Readers of runs that started before the cut-off. Raises SourceError. O(runs of 40 days + queries of 7)."""
        found, named = [], set[str]()
        uuids = self._uuids(as_of)
        for runs in (self._runs(as_of), self._queries(as_of)):
            known = [
                (uuids[name], TableName(*name), _reader_runs(job, ended))
                for (name, job), ended in runs.items()
                if name in uuids and len(ended) >= LEAST_RUNS and uuids[name] not in named
            ]
            found += known
            named |= {uuid for uuid, _, _ in known}  # a job that reports its runs is known better than by its queries
        readers = {}
        for uuid, name, most in sorted(found, key=lambda each: (len(each[2].times), each[2].job)):
            limit = self._objectives.duration(name, most.job)
            readers[uuid] = ReadingJob(most, None if limit is None else limit.limit_us / MICROS_PER_SECOND)
        return KnownReaders(readers, common_load(reader.runs for reader in readers.values()))

    def _runs(self, as_of: Micros) -> EndedRuns:
        """Start, seconds and bytes of the runs that ended well, by table and job."""
        found: EndedRuns = defaultdict(list)
        where = Where(start=Micros(as_of - HISTORY), equal={"status": "ok"})
        rows = self._upkeep.rows(RUNS, self._upkeep.standing(RUNS).position, _COLUMNS, where)
        for row in rows.iter_rows(named=True):
            start, end = row["started_at"], row["ended_at"]
            if start is None or end is None or not row["job_name"] or not start < as_of:
                continue
            for table in row["tables"] or ():
                if table["role"] == "reads" and table["metadata_table"] is None and table["catalog"]:
                    name = table["catalog"], table["namespace"] or "", table["table"] or ""
                    found[name, row["job_name"]].append((start, (end - start) / MICROS_PER_SECOND, row["read_bytes"]))
        return found

    def _queries(self, as_of: Micros) -> EndedRuns:
        """The same of the queries that an engine reported without a run, such as those of Trino: each is a run of the
        source that its client named. Read by the day, which bounds the memory.
        """
        found: EndedRuns = defaultdict(list)
        position = self._upkeep.standing(REPORTS).position
        for start in range(as_of - RAW_DAYS * DAY, as_of, DAY):
            where = Where(start=Micros(start), end=Micros(start + DAY), equal={"kind": "query"})
            rows = self._upkeep.rows(REPORTS, position, _REPORT_COLUMNS, where)
            for catalog, namespace, table, job, begin, seconds, read in _as_runs(rows).iter_rows():
                if begin < as_of:
                    found[(catalog, namespace, table), job].append((begin, seconds, read))
        return {key: _thinned(runs, self._most) for key, runs in found.items()}

    def _uuids(self, as_of: Micros) -> dict[tuple[str, str, str], str]:
        """Tables by the names of their newest roll-ups."""
        where = Where(start=Micros(truncated(as_of, DAY) - HISTORY))
        position = self._upkeep.standing(DAILY).position
        rows = self._upkeep.rows(DAILY, position, ("table_uuid", "day", *_NAME), where).drop_nulls(_NAME).sort("day")
        return {(c, n, t): uuid for uuid, _, c, n, t in rows.iter_rows()}


def _as_runs(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows of queries as runs: table, job, start, seconds, and bytes that the query read from all its tables; null if
    those of one are not known.
    """
    told = rows.filter(
        pl.col("run_id").is_null()
        & (pl.col("outcome").is_null() | (pl.col("outcome") == "ok"))
        & (pl.col("job_name").fill_null("") != "")
    ).drop_nulls(("catalog", "at", "wall_seconds"))
    query = pl.coalesce("query_id", "event_id")
    return told.select(
        "catalog",
        pl.col("namespace").fill_null(""),
        pl.col("table").fill_null(""),
        "job_name",
        (pl.col("at") - (pl.col("wall_seconds") * MICROS_PER_SECOND).cast(pl.Int64)).alias("begin"),
        "wall_seconds",
        pl.when(pl.col("read_bytes").is_null().any().over(query))
        .then(None)
        .otherwise(pl.col("read_bytes").sum().over(query))
        .alias("read"),
    )


def _thinned(runs: list[EndedRun], most: int) -> list[EndedRun]:
    """At most so many of them, evenly in time: medians stay what they are."""
    return sorted(runs, key=itemgetter(0))[:: -(-len(runs) // most)]


def _reader_runs(job: str, ended: list[EndedRun]) -> ReaderRuns:
    ended.sort(key=lambda run: run[0])
    return ReaderRuns(
        job=job,
        times=[to_millis(Micros(start)) for start, _, _ in ended],
        duration_seconds=[seconds for _, seconds, _ in ended],
        read_bytes=[None if read is None else float(read) for _, _, read in ended],
    )
