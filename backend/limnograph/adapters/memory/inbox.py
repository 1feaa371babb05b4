"""Inbox in memory: gone with the process, otherwise the same contract."""

from __future__ import annotations

from limnograph.ports.inbox import InboxItem


class MemoryInbox:
    """Keyed by `(kind, key)`; `failure` is raised by every call."""

    def __init__(self) -> None:
        self._items: dict[tuple[str, str], InboxItem] = {}
        self.failure: Exception | None = None

    def put(self, items: list[InboxItem]) -> int:
        """Store what is new; returns how many."""
        if self.failure is not None:
            raise self.failure
        before = len(self._items)
        for item in items:
            self._items.setdefault((item.kind, item.key), item)
        return len(self._items) - before

    def items(self, kind: str, since: int = 0) -> list[InboxItem]:
        """Oldest first."""
        if self.failure is not None:
            raise self.failure
        found = [item for item in self._items.values() if item.kind == kind and item.accepted_at >= since]
        return sorted(found, key=lambda item: (item.accepted_at, item.key))
