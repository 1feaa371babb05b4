"""The services' view of the watcher process, whether or not the server has one."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence

from limnograph.adapters.watch.process import WatchProcess
from limnograph.domain.ids import TableName
from limnograph.domain.watch import ProbeRound, Sighted, WatchState
from limnograph.services.lake.lake import Facts
from limnograph.services.lake.store import HotStore


class WatcherLink:
    """Stores the watcher's facts. `process` is None without a command. Immutable after construction."""

    def __init__(self, command: Sequence[str], store: HotStore) -> None:
        self._store = store
        self.process = WatchProcess(command, self._store_round) if command else None

    def wake(self, tables: Collection[TableName] = ()) -> None:
        """Wake the watcher, which then probes these tables first."""
        if self.process:
            self.process.wake(tables)

    def state(self) -> WatchState:
        """State of the watcher, for the status page."""
        return self.process.state() if self.process else WatchState("absent", None, "switched off")

    def sighted(self) -> Sighted | None:
        """The watcher's progress, empty before its first message; None without a watcher."""
        if self.process is None:
            return None
        return self.process.sighted or Sighted(0, 0, (), whole=False, troubles=())

    def first_look(self) -> str | None:
        """Why readiness waits for the watcher; None if it does not."""
        return self.process.first_look() if self.process else None

    def cpu_s(self) -> float:
        """CPU time of the watcher and its parsers, seconds."""
        return self.process.cpu_s if self.process else 0.0

    async def _store_round(self, probed: ProbeRound) -> None:
        await asyncio.to_thread(self._store.apply, Facts(probed.snapshots, probed.changes))
        if probed.last:
            self._store.probed(probed.at, probed.read, probed.failed)


class Readiness:
    """Whether the first reads other than that of the meta tables have ended. Changed on the event loop only, during
    start-up.
    """

    def __init__(self, watcher: WatcherLink) -> None:
        self._watcher, self._alerts_pending = watcher, False

    def begin(self) -> None:
        """Record that the first read of the alerts has begun."""
        self._alerts_pending = True

    def alerts_read(self) -> None:
        """Record that the first read of the alerts has ended or takes too long."""
        self._alerts_pending = False

    def waiting_for(self) -> str | None:
        """What readiness still waits for; None if nothing."""
        if self._alerts_pending:
            return "the first read of the alerts has not finished"
        return self._watcher.first_look()
