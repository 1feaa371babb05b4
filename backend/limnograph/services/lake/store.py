"""The hot index: the last 48 hours of every table in memory, refreshed off the event loop; older spans are read cold.

One `Lake` at a time is current; readers take the reference and never see a half-built one. Facts of the watcher are
provisional: a durable row with the same key replaces them, except for values that only the watcher knows.
"""

from __future__ import annotations

import datetime as dt
import logging
import threading
import time
from collections.abc import Callable, Collection
from functools import lru_cache
from typing import NamedTuple

from limnograph.domain.errors import LimnographError, SourceError, SourceTimeout, SourceUnavailable
from limnograph.domain.facts.meta_tables import SnapshotFact
from limnograph.domain.ids import TableName
from limnograph.domain.time import MICROS_PER_SECOND, Micros, beginnings
from limnograph.ports.clock import Clock
from limnograph.ports.hot_source import Fresh
from limnograph.ports.query_engine import MetaHead, QueryEngine
from limnograph.services.lake import changes as lake_changes
from limnograph.services.lake import eviction
from limnograph.services.lake import lake as lakes
from limnograph.services.lake.cold_lake import OlderLakes, all_reach
from limnograph.services.lake.columns import HOT_COLUMNS
from limnograph.services.lake.fresh import ArrivedRows, arrived
from limnograph.services.lake.lake import Facts, Lake
from limnograph.services.lake.loading import LoadedSpan, load
from limnograph.services.lake.provisional import WholeRows
from limnograph.services.lake.watermark import NewestPasses, Watermarks
from limnograph.services.sources.cold_reads import ColdReads

HOUR = 3_600 * MICROS_PER_SECOND
DAY = 24 * HOUR
WINDOW = 48 * HOUR
_SLIDE = HOUR
STUCK = 60 * MICROS_PER_SECOND
"""A longer read of the meta tables is reported. Two seconds are usual; a whole window takes somewhat longer."""
_NOTHING = MetaHead(snapshots=None, changes=None)
UNREAD = SourceUnavailable("meta", "the meta tables are being read for the first time; retry in a moment")
"""Until then facts are unknown, which is not the same as absent."""
_log = logging.getLogger("limnograph.hot")


class LakeView(NamedTuple):
    """A lake with the state of its source. `error`: the newest read failed; `partial`: older rows are missing."""

    lake: Lake
    error: SourceError | None
    partial: bool
    head: MetaHead
    read_at: Micros | None


