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

from limnograph.domain import watch
from limnograph.domain.ids import TableName
from limnograph.domain.watch import WatchState

_FIRST_DELAY_S, _LONGEST_DELAY_S, _STEADY_S = 1.0, 60.0, 30.0
_LINE_LIMIT = 256 * 1024 * 1024
_SILENT_S = 60.0
WAKE = b"\n"
"""A line on the child's standard input has it look at once; the line may name tables, as JSON."""
_log = logging.getLogger("limnograph.watcher")


class WatchProcess:
    """`run` until cancelled; `on_probe` gets every round. The state is for status pages."""

    def __init__(self, command: Sequence[str], on_probe: Callable[[watch.Probed], Awaitable[None]]) -> None:
        self._command, self._on_probe = command, on_probe
        self._status: Literal["ok", "stale", "error"] = "ok"
        self._detail: str | None = "starting"
        self._message_at: int | None = None
        self.pid: int | None = None
        self._child: asyncio.subprocess.Process | None = None

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
        silent = self._message_at is not None and time.time() - self._message_at / 1e6 > _SILENT_S
        return WatchState("stale" if silent else self._status, self._message_at, self._detail)

    async def run(self) -> None:
        """Keep one child alive."""
        delay = _FIRST_DELAY_S
        while True:
            started = time.monotonic()
            ended = await self._ended()
            if time.monotonic() - started > _STEADY_S:
                delay = _FIRST_DELAY_S
            self._status, self._detail = "error", f"{ended}; starts again in {delay:.0f} s"
            _log.warning("the watcher %s", self._detail)
            await asyncio.sleep(delay)
            delay = min(2 * delay, _LONGEST_DELAY_S)

    async def _ended(self) -> str:
        """Run one child to its end and say how it was. When its messages cannot be taken in, a new child tells all."""
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
        try:
            await self._read(child)
            return await child.wait()
        finally:
            self.pid = self._child = None
            await _end(child)

    async def _read(self, child: asyncio.subprocess.Process) -> None:
        if child.stdout is None:
            return
        while line := await child.stdout.readline():
            try:
                probed = watch.decode(line)
            except msgspec.MsgspecError as error:
                _log.warning("the watcher said something else: %s", error)
                continue
            await self._on_probe(probed)
            self._message_at = probed.at
            if probed.last:
                self._status = "stale" if probed.troubles else "ok"
                self._detail = "; ".join(f"{t.source}: {t.detail}" for t in probed.troubles[:3]) or None


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
