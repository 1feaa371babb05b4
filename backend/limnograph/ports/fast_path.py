"""Port of an application that has some of its answers finished: a server gives them without making a task of them."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

Header = tuple[bytes, bytes]
FinishedAnswer = tuple[int, list[Header], bytes]
"""Status, headers and body that leave; the headers are shared and not to be changed."""


@runtime_checkable
class FastPath(Protocol):
    """An ASGI application, beside."""

    def finished_answer(self, scope: Any) -> FinishedAnswer | None:
        """The answer to a request, in any thread and without waiting; None: call the application."""
        ...
