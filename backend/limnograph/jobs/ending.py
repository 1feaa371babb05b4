"""Ends the server within ten seconds of a signal, whatever hangs: the event loop, a request, a thread, a child.

A separate thread receives the signals, so that neither a busy event loop nor a blocking call delays them, and ends the
process if draining takes too long. That loses nothing: accepted items are on disk before the response, and children end
with their parent.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import Any, NoReturn

from litestar.types import ASGIApp, Receive, Scope, Send

from limnograph.ports.fast_path import FastPath, FinishedAnswer

SIGNALS = (signal.SIGTERM, signal.SIGINT)
GRACE_S = 5.0
"""How long requests in flight may continue after the signal."""
LONGEST_S = 9.0
"""Maximum time from the signal to the end of the process; the contract is 10 s."""
_log = logging.getLogger("limnograph.server")


def leave(code: int = 0) -> NoReturn:
    """End this process without waiting for threads, which may hang. State is written before each response."""
    logging.shutdown()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def leave_on_signals() -> None:
    """Until `Signals` takes over, end the process on a signal, with exit code 0. Without a handler, the first process
    of a container ignores SIGTERM.
    """
    for number in SIGNALS:
        signal.signal(number, lambda *_: leave())


class Signals:
    """Handles SIGTERM and SIGINT inside its block, which must run in the main thread. The first signal calls `heard`
    from another thread, and `late` follows unless the block ends in time. Later signals are ignored.
    """

    def __init__(
        self, heard: Callable[[], None], late: Callable[[], None] = leave, longest_s: float = LONGEST_S
    ) -> None:
        self._heard, self._late, self._longest_s = heard, late, longest_s
        self._read, self._write = socket.socketpair()
        self._over = threading.Event()

    def __enter__(self) -> None:
        self._write.setblocking(False)
        self._before = {number: signal.signal(number, lambda *_: None) for number in SIGNALS}
        self._fd_before = signal.set_wakeup_fd(self._write.fileno(), warn_on_full_buffer=False)
        threading.Thread(target=self._listen, name="signals", daemon=True).start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        signal.set_wakeup_fd(self._fd_before)
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._write.close()

    def _listen(self) -> None:
        """Wait for a signal, which arrives as a byte with its number; the socket closes when the block ends."""
        with self._read:
            while byte := self._read.recv(1):
                if byte[0] in SIGNALS:
                    break
            else:
                return
        self._heard()
        if not self._over.wait(self._longest_s):
            _log.warning("tasks were still running %.0f s after the signal and were cancelled", self._longest_s)
            self._late()


class DrainableApp:
    """An application whose requests in flight can be awaited, and then cancelled."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._fast_path = app if isinstance(app, FastPath) else None
        self._running: set[asyncio.Task[Any]] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        task = asyncio.current_task()
        if str(scope["type"]) != "http" or task is None:
            await self._app(scope, receive, send)
            return
        self._running.add(task)
        try:
            await self._app(scope, receive, send)
        finally:
            self._running.discard(task)

    def finished_answer(self, scope: Any) -> FinishedAnswer | None:
        """The application's immediate response, if it has one."""
        return self._fast_path.finished_answer(scope) if self._fast_path else None

    async def end(self, within_s: float = GRACE_S) -> None:
        """Return once no request is running. Requests that are still running after `within_s` seconds are cancelled;
        `api/front/layer.py` then responds with 503.
        """
        if self._running:
            await asyncio.wait(set(self._running), timeout=within_s)
        for task in set(self._running):
            task.cancel()


def run(main: Coroutine[Any, Any, None], leaving: Callable[[], NoReturn] = leave) -> NoReturn:
    """Run a program's coroutine, then end the process without waiting for threads that hang in a source. Exceptions
    propagate.
    """

    async def whole() -> NoReturn:
        await main
        leaving()

    asyncio.run(whole())
    raise AssertionError("unreachable")
