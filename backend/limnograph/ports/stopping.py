"""Cancellation: a caller can stop waiting for a response, and the engine then cancels the query upstream.

A context variable carries the signal, so that the layers in between (services that load, combine, draw) do not handle
it; a thread started by `asyncio.to_thread` inherits it.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from contextvars import ContextVar


class Stop:
    """A signal that is set once, from any thread. Callbacks registered after that are called immediately."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls: list[Callable[[], None]] = []
        self._set = False

    @property
    def is_set(self) -> bool:
        """Whether the query was cancelled."""
        return self._set

    def set(self) -> None:
        """The caller no longer waits."""
        with self._lock:
            self._set, calls = True, self._calls
            self._calls = []
        for call in calls:
            call()

    @contextlib.contextmanager
    def calling(self, call: Callable[[], None]) -> Iterator[None]:
        """During the block, setting the signal calls `call` in the setting thread, so `call` must not block."""
        with self._lock:
            already = self._set
            if not already:
                self._calls.append(call)
        if already:
            call()
        try:
            yield
        finally:
            with self._lock, contextlib.suppress(ValueError):
                self._calls.remove(call)


STOP: ContextVar[Stop | None] = ContextVar("STOP", default=None)
"""The signal of the current query; None if it cannot be cancelled."""
