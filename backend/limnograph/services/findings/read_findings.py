"""Findings of readers: stale ones, filters that cannot skip files, and objectives of queries, from reported reads.

Cost: a read of the raw reports of 7 days an hour, and O(reads) of each table that was read since the last call or has
such a finding.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
import polars as pl

from limnograph.analysis.behind import MainMoves
from limnograph.analysis.findings.episodes import Episode
from limnograph.analysis.findings.filters import WINDOW, FilteredScans, unpruned_filters
from limnograph.analysis.findings.queries import slow_queries
from limnograph.analysis.findings.stale_readers import LateRead, stale_readers
from limnograph.domain.errors import SourceError
from limnograph.domain.finding_limits import HOUR, FindingLimits
from limnograph.domain.ids import TableName
from limnograph.domain.objectives import Objectives, PromisedLimit
from limnograph.domain.time import EPOCH, Micros
from limnograph.ports.clock import Clock
from limnograph.ports.query_engine import MetaQuery, QueryEngine
from limnograph.services.findings.evaluator import HISTORY, FindingsEvaluator
from limnograph.services.lake.history import History
from limnograph.services.lake.lake import Lake
from limnograph.services.lake.spec_fields import spec_columns
from limnograph.services.lake.store import HotStore
from limnograph.services.lake.table import HotTable
from limnograph.services.reads.log import ReadLog
from limnograph.services.reads.of_history import kept_snapshots, live_files, main_moves, names_of
from limnograph.services.reads.source import identified
from limnograph.services.rollups.reads_fold import NAMES, REPORT_COLUMNS, REPORT_TYPES, from_one_source, reads_of

NOT_STATED = "not stated"
_MAIN_COLUMNS = ("committed_at", "sequence_number", "on_main", "total_data_files")
_log = logging.getLogger("limnograph.findings")

KnownOpen = Mapping[str, Mapping[str, Micros]]
"""By table uuid and subject, when an open finding opened."""


class _TableLook(NamedTuple):
    """What the reads of a table showed. `seen`: what it depends on, except for time."""

    seen: tuple[int, ...]
    episodes: list[Episode]


class _LongHistory(NamedTuple):
    """A table's last 30 days, as read at an instant, for reads of snapshots that memory does not have."""

    at: Micros
    moves: MainMoves
    live: pl.DataFrame


