"""Watches one catalog in separate threads, so that it delays no other: lists names, probes tables on their schedule.

A thread takes an action from `_next`, executes it without the lock and settles it with the lock. States of a watch:

    state   | what holds                                      | what ends it
    --------|-------------------------------------------------|---------------------------------------------------
    idle    | no thread works                                 | `request` starts one: listing or probing
    listing | one thread lists names (`_listing`)             | names listed: probing; an error: down
    probing | threads probe the tables that are due           | none is due: idle, with STANDING resting
    resting | STANDING: a thread waits for the next due table | a table is due: probing; `relist`: listing
    down    | the catalog failed: `reason`, `again_at`        | `request` after `again_at` opens it again: listing
    hanging | no response for HANGS_S while threads are busy  | `request` leaves them behind: down, opened immediately
    closed  | `close` was called                              | final: threads end

A catalog whose listing includes all pointers (`at_once`) is never probed and never rests. After every failure a catalog
is opened again, and its credentials are read again. Threads are daemons: one that hangs in a client without a timeout
is left behind, and others take over.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable

from limnograph.domain.errors import SettingsError, SourceError, SourceRejected, SourceUnavailable
from limnograph.domain.ids import TableName
from limnograph.ports.catalog import Catalog, TablePointer
from limnograph.services.watcher.catalog_actions import Action, EndThread, ListNames, ProbeTable, Wait, WatchMode, Work
from limnograph.services.watcher.catalog_state import CatalogSnapshot, CatalogState
from limnograph.services.watcher.catalog_workers import ProbeProgress, WorkerPool

NAMES_S = 60.0
"""STANDING: names are listed again after this time, unless every listing is a single query anyway."""
FRESH_S = 600.0
"""With patience for names, callers wait for one complete listing whenever the last one is older than this."""
HANGS_S = 60.0
"""Without any response for this time the threads are left behind."""
_LEAST_WAIT_S = 0.005
_NEVER = float("-inf")
_log = logging.getLogger("limnograph.catalogs")


class CatalogWatch:
    """Tables and pointers of one catalog, kept up to date by threads. Thread-safe: everything is guarded by the lock of
    `_changed`, which is not held while the catalog is queried.

    `name`: the catalog's name in the settings
    `opened`: opens the catalog, reading its credentials again
    `wanted`: whether a table's pointer is wanted; other tables are only named
    `mode`: when tables are probed
    `rate`: STANDING: most probes per second; the other modes have no limit
    `threads`: most concurrent probes
    `deadline_s`: how long `snapshot` waits; in the modes without a limit, how long it waits without any response
    `patience_s`: STANDING: how long `snapshot` waits for a complete listing that makes progress; without patience,
      tables removed from a slow catalog are never detected
    `progress`: receives a line periodically during a long first probe of many tables
    """

    def __init__(
        self,
        name: str,
        opened: Callable[[], Catalog],
        wanted: Callable[[TableName], bool],
        mode: WatchMode = WatchMode.ONCE,
        *,
        rate: float = float("inf"),
        threads: int = 4,
        deadline_s: float = 10.0,
        patience_s: float = 0.0,
        progress: Callable[[str], None] = lambda _line: None,
    ) -> None:
        self.name = name
        self._opened = opened
        self._mode = mode
        self._deadline_s = deadline_s
        self._patience_s = patience_s
        self._state = CatalogState(name, wanted, rate if mode is WatchMode.STANDING else float("inf"))
        self._pool = WorkerPool(threads)
        self._progress = ProbeProgress(name, progress)
        self._changed = threading.Condition()
        self._catalog: Catalog | None = None
        """The open catalog; None: the next thread opens it."""
        self._rests = False
        """STANDING, and the catalog has to be probed: threads wait for the next due table."""
        self._listing = False
        """A thread is listing names."""
        self._closed = False
        self._snapshot_taken = False
        """The first caller got its snapshot: later ones do not wait until every table was probed."""
        self._hurried: set[TableName] = set()
        """Tables of the newest request that were not probed since."""
        self._settings_error: SettingsError | None = None
        """Why the catalog could never be opened."""
        self._requested_at = _NEVER
        """Time of the newest request; like all times here, in seconds of the monotonic clock."""
        self._alive_at = _NEVER
        """When the catalog last responded or made progress."""
        self._fresh_at = _NEVER
        """When `snapshot` last returned a complete listing."""

    def request(self, first: Iterable[TableName] = ()) -> None:
        """Start a listing or probes, the given tables first. Returns immediately; `snapshot` waits for the result."""
        with self._changed:
            now_s = self._requested_at = time.monotonic()
            state = self._state
            hurried = list(first)
            state.schedule.hurry(hurried)
            unknown = any(not state.knows(name) for name in hurried)
            self._hurried = {name for name in hurried if state.schedule.knows(name)}
            if unknown or not self._rests or now_s - state.listed_at >= NAMES_S:
                state.relist = True
            if self._mode is not WatchMode.STANDING:
                state.again_at = now_s
            if self._mode is WatchMode.NOW:
                state.schedule.all_due(now_s)
            if self._pool.busy and now_s - self._alive_at > HANGS_S:
                self._leave_behind(now_s)
            if not self._pool.workers and now_s >= state.again_at and not self._pool.exhausted:
                self._start_thread(now_s)
            self._changed.notify_all()

    def snapshot(self) -> CatalogSnapshot:
        """The catalog's state once the newest request is complete, failed or took too long. Raises SettingsError if the
        catalog was never opened because its settings are wrong; with STANDING that is a reason in the snapshot.
        """
        with self._changed:
            while not self._done():
                seconds = self._waits_s(time.monotonic())
                if seconds <= 0:
                    self._give_up()
                    break
                self._changed.wait(seconds)
            self._snapshot_taken = True
            if self._settings_error and self._mode is not WatchMode.STANDING:
                raise self._settings_error
            found = self._state.snapshot(self._requested_at, time.monotonic())
            self._fresh_at = time.monotonic() if found.fresh else self._fresh_at
            return found

    def newest(self, name: TableName) -> TablePointer | None:
        """Probe one table now, in this thread. None: it no longer exists. Raises SourceError."""
        catalog = self._catalog
        if catalog is None:
            raise SourceUnavailable(f"catalog {self.name}", "it does not respond")
        found = catalog.probe(name)
        with self._changed:
            self._state.found(name, found, time.monotonic())
        return found.pointer

    def close(self) -> None:
        """Make its threads end."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def alive(self) -> None:
        """A long listing made progress."""
        with self._changed:
            self._alive_at = time.monotonic()
            self._changed.notify_all()

    # Conditions that a caller waits for. Called with the lock.

    def _done(self) -> bool:
        if not self._pool.workers:
            return True
        if not self._rests:
            return False
        first_look = self._state.schedule.fresh and not self._snapshot_taken
        return not (self._state.relist or self._listing or self._hurried or first_look)

    def _waits_s(self, now_s: float) -> float:
        """Seconds that the caller still waits. Only the first caller waits for a hanging catalog."""
        standing = self._mode is WatchMode.STANDING
        begin = self._requested_at if standing else max(self._requested_at, self._alive_at)
        if standing and self._listing and now_s - self._fresh_at >= FRESH_S:
            begin = max(begin, min(self._alive_at, self._requested_at + self._patience_s - self._deadline_s))
        return (self._alive_at if self._state.reason else begin) + self._deadline_s - now_s

    def _give_up(self) -> None:
        """The caller's wait is over without a result. While the catalog responds, however slowly, it is not down."""
        if self._pool.busy and time.monotonic() - self._alive_at >= self._deadline_s and not self._state.reason:
            waited = f"no response within {self._deadline_s:.0f} s; its tables are stale"
            self._state.down(f"catalog {self.name}: {waited}", time.monotonic())

    # Threads: `_next`, `_start_thread` and `_leave_behind` are called with the lock, the others take it.

    def _leave_behind(self, now_s: float) -> None:
        _log.warning("catalog %s: no response for %d s; reconnecting", self.name, HANGS_S)
        self._pool.leave_behind()
        self._listing, self._catalog = False, None
        self._state.down(self._state.reason or f"catalog {self.name}: no response for {HANGS_S:.0f} s", now_s)
        self._state.again_at = now_s

    def _start_thread(self, now_s: float) -> None:
        self._pool.workers += 1
        self._alive_at = max(self._alive_at, now_s)
        arguments = (self._pool.generation,)
        threading.Thread(target=self._work, args=arguments, name=f"catalog-{self.name}", daemon=True).start()

    def _work(self, generation: int) -> None:
        while True:
            with self._changed:
                action = self._next(generation)
                if isinstance(action, EndThread):
                    self._pool.ended(generation)
                    self._changed.notify_all()
                    return
                if not self._pool.busy:
                    self._alive_at = time.monotonic()
                self._pool.busy += 1
            self._do(action, generation)

    def _next(self, generation: int) -> Action:
        """The thread's next action; waits while nothing is due."""
        while isinstance(action := self._due(generation), Wait):
            self._changed.wait(action.seconds)
        return action

    def _due(self, generation: int) -> Action | Wait:
        now_s, state = time.monotonic(), self._state
        if generation != self._pool.generation or self._closed or now_s < state.again_at:
            return EndThread()
        if not self._listing and (state.relist or self._catalog is None):
            self._listing = True
            return ListNames()
        if self._catalog is not None and not self._catalog.at_once:
            at = now_s if self._rests else self._requested_at
            name = state.schedule.take(at)
            if name is not None:
                if self._pool.has_room and state.schedule.rest(at) == 0:
                    self._start_thread(now_s)
                return ProbeTable(name)
        if not self._rests or self._listing:
            return EndThread()
        return Wait(max(_LEAST_WAIT_S, state.schedule.rest(now_s)))

    def _do(self, work: Work, generation: int) -> None:
        try:
            done = self._probe(work.name) if isinstance(work, ProbeTable) else self._list_names()
            self._settle(work, generation, done)
        except (SettingsError, SourceError) as error:
            self._settle(work, generation, self._failure(work, error))
        except Exception as error:  # noqa: BLE001 - an unexpected error of a client must not stop the other threads
            _log.exception("catalog %s", self.name)
            self._settle(work, generation, self._failure(work, self._unexpected(work, error)))

    def _unexpected(self, work: Work, error: Exception) -> SourceError:
        what = f"unexpected {type(error).__name__}: {error}"
        if isinstance(work, ProbeTable):
            return SourceRejected(str(work.name), what)
        return SourceUnavailable(f"catalog {self.name}", what)

    # Work, done without the lock; the functions that it returns are called with the lock.

    def _list_names(self) -> Callable[[], None]:
        began = self._requested_at
        catalog = self._catalog or self._opened()
        started_s = time.monotonic()
        names = catalog.names(self.alive)
        took_s = time.monotonic() - started_s

        def settle() -> None:
            self._catalog, self._listing, self._settings_error = catalog, False, None
            self._rests = self._mode is WatchMode.STANDING and not catalog.at_once
            self._state.listing_s = took_s
            if catalog.at_once:  # one request; other listings are as many as there are namespaces
                self._state.requests.note(time.monotonic(), took_s)
            self._state.listed(names, began, probed=not catalog.at_once)
            if began < self._requested_at and not self._rests:
                self._state.relist = True  # requested again in the meantime

        return settle

    def _probe(self, name: TableName) -> Callable[[], None]:
        catalog = self._catalog
        if catalog is None:
            return lambda: self._state.schedule.again(name, time.monotonic())
        started_s = time.monotonic()
        found = catalog.probe(name)
        took_s = time.monotonic() - started_s

        def settle() -> None:
            self._state.requests.note(time.monotonic(), took_s)
            self._state.found(name, found, time.monotonic())
            self._progress.report(len(self._state.schedule), self._state.schedule.fresh)

        return settle

    def _failure(self, work: Work, error: SourceError | SettingsError) -> Callable[[], None]:
        """Wrong settings end the program at its start; later they are a reason like any other."""

        def settle() -> None:
            now_s = time.monotonic()
            if isinstance(error, SourceError) and not isinstance(error, SourceRejected):
                self._state.requests.note(now_s, None)  # one that is rejected was answered
            if isinstance(work, ProbeTable) and isinstance(error, SourceError):
                self._state.failed(work.name, error, now_s)
            else:
                self._listing, self._catalog = False, None
                if isinstance(error, SettingsError) and self._state.listed_at == _NEVER:
                    self._settings_error = error
                self._state.down(str(error), now_s)
            if self._state.reason:
                self._catalog = None

        return settle

    def _settle(self, work: Work, generation: int, settle: Callable[[], None]) -> None:
        with self._changed:
            if generation == self._pool.generation:
                settle()
                self._pool.busy -= 1
                if isinstance(work, ProbeTable):
                    self._hurried.discard(work.name)
                self._alive_at = time.monotonic()
            self._changed.notify_all()