class HotStore:
    """Holds the current lake. `refresh` and cold reads block: call them in a thread.

    `fresh`: reads the rows appended since a head, so that a refresh costs O(new rows); without it, or if it fails, the
      window is read again
    `most_bytes`: the budget; beyond it old hours of tables are evicted and read cold
    `cold`: a separate engine for cold reads, if there is one

    Thread-safe: readers take `_reading`, an immutable value, without a lock. It is replaced under `_swapping`, which is
    never held over I/O, together with its sources (`_whole`, `_passes`, `_floor`). `_refreshing` lets one refresh run
    at a time, reads included; no request waits for it.
    """

    def __init__(
        self,
        engine: QueryEngine,
        clock: Clock,
        window_us: int = WINDOW,
        *,
        fresh: Fresh | None = None,
        most_bytes: int | None = None,
        cold: QueryEngine | None = None,
        reads: ColdReads | None = None,
    ) -> None:
        self.reads = reads or ColdReads()
        self._older = OlderLakes(cold or engine, clock, None if cold else fresh)
        self._engine, self._clock, self._window, self._fresh = engine, clock, window_us, fresh
        self._most_bytes = most_bytes
        self._refreshing, self._swapping = threading.Lock(), threading.Lock()
        self._whole = WholeRows()
        self._passes = NewestPasses()
        self._reading = LakeView(lakes.EMPTY, UNREAD, partial=False, head=_NOTHING, read_at=None)
        self._floor: Micros | None = None
        self._attempted = False
        self.refresh_s: float | None = None
        """Duration of the last successful refresh, seconds."""
        self._began: Micros | None = None
        self._asked: dict[str, Micros] = {}
        self._watermarks = Watermarks()
        self.listeners: list[Callable[[Lake], None]] = []
        """Called with a lake before it is published, in the thread that built it."""

    @property
    def reading(self) -> LakeView:
        """The current hot lake, with an error while a read of the meta tables hangs."""
        reading, began = self._reading, self._began
        if began is None or not self._stuck(began):
            return reading
        return reading._replace(error=_hangs(began))

    def named(self, text: str) -> TableName | None:
        """The known table that `catalog.namespace.table` names; None if there is none. O(names)."""
        return self.reading.lake.named(text)

    def resolved(self, name: TableName) -> TableName:
        """The known name for a name that may be spelled in its plain form."""
        return self._reading.lake.resolved(name)

    @property
    def attempted(self) -> bool:
        """Whether the first read ended, with any result, or hangs: waiting for it is then useless."""
        began = self._began
        return self._attempted or (began is not None and self._stuck(began))

    def _stuck(self, began: Micros) -> bool:
        return self._clock.now() - began >= STUCK

    @property
    def watermark(self) -> Micros | None:
        """Metadata is known up to this instant (epoch microseconds); None if unknown."""
        return self._watermarks.watermark(self._reading.lake)

    def known_until(self, name: TableName) -> Micros | None:
        """The watermark of one table."""
        return self._watermarks.until(name, self._reading.lake)

    def probed(self, at: Micros, read: Collection[str], failed: Collection[str]) -> None:
        """A round of the watcher ended: tables of the catalogs in `read` are known up to `at`, except for those in
        `failed`.
        """
        self._watermarks.probed(at, read, failed)

    def catalogs(self, configured: Collection[str]) -> dict[str, tuple[Micros | None, bool]]:
        """When each catalog last responded to the watcher (None: never), and whether it did in the newest round. Empty
        before the first round and without a watcher.
        """
        never = dict.fromkeys(configured, (None, False))
        return {**never, **self._watermarks.answered()} if self._watermarks.watched else {}

    def refresh(self) -> bool:
        """Load new rows of the meta tables; once an hour evict rows outside the window. Returns whether the lake
        changed.
        """
        with self._refreshing:
            now = self._began = self._clock.now()
            started_s = time.perf_counter()
            try:
                changed = self._refresh(now)
            except SourceError as error:
                _log.warning("meta tables: %s", error)
                self._report(error, self._reading.read_at)
                return False
            except Exception as error:  # noqa: BLE001  # for any error the pages report that the numbers are old
                _log.exception("meta tables: reading failed")
                failed = SourceUnavailable("meta", f"reading failed ({type(error).__name__}); the log has the trace")
                self._report(failed, self._reading.read_at)
                return False
            else:
                self.refresh_s = time.perf_counter() - started_s
                return changed
            finally:
                self._began, self._attempted = None, True

    def _report(self, error: SourceError | None, read_at: Micros | None) -> None:
        """Replace the state of the source. The lake remains the current one, not the one from when the read began."""
        with self._swapping:
            self._reading = self._reading._replace(error=error, read_at=read_at)

    def _refresh(self, now: Micros) -> bool:
        head, floor, old = self._engine.head(), now - self._window, self._reading.head
        moved, slid = head != old, self._floor is None or floor - self._floor >= _SLIDE
        if not moved and not slid:
            self._report(None, now)
            return False
        read = self._what_is_new(old, head, floor) if moved else None
        with self._swapping:
            self._floor = floor if slid else self._floor
            lake = self._reading.lake
            if isinstance(read, LoadedSpan):
                self._passes = NewestPasses()
                self._passes.remember(read.passes)
                lake = lake_changes.renewed(lake, read, self._passes.observed_at)
            elif read is not None:
                self._passes.remember(read.passes)
                lake = lake_changes.grown(lake, read, self._passes.observed_at)
            if slid:
                lake = lake_changes.trimmed(lake, floor)
            self._reading = LakeView(self._ready(lake), None, partial=False, head=head, read_at=now)
        return True

    def _what_is_new(self, old: MetaHead, head: MetaHead, floor: Micros) -> LoadedSpan | ArrivedRows | None:
        """Rows since the old head; the whole window if they cannot be determined."""
        if head.snapshots is None and head.changes is None:
            return None
        if self._fresh is not None and old.snapshots is not None and old.changes is not None and self._floor:
            new = arrived(self._fresh, self._engine, old, self._floor, self._reading.lake)
            if new is not None:
                return new
        # Whole days since the floor: cuts at midnight would make a third piece, and a third more blocks to pack.
        cuts = beginnings(floor + DAY, self._clock.now(), DAY)
        return load(self._engine, floor, cuts=cuts, unordered=self._fresh.unordered if self._fresh else None)

    def apply(self, facts: Facts) -> None:
        """Merge the watcher's facts into the durable ones. O(new facts)."""
        if not facts.snapshots and not facts.changes:
            return
        with self._swapping:
            self._whole.keep(facts.snapshots)
            watched = lake_changes.watched(self._reading.lake, facts)
            self._reading = self._reading._replace(lake=self._ready(watched))

    def provisional_row(self, table_uuid: str, snapshot_id: int) -> SnapshotFact | None:
        """The watcher's complete row of a commit, if it is among the latest."""
        return self._whole.of(table_uuid, snapshot_id)

    def asked(self, table_uuid: str) -> None:
        """Record that a table was viewed: its hours are evicted last."""
        self._asked[table_uuid] = self._clock.now()

    @property
    def nbytes(self) -> int:
        """Bytes of the tables in memory."""
        return self._reading.lake.size[0]

    @property
    def rows(self) -> int:
        """Snapshots in memory."""
        return self._reading.lake.size[1]

    def _ready(self, lake: Lake) -> Lake:
        """A lake within the budget, after the listeners were notified."""
        if self._most_bytes is not None:
            tables, edges = eviction.shorten_tables(lake, self._most_bytes, self._asked, self._clock.now())
            lake = lake.changed(tables, edges=edges) if tables else lake
        for listener in self.listeners:
            try:
                listener(lake)
            except Exception:  # noqa: BLE001 - the lake is published even if a listener fails
                _log.exception("derived state was not updated")
        return lake

    async def reach(
        self,
        start: Micros,
        table_uuids: tuple[str, ...] = (),
        columns: tuple[str, ...] = HOT_COLUMNS,
        *,
        end: Micros | None = None,
    ) -> LakeView:
        """As `since`, off the event loop and with a deadline: a hanging read becomes the view's error and is cancelled
        upstream.
        """
        try:
            return await self.reads.ask(self.since, start, table_uuids, columns, end=end)
        except SourceError as error:
            return self._reading._replace(error=error, partial=True)

    def since(
        self,
        start: Micros,
        table_uuids: tuple[str, ...] = (),
        columns: tuple[str, ...] = HOT_COLUMNS,
        *,
        end: Micros | None = None,
    ) -> LakeView:
        """A lake that reaches back to `start`: the hot one if it does, else cold and hot rows united by key. Cold rows
        have only `columns`, and none after the hour of `end` if memory begins later than that.
        """
        hot = self._reading
        if (hot.head.snapshots is None and hot.head.changes is None) or all_reach(hot.lake, start, table_uuids):
            return hot
        try:
            return hot._replace(lake=self._older.reaching(hot.lake, hot.head, (start, end), table_uuids, columns))
        except LimnographError as error:
            failed = error if isinstance(error, SourceError) else SourceUnavailable("meta", str(error))
            return hot._replace(error=failed, partial=True)


@lru_cache(maxsize=8)
def _hangs(began: Micros) -> SourceTimeout:
    """One error object per hanging read: pages built meanwhile stay valid while it is the same object."""
    since = dt.datetime.fromtimestamp(began // MICROS_PER_SECOND, dt.UTC).isoformat()
    return SourceTimeout("meta", f"the read that started at {since} has not finished")
