"""Finished responses of an application, which a server can send without creating a task."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

Header = tuple[bytes, bytes]
FinishedAnswer = tuple[int, list[Header], bytes]
"""Status, headers and body; the headers are shared and must not be changed."""


@runtime_checkable
class FastPath(Protocol):
    """Implemented by an ASGI application in addition to its ASGI interface."""

    def finished_answer(self, scope: Any) -> FinishedAnswer | None:
        """The response to a request, from any thread and without blocking; None: call the application."""
        ...
