"""The inbox: accepted items that the pipeline has not yet turned into facts. Durable before it returns. An item is
identified by `(kind, key)`. When its row is in a meta table it is marked as committed, and deleted an hour later: a
reader with an older head of the meta table still finds it here. Items that need no row (notifications) are put as
committed ones.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from typing import Literal, NamedTuple, Protocol

import msgspec

from limnograph.domain.time import EPOCH, Micros

Kind = Literal["run", "alert", "report", "label", "notification", "pass"]
PASS_MARK: Kind = "pass"  # noqa: S105  # a mark, no word to enter
"""Marks of the pipeline's good passes. The newest stays for ever: it says how long a pipeline has been dead."""
KEEP = 3_600_000_000
"""How long a committed item stays, microseconds."""
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
        """Store all of them or none; returns how many were new. Durable when it returns. A second item with the same
        `(kind, key)` is ignored, whatever it says.
        """
        ...

    def items(self, kind: str, since: Micros = EPOCH) -> list[InboxItem]:
        """Items of a kind accepted at or after `since`, committed ones too, oldest first."""
        ...

    def waiting(self, kinds: Collection[str], limit: int) -> list[InboxItem]:
        """The oldest items of some kinds that are not committed, oldest first."""
        ...

    def backlog(self, kinds: Collection[str]) -> Backlog:
        """How much of some kinds waits."""
        ...

    def mark(self, items: Sequence[InboxItem], at: Micros) -> None:
        """Say that the items' rows stand since `at`. Items that are gone or marked already stay as they are."""
        ...

    def purge(self, before: Micros) -> int:
        """Delete items that were committed before an instant, but for the newest PASS_MARK; returns how many."""
        ...

    def newest(self, kind: str) -> Micros | None:
        """When the newest item of a kind was accepted; None when there is none."""
        ...


def item_key(*parts: object) -> str:
    """Text of a key: JSON of its parts while that is short and plain, else a hash (databases bound what they index)."""
    text = msgspec.json.encode(parts).decode()
    if len(text) <= _LONGEST_KEY and text.isascii() and text.isprintable():
        return text
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()
