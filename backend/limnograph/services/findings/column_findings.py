"""Findings of columns of all tables: reads rows of `column_stats` as passes append them and reports episodes.

Memory: what rules keep of a column, a few commits of each writer. At the start it reads 7 days, a day at a time; later
each call reads what was observed since the last one. A row that arrives out of order makes its table start again.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Sequence

import polars as pl
from msgspec.structs import replace

from limnograph.analysis.column_names import matches
from limnograph.analysis.column_values import stats_of
from limnograph.analysis.findings.columns import ColumnCommit, ColumnWatch
from limnograph.domain.errors import SourceError
from limnograph.domain.facts.column_stats import RAW_DAYS, ColumnStat
from limnograph.domain.finding_limits import DAY, MINUTE, FindingLimits
from limnograph.domain.time import Micros, truncated
from limnograph.ports.clock import Clock
from limnograph.ports.query_engine import MetaQuery, QueryEngine
from limnograph.services.findings.evaluator import FindingsEvaluator

COLUMNS = ("table_uuid", "snapshot_id", "committed_at", "writer", "columns")
MARGIN = 5 * MINUTE
"""Clocks of pipelines differ: rows observed this long before the last call are read again."""
_log = logging.getLogger("limnograph.findings")


class ColumnFindings:
    """Thread-safe for one caller of `observe` at a time. `private`: patterns of columns whose bounds are not read."""

    def __init__(self, engine: QueryEngine, clock: Clock, limits: FindingLimits, private: Sequence[str] = ()) -> None:
        self._engine, self._clock, self._limits, self._private = engine, clock, limits, tuple(private)
        self._watches: dict[str, ColumnWatch] = {}
        self._seen: dict[str, set[int]] = defaultdict(set)
        self._read_to: Micros | None = None

    def observe(self, evaluator: FindingsEvaluator) -> None:
        """Read new rows and report the episodes of all tables. Blocks. If the meta tables cannot be read, findings stay
        as they are.
        """
        now = self._clock.now()
        try:
            self._catch_up(now)
        except SourceError as error:
            _log.info("statistics of columns could not be read: %s", error)
            return
        evaluator.observed({uuid: watch.episodes(now) for uuid, watch in self._watches.items()}, "columns")

    def _catch_up(self, now: Micros) -> None:
        oldest = Micros(truncated(now, DAY) - RAW_DAYS * DAY)
        if self._read_to is None:
            for start in range(oldest, now + DAY, DAY):
                self._take(self._rows(MetaQuery(table="column_stats", start=Micros(start), end=Micros(start + DAY))))
        else:
            since = Micros(self._read_to - MARGIN)
            self._take(self._rows(MetaQuery(table="column_stats", start=oldest, observed_from=since)))
        self._read_to = now

    def _rows(self, query: MetaQuery) -> pl.DataFrame:
        return self._engine.select(replace(query, columns=COLUMNS)).drop_nulls("committed_at")

    def _take(self, rows: pl.DataFrame) -> None:
        for (uuid,), part in rows.group_by("table_uuid", maintain_order=True):
            new = part.filter(~pl.col("snapshot_id").is_in(list(self._seen[str(uuid)])))
            if new.is_empty():
                continue
            watch = self._watches.get(str(uuid))
            first = min(new["committed_at"].to_list())
            if watch is not None and watch.last is not None and watch.last[0] > first:
                self._again(str(uuid))
            else:
                self._feed(str(uuid), new)

    def _again(self, uuid: str) -> None:
        """Judge all commits of a table again, in their order."""
        self._watches.pop(uuid, None)
        self._seen.pop(uuid, None)
        oldest = Micros(truncated(self._clock.now(), DAY) - RAW_DAYS * DAY)
        self._feed(uuid, self._rows(MetaQuery(table="column_stats", table_uuids=(uuid,), start=oldest)))

    def _feed(self, uuid: str, rows: pl.DataFrame) -> None:
        watch = self._watches.setdefault(uuid, ColumnWatch(self._limits))
        for row in rows.sort("committed_at", "snapshot_id").iter_rows(named=True):
            self._seen[uuid].add(row["snapshot_id"])
            stats = [self._shown(stat) for stat in stats_of(row["columns"])]
            watch.take(ColumnCommit(row["committed_at"], row["snapshot_id"], row["writer"], stats))

    def _shown(self, stat: ColumnStat) -> ColumnStat:
        return replace(stat, lower=None, upper=None) if matches(stat.name, self._private) else stat
