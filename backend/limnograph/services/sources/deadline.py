"""The deadline of a page: all its queries of one kind, even sequential ones, end by one instant. It is a context
variable, so that no caller has to pass it on. Instants are those of the event loop's clock.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from contextvars import ContextVar


class PageDeadline:
    """Applies to one kind of queries; others are not affected. Created once per kind, in the module that queries."""

    def __init__(self, name: str) -> None:
        self._until_s: ContextVar[float | None] = ContextVar(name, default=None)

    @contextlib.contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """Queries in this block end within this time, and within that of the enclosing page."""
        token = self._until_s.set(self.end_s(seconds))
        try:
            yield
        finally:
            self._until_s.reset(token)

    def end_s(self, seconds: float) -> float:
        """When a query with its own limit of this many seconds must end, by the clock of the event loop."""
        own, page = asyncio.get_running_loop().time() + seconds, self._until_s.get()
        return own if page is None else min(own, page)

    @property
    def until_s(self) -> float | None:
        """When the page must end; None: no page is being built."""
        return self._until_s.get()
