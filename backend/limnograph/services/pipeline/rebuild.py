"""Rebuild of deleted meta tables: created empty, prepared with facts from the other tables, filled by passes. Snapshots
still in the lake are read again. Expired ones are counted as a `gap`, and their roll-ups are kept. No pass runs
meanwhile: until everything is prepared the tables count as lost. Repeated after a crash, the result is the same.
"""

from __future__ import annotations

import datetime as dt
import time
import uuid
from collections.abc import Callable, Collection, Sequence

import msgspec

from limnograph.domain.facts.meta_tables import CHANGES, DAILY, HOURLY, META_TABLES, SNAPSHOTS, MetaTable
from limnograph.domain.failpoints import Failpoints
from limnograph.domain.time import Micros, truncated
from limnograph.ports.clock import Clock
from limnograph.ports.lake import ObservedLake
from limnograph.ports.meta_store import MetaStore
from limnograph.ports.meta_tables import MetaTables
from limnograph.ports.meta_upkeep import MetaUpkeep, Where
from limnograph.services.pipeline.appending import MetaAppender, still_new
from limnograph.services.pipeline.forgotten import forgotten_gaps, known_series, missed
from limnograph.services.pipeline.ledger import Ledger
from limnograph.services.rollups.fold import DAY, Stamp, fold_days
from limnograph.services.rollups.marks import RAW_FLOOR, ROLLED_AT, ROLLED_CHANGES, ROLLED_SNAPSHOTS, number, raw_floor

FROM_LAKE = {SNAPSHOTS, CHANGES}
FROM_ROWS = {HOURLY, DAILY}
_SERIES = (
    *("table_uuid", "snapshot_id", "catalog", "namespace", "table", "format", "format_version", "sequence_number"),
    *("committed_at", "observed_at", "metadata_location"),
)
_HOURLY = tuple(column.name for column in HOURLY.columns)


class Rebuilt(msgspec.Struct, frozen=True, kw_only=True):
    """What a rebuild prepared.

    `tables`: tables created again
    `emptied`: those of them that no source can refill
    `gaps`: series whose older history is no longer in the lake
    `forgotten`: the snapshots of that history, as far as they can be counted
    """

    run_id: str
    tables: tuple[str, ...] = ()
    emptied: tuple[str, ...] = ()
    gaps: int = 0
    forgotten: int = 0
    seconds: float = 0.0


class Rebuild:
    """Rebuilds one store's meta tables."""

    def __init__(
        self,
        tables: MetaTables,
        store: MetaStore,
        upkeep: MetaUpkeep,
        lake: ObservedLake,
        appending: MetaAppender,
        *,
        clock: Clock,
        failpoints: Failpoints,
        progress: Callable[[str], None] = lambda _line: None,
    ) -> None:
        self._tables, self._store, self._upkeep, self._lake = tables, store, upkeep, lake
        self._appending, self._clock = appending, clock
        self._failpoints, self._progress = failpoints, progress

    def run(self, named: Collection[MetaTable] = ()) -> Rebuilt:
        """Prepare lost tables and the tables `named`, whatever they contain; the next pass fills them.

        Raises SourceError.
        """
        started, run_id = time.monotonic(), str(uuid.uuid4())
        wanted = {*self._tables.lost(), *named}
        lost = [table for table in META_TABLES if table in wanted]
        if not lost:
            return Rebuilt(run_id=run_id)
        self._progress(f"to rebuild: {', '.join(table.name for table in lost)}")
        closed = self._close_days(lost)
        self._failpoints.reach("before_create_tables")
        properties = {} if closed is None else {SNAPSHOTS.name: {RAW_FLOOR: _date(closed)}}
        self._tables.recreate(lost, properties)
        self._failpoints.reach("after_create_tables")
        if DAILY in lost and HOURLY not in lost:
            self._fold(lost)
        gaps = self._tell_history(lost, run_id)
        self._tables.finish(lost)
        emptied = tuple(table.name for table in lost if table not in FROM_LAKE | FROM_ROWS)
        seconds = round(time.monotonic() - started, 3)
        tables = tuple(table.name for table in lost)
        return Rebuilt(
            run_id=run_id, tables=tables, emptied=emptied, gaps=len(gaps), forgotten=sum(gaps), seconds=seconds
        )

    def _close_days(self, lost: Sequence[MetaTable]) -> Micros | None:
        """Start of the first day that is rolled up again; None: every day is. Roll-ups of expired facts from before the
        loss are kept; their progress marks are reset.
        """
        standing = [table for table in (HOURLY, DAILY) if table not in lost]
        if not standing:
            return None
        first = None
        if FROM_LAKE & set(lost):
            first = self._last_rolled(standing)
            self._tables.reopen(standing, first)
            if SNAPSHOTS not in lost:
                self._raise_floor(first)
        if HOURLY in standing:
            self._failpoints.reach("before_mark_rolled")
            self._upkeep.set_properties(HOURLY, dict.fromkeys((ROLLED_SNAPSHOTS, ROLLED_CHANGES, ROLLED_AT), "0"))
            self._failpoints.reach("after_mark_rolled")
        return first

    def _last_rolled(self, standing: Sequence[MetaTable]) -> Micros:
        """Start of the day of the newest roll-up: later facts are in none."""
        marked = number(self._upkeep.standing(HOURLY).properties.get(ROLLED_AT)) if HOURLY in standing else 0
        if not marked:
            table = standing[0]
            rows = self._upkeep.rows(table, self._upkeep.standing(table).position, ("rolled_at",), Where())
            marked = max(rows["rolled_at"].drop_nulls().to_list(), default=0)
        return truncated(Micros(marked), DAY)

    def _raise_floor(self, day: Micros) -> None:
        if (raw_floor(self._upkeep.standing(SNAPSHOTS).properties) or 0) < day:
            self._upkeep.set_properties(SNAPSHOTS, {RAW_FLOOR: _date(day)})

    def _fold(self, lost: Sequence[MetaTable]) -> None:
        """Roll up days before the floor from their hours, which were made when all their raw rows existed."""
        floor = None if SNAPSHOTS in lost else raw_floor(self._upkeep.standing(SNAPSHOTS).properties)
        end = self._clock.now() if SNAPSHOTS in lost else floor
        if end is None:
            return
        where = Where(end=truncated(end, DAY))
        hours = self._upkeep.rows(HOURLY, self._upkeep.standing(HOURLY).position, _HOURLY, where)
        if not hours.is_empty():
            self._upkeep.merge(DAILY, fold_days(hours, Stamp(0, 0, self._clock.now())))

    def _tell_history(self, lost: Sequence[MetaTable], run_id: str) -> list[int]:
        """Write what only the other tables know; returns how many snapshots each series with a gap misses."""
        now, head = self._clock.now(), self._store.head(CHANGES)
        if CHANGES in lost and SNAPSHOTS not in lost:
            position = self._upkeep.standing(SNAPSHOTS).position
            rows = list(known_series(self._upkeep.rows(SNAPSHOTS, position, _SERIES, Where())))
            self._appending.changes(rows, head, run_id, now)
            return []
        if SNAPSHOTS not in lost or CHANGES in lost:
            return []
        told = self._store.changes(head)
        gaps = still_new(forgotten_gaps(self._lake, told, now), Ledger(told))
        self._appending.changes(gaps, head, run_id, now)
        return [missed(gap) for gap in gaps]


def _date(micros: Micros) -> str:
    return dt.datetime.fromtimestamp(micros / 1_000_000, dt.UTC).date().isoformat()
