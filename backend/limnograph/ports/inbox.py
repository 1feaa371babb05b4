"""The inbox: accepted items that the pipeline has not yet turned into facts.

An item is identified by `(kind, key)`, and is durable when it is accepted. When its row is in a meta table, it is
marked as committed, and deleted an hour later: a reader with an older head of the meta table still finds it here. Items
that need no row (notifications) are stored as committed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from typing import Literal, NamedTuple, Protocol

import msgspec

from limnograph.domain.time import EPOCH, Micros

Kind = Literal["run", "alert", "report", "label", "effect", "finding", "note", "plan", "notification", "pass"]
PASS_MARK: Kind = "pass"  # noqa: S105  # not a password
"""Records of the pipeline's successful passes. The latest is never deleted: it shows how long a pipeline is down."""
KEEP = 3_600_000_000
"""Retention of a committed item, microseconds."""
_LONGEST_KEY = 200


class InboxItem(msgspec.Struct, frozen=True):
    """One accepted message. `key` makes repeats harmless; `payload` is JSON; instants are epoch microseconds."""

    kind: str
    key: str
    payload: bytes
    accepted_at: Micros
    committed_at: Micros | None = None


class Backlog(NamedTuple):
    """Items that are not committed. `oldest`: when the oldest of them was accepted; None: there are none."""

    items: int
    oldest: Micros | None


class Inbox(Protocol):
    """Thread-safe, and shared by processes. All methods raise SourceError."""

    def put(self, items: Sequence[InboxItem]) -> int:
        """Store all of them or none; returns the number of new ones. Durable when it returns. A second item with the
        same `(kind, key)` is ignored, whatever its payload.
        """
        ...

    def items(self, kind: str, since: Micros = EPOCH) -> list[InboxItem]:
        """Items of a kind accepted at or after `since`, including committed ones, oldest first."""
        ...

    def waiting(self, kinds: Collection[str], limit: int) -> list[InboxItem]:
        """The oldest uncommitted items of these kinds, oldest first."""
        ...

    def backlog(self, kinds: Collection[str]) -> Backlog:
        """Uncommitted items of these kinds."""
        ...

    def mark(self, items: Sequence[InboxItem], at: Micros) -> None:
        """Mark the items as committed at `at`. Items that are gone or already marked are unchanged."""
        ...

    def purge(self, before: Micros) -> int:
        """Delete items committed before an instant, except the latest PASS_MARK; returns their number."""
        ...

    def newest(self, kind: str) -> Micros | None:
        """When the latest item of a kind was accepted; None if there is none."""
        ...


def item_key(*parts: object) -> str:
    """Text of a key: JSON of its parts if short and plain, else a hash (databases limit indexed text)."""
    text = msgspec.json.encode(parts).decode()
    if len(text) <= _LONGEST_KEY and text.isascii() and text.isprintable():
        return text
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()
