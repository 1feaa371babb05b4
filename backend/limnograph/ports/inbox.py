"""The inbox: what the server accepted and the pipeline has not yet made a fact. Durable before it answers."""

from __future__ import annotations

from typing import Protocol

import msgspec


class InboxItem(msgspec.Struct, frozen=True):
    """One accepted message. `key` makes repeats harmless; `payload` is JSON; `accepted_at` epoch microseconds."""

    kind: str
    key: str
    payload: bytes
    accepted_at: int


class Inbox(Protocol):
    """`put` is durable when it returns. A second item with the same `(kind, key)` is ignored."""

    def put(self, items: list[InboxItem]) -> int:
        """Store items; returns how many were new. Raises SourceError."""
        ...

    def items(self, kind: str, since: int = 0) -> list[InboxItem]:
        """Items of a kind accepted at or after `since`, oldest first."""
        ...
