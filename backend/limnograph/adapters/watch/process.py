"""The watcher as a child process: started, read line by line, restarted with back-off, never orphaned.

The child exits when its standard input closes, so it ends with this process however this process ends.
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
"""Seconds that readiness waits for the first round. A catalog that does not respond takes a third of it. The first
round of a large lake may take minutes, while pages show the contents of the meta tables.
"""
_LOOK_S = 1.0
WAKE = b"\n"
"""A line on the child's standard input makes it probe immediately; the line may name tables, as JSON."""
_log = logging.getLogger("limnograph.watcher")


class WatchProcess:
    """`run` until cancelled; `on_probe` receives every round. `state` is for status pages, and may be read in any
    thread; everything else is for the event loop only.
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
        """Processor time of the watcher and its parsers up to its latest message, seconds."""
        self._child: asyncio.subprocess.Process | None = None
        self._begun_at: float | None = None
        self._looked = False

    def first_look(self) -> str | None:
        """What the first round is still waiting for; None once it finished, with any result, or takes longer than
        FIRST_LOOK_S: `state` then shows that it continues.
        """
        if self._looked or (self._begun_at is not None and time.monotonic() - self._begun_at >= self._first_look_s):
            return None
        return "the first check of the catalogs has not finished"

    def wake(self, tables: Collection[TableName] = ()) -> None:
        """Make the child probe immediately, these tables first. Never raises: the next round replaces a lost one."""
        child = self._child
        # Wake-ups that the child does not read would pile up here: one pending wake-up is enough.
        if child is None or child.stdin is None or child.stdin.transport.get_write_buffer_size() > 0:
            return
        with contextlib.suppress(OSError, RuntimeError):
            child.stdin.write(msgspec.json.encode([str(table) for table in tables]) + WAKE if tables else WAKE)

    def state(self) -> WatchState:
        """The last reported state; stale after a round with failures, or a minute of silence."""
        if self._status == "error":
            return WatchState("error", self._message_at, self._detail)
        silent = self._message_at is not None and time.monotonic() - self._heard > _SILENT_S
        return WatchState("stale" if silent else self._status, self._message_at, self._detail)

    async def run(self) -> None:
        """Keep one child running."""
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
        """Run one child until it exits; returns the reason. If its messages cannot be processed, a new child reports
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
        """Log progress until the child's first message: on an overloaded machine that takes a minute."""
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
        """Store the state of all catalogs from a message: at the end of each round, and at the start of the first."""
        if probed.last:
            troubles = tuple(f"{trouble.source}: {trouble.detail}" for trouble in probed.troubles)
            self.sighted = Sighted(
                probed.listed,
                probed.tables,
                tuple(probed.read),
                whole=True,
                troubles=troubles,
                catalogs=tuple(probed.catalogs),
                unmatched=tuple(probed.unmatched),
                parted=tuple(probed.parted),
            )
        elif self.sighted is None:
            self.sighted = Sighted(probed.listed, probed.tables, (), whole=False, troubles=())
            self._detail = f"{probed.tables} of {probed.listed} listed tables have been read for the first time"


async def _end(child: asyncio.subprocess.Process) -> None:
    """Terminate, then kill."""
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
