"""Who waits for an answer can stop waiting: the engine then cancels the query upstream.

A context variable carries it, so that what lies between (services that load, unite, draw) need not know of it; a
thread that `asyncio.to_thread` starts inherits it.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from contextvars import ContextVar


class Stop:
    """Set once, from any thread. What is registered is called at once when it is set already."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls: list[Callable[[], None]] = []
        self._set = False

    @property
    def is_set(self) -> bool:
        """Whether the query was cancelled."""
        return self._set

    def set(self) -> None:
        """Nobody waits any more."""
        with self._lock:
            self._set, calls = True, self._calls
            self._calls = []
        for call in calls:
            call()

    @contextlib.contextmanager
    def calling(self, call: Callable[[], None]) -> Iterator[None]:
        """`call` is called (by whoever sets it, so it must not wait) when it is set during the block."""
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
"""Of the current query; None if it cannot be stopped."""
