"""The watcher as a child process: started, read line by line, restarted with back-off, never left behind.

The child ends when its standard input closes, so it dies with this process however this process dies.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Literal

import msgspec

from limnograph.adapters.processor_time import sample
from limnograph.domain import watch
from limnograph.domain.ids import TableName
from limnograph.domain.time import Micros
from limnograph.domain.watch import Sighted, WatchState

_FIRST_DELAY_S, _LONGEST_DELAY_S, _STEADY_S = 1.0, 60.0, 30.0
_LINE_LIMIT = 256 * 1024 * 1024
_SILENT_S = 60.0
FIRST_LOOK_S = 30.0
"""Seconds that readiness waits for the first round: a catalog that does not answer takes a third of it, and the first
look at a large lake may take minutes, while pages show what the meta tables hold.
"""
_LOOK_S = 1.0
WAKE = b"\n"
"""A line on the child's standard input has it look at once; the line may name tables, as JSON."""
_log = logging.getLogger("limnograph.watcher")


class WatchProcess:
    """`run` until cancelled; `on_probe` gets every round. The state is for status pages. Used on the event loop only;
    `state` may be read in any thread.
    """

    def __init__(
        self,
        command: Sequence[str],
        on_probe: Callable[[watch.ProbeRound], Awaitable[None]],
        *,
        first_look_s: float = FIRST_LOOK_S,
    ) -> None:
        self._command, self._on_probe, self._first_look_s = command, on_probe, first_look_s
        self._status: Literal["ok", "stale", "error"] = "ok"
        self._detail: str | None = "the first check of the catalogs has not finished"
        self._message_at: Micros | None = None
        self.sighted: Sighted | None = None
        """None until the first message."""
        self._heard = time.monotonic()
        self.pid: int | None = None
        self.cpu_s = 0.0
        """What it and its parsers took of a processor up to its newest message, seconds."""
        self._child: asyncio.subprocess.Process | None = None
        self._begun_at: float | None = None
        self._looked = False

    def first_look(self) -> str | None:
        """What the first check of the lake is still waiting for; None once it finished, with any result, or takes
        longer than FIRST_LOOK_S: `state` then shows that it continues.
        """
        if self._looked or (self._begun_at is not None and time.monotonic() - self._begun_at >= self._first_look_s):
            return None
        return "the first check of the catalogs has not finished"

    def wake(self, tables: Collection[TableName] = ()) -> None:
        """Have the child look at once, at these tables first. Never raises: a wake that is lost is made up for by the
        next round.
        """
        child = self._child
        # What the child does not take would pile up here: one wake that waits is as good as many.
        if child is None or child.stdin is None or child.stdin.transport.get_write_buffer_size() > 0:
            return
        with contextlib.suppress(OSError, RuntimeError):
            child.stdin.write(msgspec.json.encode([str(table) for table in tables]) + WAKE if tables else WAKE)

    def state(self) -> WatchState:
        """As last seen; a round with troubles is stale, and so is silence for a minute."""
        if self._status == "error":
            return WatchState("error", self._message_at, self._detail)
        silent = self._message_at is not None and time.monotonic() - self._heard > _SILENT_S
        return WatchState("stale" if silent else self._status, self._message_at, self._detail)

    async def run(self) -> None:
        """Keep one child alive."""
        delay = _FIRST_DELAY_S
        self._begun_at = time.monotonic()
        while True:
            started = time.monotonic()
            ended = await self._ended()
            if time.monotonic() - started > _STEADY_S:
                delay = _FIRST_DELAY_S
            self._looked = True
            self._status, self._detail = "error", f"{ended}; restarting in {delay:.0f} s"
            _log.warning("the watcher %s", self._detail)
            await asyncio.sleep(delay)
            delay = min(2 * delay, _LONGEST_DELAY_S)

    async def _ended(self) -> str:
        """Run one child to its end and return how it ended. If its messages cannot be processed, a new child reports
        everything again.
        """
        try:
            return f"ended with {await self._once()}"
        except Exception as error:  # noqa: BLE001  # the log has it; the server goes on
            _log.exception("reading the watcher failed")
            return f"failed: {type(error).__name__}"

    async def _once(self) -> int | None:
        child = await asyncio.create_subprocess_exec(
            *self._command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=_LINE_LIMIT
        )
        self.pid, self._child = child.pid, child
        loading = asyncio.create_task(self._loading(child.pid))
        try:
            await self._read(child)
            return await child.wait()
        finally:
            loading.cancel()
            self.pid = self._child = None
            await _end(child)

    async def _loading(self, pid: int) -> None:
        """Until its first message, say how far it is: on a starved machine that takes a minute."""
        first = self._heard
        while self._heard == first:
            await asyncio.sleep(_LOOK_S)
            taken = sample(pid)
            if self._heard == first and self._status != "error" and taken:
                self._detail = f"starting: watcher: loading, {taken.cpu_s:.0f} CPU s"

    async def _read(self, child: asyncio.subprocess.Process) -> None:
        if child.stdout is None:
            return
        while line := await child.stdout.readline():
            try:
                probed = watch.decode(line)
            except msgspec.MsgspecError as error:
                _log.warning("unexpected message from the watcher: %s", error)
                continue
            self._heard = time.monotonic()
            if isinstance(probed, watch.StartingNotice):
                self._detail = f"starting: {probed.what}"
                continue
            await self._on_probe(probed)
            self._message_at, self.cpu_s = probed.at, probed.cpu_s
            self._see(probed)
            if probed.last:
                self._looked = True
                self._status = "stale" if probed.troubles else "ok"
                self._detail = "; ".join(f"{t.source}: {t.detail}" for t in probed.troubles[:3]) or None

    def _see(self, probed: watch.ProbeRound) -> None:
        """Store a message's state of all catalogs: the end of each round, and before the first one its beginning."""
        if probed.last:
            troubles = tuple(f"{trouble.source}: {trouble.detail}" for trouble in probed.troubles)
            self.sighted = Sighted(probed.listed, probed.tables, tuple(probed.read), whole=True, troubles=troubles)
        elif self.sighted is None:
            self.sighted = Sighted(probed.listed, probed.tables, (), whole=False, troubles=())
            self._detail = f"{probed.tables} of {probed.listed} listed tables have been read for the first time"


async def _end(child: asyncio.subprocess.Process) -> None:
    """Ask, then insist."""
    if child.returncode is not None:
        return
    with contextlib.suppress(ProcessLookupError):
        child.terminate()
    try:
        async with asyncio.timeout(3):
            await child.wait()
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            child.kill()
        await child.wait()
