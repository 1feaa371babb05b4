"""A pool for a program that parses rarely: one child, started by the first request and closed when it has been idle."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import msgspec

from limnograph.adapters.sandbox.messages import Question, StorageAccess
from limnograph.adapters.sandbox.pool import Pool
from limnograph.adapters.sandbox.starting import ignore_progress

IDLE_S = 300.0
"""Seconds after the last response at which the child is closed."""


class IdlePool(Pool):
    """Thread-safe: requests of several threads are answered one after the other."""

    def __init__(self, command: Sequence[str] = (), idle_s: float = IDLE_S) -> None:
        super().__init__(command, size=1)
        self._idle_s, self._timing = idle_s, threading.Lock()
        self._timer: threading.Timer | None = None

    def ask(
        self,
        access: StorageAccess,
        question: Question,
        seconds: float,
        starting: Callable[[str], None] = ignore_progress,
    ) -> list[msgspec.Raw]:
        try:
            return super().ask(access, question, seconds, starting)
        finally:
            self._restart()

    def close(self) -> None:
        """Close the idle child; the next request starts another one."""
        with self._timing:
            if self._timer is not None:
                self._timer.cancel()
        super().close()

    def _restart(self) -> None:
        with self._timing:
            if self._timer is not None:
                self._timer.cancel()
            self._timer = threading.Timer(self._idle_s, super().close)
            self._timer.daemon = True
            self._timer.start()
