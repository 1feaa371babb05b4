"""One catalog watched by its own threads, so that it delays no other: names are listed, tables probed by their
schedule. It is reopened after every failure, with re-read credentials. Threads are daemons: one that hangs in a client
without a timeout is left behind, and others take over.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable

from limnograph.domain.errors import SettingsError, SourceError, SourceRejected, SourceUnavailable
from limnograph.domain.ids import TableName
from limnograph.ports.catalog import Catalog, TablePointer
from limnograph.services.watcher.catalog_state import CatalogSnapshot, CatalogState
from limnograph.services.watcher.catalog_workers import FirstLook, WorkerPool

NAMES_S = 60.0
"""Under continuous load names are listed again after this, unless the listing is one query anyway."""
FRESH_S = 600.0
"""With patience for names, one complete listing is waited for each time that so long has passed since the last one."""
HANGS_S = 60.0
"""Without any answer: the threads are left behind."""
_LEAST_WAIT_S = 0.005
_log = logging.getLogger("limnograph.catalogs")


class CatalogWatch:
    """`rate`: probes per second, also without requests. None: everything due is probed on request; `eager`: every table
    is due then. `wanted`: the tables whose pointers are requested. `threads`: concurrent probes. `deadline`: seconds
    that a request waits at most, without a rate only while the catalog does not respond. `patience`: seconds that a
    request waits, with a rate, for a slow listing that makes progress; without any, a table that left a slow catalog is
    never known to be gone.
    """

    def __init__(
        self,
        name: str,
        opened: Callable[[], Catalog],
        wanted: Callable[[TableName], bool],
        *,
        rate: float | None = None,
        eager: bool = False,
        threads: int = 4,
        deadline: float = 10.0,
        patience: float = 0.0,
        progress: Callable[[str], None] = lambda _line: None,
    ) -> None:
        self.name, self._opened = name, opened
        self._budgeted, self._eager, self._deadline = rate is not None, eager, deadline
        self._most_patience, self._fresh_at = patience, float("-inf")
        self._state = CatalogState(name, wanted, float("inf") if rate is None else rate)
        self._changed = threading.Condition()
        self._catalog: Catalog | None = None
        self._first: set[TableName] = set()
        self._background = self._listing = self._closed = self._looked = False
        self._crew, self._first_look = WorkerPool(threads), FirstLook(name, progress)
        self._wrong: SettingsError | None = None
        self._asked_at = self._alive_at = float("-inf")

    def ask(self, hurry: Iterable[TableName] = ()) -> None:
        """Request a check now, of the given tables first. Does not block; `standing` waits for the result."""
        with self._changed:
            now = self._asked_at = time.monotonic()
            state = self._state
            first = list(hurry)
            state.schedule.hurry(first)
            stranger = any(not state.knows(name) for name in first)
            self._first = {name for name in first if state.schedule.knows(name)}
            if stranger or not self._background or now - state.listed_at >= NAMES_S:
                state.relist = True
            if not self._budgeted:
                state.again_at = now
            if self._eager:
                state.schedule.all_due(now)
            if self._crew.busy and now - self._alive_at > HANGS_S:
                self._leave_behind(now)
            if not self._crew.workers and now >= state.again_at and not self._crew.hangs:
                self._start(now)
            self._changed.notify_all()

    def standing(self) -> CatalogSnapshot:
        """The known state after the requested check was done, failed or timed out. Without a rate raises SettingsError
        if the catalog was never opened because its settings are wrong; under continuous load that is a reason.
        """
        with self._changed:
            while not self._done():
                patience = self._patience(time.monotonic())
                if patience <= 0:
                    self._late()
                    break
                self._changed.wait(patience)
            self._looked = True
            if self._wrong and not self._budgeted:
                raise self._wrong
            found = self._state.standing(self._asked_at)
            self._fresh_at = time.monotonic() if found.fresh else self._fresh_at
            return found

    def newest(self, name: TableName) -> TablePointer | None:
        """Probes one table again. None: it no longer exists. Raises SourceError."""
        catalog = self._catalog
        if catalog is None:
            raise SourceUnavailable(f"catalog {self.name}", "it does not respond")
        found = catalog.probe(name)
        with self._changed:
            self._state.found(name, found, time.monotonic())
        return found.pointer

    def close(self) -> None:
        """Let its threads end."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _done(self) -> bool:
        if not self._crew.workers:
            return True
        if not self._background:
            return False
        schedule = self._state.schedule
        return not (self._state.relist or self._listing or self._first or (schedule.fresh and not self._looked))

    def _patience(self, now: float) -> float:
        """Seconds that a request still waits. A hanging catalog is waited for once, not by every request."""
        begin = self._asked_at if self._budgeted else max(self._asked_at, self._alive_at)
        if self._budgeted and self._listing and now - self._fresh_at >= FRESH_S:
            begin = max(begin, min(self._alive_at, self._asked_at + self._most_patience - self._deadline))
        return (self._alive_at if self._state.reason else begin) + self._deadline - now

    def _late(self) -> None:
        """Nothing came for as long as we wait. While answers come, if slowly, it is not late."""
        if self._crew.busy and time.monotonic() - self._alive_at >= self._deadline and not self._state.reason:
            waited = f"no response within {self._deadline:.0f} s; its tables are stale"
            self._state.down(f"catalog {self.name}: {waited}", time.monotonic())

    def _leave_behind(self, now: float) -> None:
        _log.warning("catalog %s: no response for %d s; reconnecting", self.name, HANGS_S)
        self._crew.leave()
        self._listing, self._catalog = False, None
        self._state.down(self._state.reason or f"catalog {self.name}: no response for {HANGS_S:.0f} s", now)
        self._state.again_at = now

    def _start(self, now: float) -> None:
        self._crew.workers += 1
        self._alive_at = max(self._alive_at, now)
        arguments = (self._crew.generation,)
        threading.Thread(target=self._work, args=arguments, name=f"catalog-{self.name}", daemon=True).start()

    def _work(self, generation: int) -> None:
        while True:
            with self._changed:
                act = self._next(generation)
                if act is None:
                    self._crew.ended(generation)
                    self._changed.notify_all()
                    return
                if not self._crew.busy:
                    self._alive_at = time.monotonic()
                self._crew.busy += 1
            self._do(act, generation)

    def _next(self, generation: int) -> TableName | str | None:
        """What to do: list names (`""`), probe a table, or end. Called with the lock; waits while nothing is due."""
        while generation == self._crew.generation and not self._closed:
            now, state = time.monotonic(), self._state
            if now < state.again_at:
                return None
            if not self._listing and (state.relist or self._catalog is None):
                self._listing = True
                return ""
            if self._catalog is not None and not self._catalog.at_once:
                at = now if self._background else self._asked_at
                name = state.schedule.take(at)
                if name is not None:
                    if self._crew.has_room and state.schedule.rest(at) == 0:
                        self._start(now)
                    return name
            if not self._background or self._listing:
                return None
            self._changed.wait(max(_LEAST_WAIT_S, state.schedule.rest(now)))
        return None

    def _do(self, act: TableName | str, generation: int) -> None:
        try:
            self._settle(act, generation, self._name_all() if isinstance(act, str) else self._probe(act))
        except (SettingsError, SourceError) as error:
            self._settle(act, generation, self._failure(act, error))
        except Exception as error:  # noqa: BLE001 - what a client did not foresee is no end of the others
            _log.exception("catalog %s", self.name)
            what = f"unexpected {type(error).__name__}: {error}"
            kind = SourceUnavailable(f"catalog {self.name}", what)
            self._settle(act, generation, self._failure(act, SourceRejected(str(act), what) if act else kind))

    def _name_all(self) -> Callable[[], None]:
        began = self._asked_at
        catalog = self._catalog or self._opened()
        names = catalog.names(self.alive)

        def settle() -> None:
            self._catalog, self._listing, self._wrong = catalog, False, None
            self._background = self._budgeted and not catalog.at_once
            self._state.listed(names, began, probed=not catalog.at_once)
            if began < self._asked_at and not self._background:
                self._state.relist = True  # asked for again meanwhile

        return settle

    def alive(self) -> None:
        """A part of a long listing is there, or what it waits for makes progress."""
        with self._changed:
            self._alive_at = time.monotonic()
            self._changed.notify_all()

    def _probe(self, name: TableName) -> Callable[[], None]:
        catalog = self._catalog
        if catalog is None:
            return lambda: self._state.schedule.again(name, time.monotonic())
        found = catalog.probe(name)

        def settle() -> None:
            self._state.found(name, found, time.monotonic())
            self._first_look.probed(len(self._state.schedule), self._state.schedule.fresh)

        return settle

    def _failure(self, act: TableName | str, error: SourceError | SettingsError) -> Callable[[], None]:
        """Wrong settings end the program when it starts; later they are a reason like others."""

        def settle() -> None:
            now = time.monotonic()
            if isinstance(act, TableName) and isinstance(error, SourceError):
                self._state.failed(act, error, now)
            else:
                self._listing, self._catalog = False, None
                if isinstance(error, SettingsError) and self._state.listed_at == float("-inf"):
                    self._wrong = error
                self._state.down(str(error), now)
            if self._state.reason:
                self._catalog = None

        return settle

    def _settle(self, act: TableName | str, generation: int, settle: Callable[[], None]) -> None:
        with self._changed:
            if generation == self._crew.generation:
                settle()
                self._crew.busy -= 1
                self._first -= {act} if isinstance(act, TableName) else set()
                self._alive_at = time.monotonic()
            self._changed.notify_all()