class ReadFindings:
    """Used on the event loop only, by one task; `observe` computes in a thread and waits for it."""

    def __init__(
        self,
        store: HotStore,
        log: ReadLog,
        engine: QueryEngine,
        clock: Clock,
        *,
        limits: FindingLimits = FindingLimits(),  # noqa: B008  # immutable
        objectives: Objectives = Objectives(),  # noqa: B008  # immutable
    ) -> None:
        self._objectives = objectives
        self._store, self._log, self._engine, self._clock, self._limits = store, log, engine, clock, limits
        self._week: dict[TableName, pl.DataFrame] = {}
        self._week_at = EPOCH
        self._looks: dict[str, _TableLook] = {}
        self._long: dict[str, _LongHistory] = {}

    @property
    def week(self) -> Mapping[TableName, pl.DataFrame]:
        """Reads of the last 7 days by the name that was reported, as read within the last hour."""
        return self._week

    async def observe(self, evaluator: FindingsEvaluator) -> None:
        """Hand the episodes of all readers to the evaluator; before the reports and the recorded findings were read,
        and while the reports cannot be read, nothing changes.
        """
        stale, filters = evaluator.known_open("stale_reader"), evaluator.known_open("filter_not_pruned")
        floor = self._log.floor
        if stale is None or filters is None or floor is None:
            return
        try:
            found = await asyncio.to_thread(self._all, floor, stale, filters)
        except SourceError as error:
            _log.info("reports of reads: %s", error)
            return
        evaluator.observed(found, "reads")

    def _all(self, floor: Micros, stale: KnownOpen, filters: KnownOpen) -> dict[str, list[Episode]]:
        now, lake = self._clock.now(), self._store.reading.lake
        if now - self._week_at >= HOUR:
            self._week, self._week_at = self._read_week(now), now
        counts = self._log.counts()
        names: dict[str, list[TableName]] = defaultdict(list)
        for name in {*counts, *self._week}:
            uuid = lake.names.get(self._store.resolved(name))
            if uuid is not None:
                names[uuid].append(name)
        looks: dict[str, _TableLook] = {}
        for uuid in {*names, *stale, *filters}:
            table = lake.tables.get(uuid)
            if table is None or table.dropped:
                continue
            seen = (table.version, self._week_at, *(counts.get(name, 0) for name in sorted(names[uuid])))
            known = self._looks.get(uuid)
            timed = self._promised(table) is not None  # it is missed or met while nothing is read
            if known is None or known.seen != seen or timed or uuid in stale or uuid in filters:
                found = self._of_table(lake, uuid, (floor, now), stale.get(uuid, {}), filters.get(uuid, {}))
                known = _TableLook(seen, found)
            looks[uuid] = known
        self._looks = looks
        self._long = {uuid: each for uuid, each in self._long.items() if uuid in looks}
        return {uuid: look.episodes for uuid, look in looks.items() if look.episodes}

    def _of_table(
        self,
        lake: Lake,
        uuid: str,
        span: tuple[Micros, Micros],
        stale: Mapping[str, Micros],
        filters: Mapping[str, Micros],
    ) -> list[Episode]:
        floor, now = span
        history = History(lake.tables[uuid])
        names = names_of(history)
        recent = self._log.of_table(names, floor, Micros(now + 1))
        week = pl.concat([*self._week_of(names), recent]).unique("event_id", keep="last", maintain_order=True)
        main = self._main(history, week["snapshot_id"].drop_nulls().unique().to_list(), now)
        reads = from_one_source(identified(week, uuid, main.live)).sort("at", "event_id")
        late = _late_reads(reads.filter(pl.col("at") >= floor), main.moves, kept_snapshots(history))
        size = history.head.total_bytes if history.head else None
        scans = filtered_scans(reads, history) if (size or 0) >= self._limits.unpruned_bytes else _NO_SCANS
        return [
            *stale_readers(late, stale, since=floor, until=now, limits=self._limits),
            *unpruned_filters(scans, filters, until=now, limits=self._limits),
            *self._slow_queries(reads, self._promised(history.table), now),
        ]

    def _promised(self, table: HotTable) -> PromisedLimit | None:
        return None if table.name is None else self._objectives.queries(table.name)

    def _slow_queries(self, reads: pl.DataFrame, promised: PromisedLimit | None, now: Micros) -> list[Episode]:
        if promised is None or "objective_missed" in self._limits.disabled:
            return []
        timed = reads.filter((pl.col("kind") == "query") & pl.col("wall_seconds").is_not_null())
        return slow_queries(timed["at"].to_numpy(), timed["wall_seconds"].to_numpy(), now, promised)

    def _week_of(self, names: Mapping[TableName, Micros]) -> Iterable[pl.DataFrame]:
        found = (self._week[name].filter(pl.col("at") < until) for name, until in names.items() if name in self._week)
        return list(found)

    def _read_week(self, now: Micros) -> dict[TableName, pl.DataFrame]:
        """Reads of 7 days by name. Raises SourceError."""
        query = MetaQuery(table="reports", columns=REPORT_COLUMNS, start=Micros(now - WINDOW))
        rows = reads_of(self._engine.select(query)).drop_nulls(["table"]).cast(dict(REPORT_TYPES))  # type: ignore[arg-type]
        parts = rows.partition_by(NAMES, as_dict=True)
        return {TableName(catalog or "", space or "", table): part for (catalog, space, table), part in parts.items()}

    def _main(self, history: History, snapshot_ids: Iterable[int], now: Micros) -> _LongHistory:
        """Main's moves and live files, from memory; from the meta tables, at most once an hour, if a snapshot was read
        that memory does not have.
        """
        known = set(history.numbers("snapshot_id").tolist())
        if known.issuperset(snapshot_ids):
            return _LongHistory(now, main_moves(history), live_files(history))
        kept = self._long.get(history.uuid)
        if kept is not None and now - kept.at < HOUR:
            return kept
        view = self._store.since(Micros(now - HISTORY), (history.uuid,), _MAIN_COLUMNS)
        table = view.lake.tables.get(history.uuid)
        whole = history if table is None or view.partial else History(table)
        self._long[history.uuid] = found = _LongHistory(now, main_moves(whole), live_files(whole))
        return found


_NO_SCANS = FilteredScans(np.zeros(0, np.int64), np.zeros(0), {})


def _late_reads(reads: pl.DataFrame, moves: MainMoves, kept: frozenset[str]) -> list[LateRead]:
    """Stale reads in time order. Engines report a read as a scan, a query or both: of each reader the kind counts that
    it reports more of.
    """
    found: dict[str, dict[str, list[LateRead]]] = defaultdict(lambda: defaultdict(list))
    for row in reads.drop_nulls("snapshot_id").iter_rows(named=True):
        behind = moves.behind(row["snapshot_id"], row["at"])
        if behind is None or not behind.is_stale or str(row["snapshot_id"]) in kept:
            continue
        reader = row["job_name"] or row["engine"] or NOT_STATED
        found[reader][row["kind"]].append(LateRead(row["at"], reader, row["engine"], row["snapshot_id"], behind))
    every = (each for kinds in found.values() for each in max(kinds.values(), key=len))
    return sorted(every, key=lambda each: each.at)


def filtered_scans(reads: pl.DataFrame, history: History) -> FilteredScans:
    """Scans of a table whose filter columns and share of opened files are known. `reads`: in time order. Columns that
    partition or sort the table are left out; without a known spec and sort order, all are.
    """
    known = reads.filter(
        (pl.col("kind") == "scan")
        & pl.col("filter_columns").is_not_null()
        & pl.col("result_data_files").is_not_null()
        & (pl.col("live_files") > 0)
    )
    partitioned, ordered = spec_columns(history, "spec"), spec_columns(history, "sort_order")
    if partitioned is None or ordered is None or known.is_empty():
        return _NO_SCANS
    lists = [{name.lower() for name in names} for names in known["filter_columns"].to_list()]
    columns = set().union(*lists) - partitioned - ordered
    return FilteredScans(
        known["at"].to_numpy(),
        (known["result_data_files"] / known["live_files"]).to_numpy(),
        {column: np.array([column in names for names in lists], np.bool_) for column in columns},
    )
