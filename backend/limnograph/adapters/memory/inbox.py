"""Inbox in memory: lost with the process, otherwise the same contract."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Sequence

import msgspec

from limnograph.domain.time import EPOCH, Micros
from limnograph.ports.inbox import PASS_MARK, Backlog, InboxItem


class MemoryInbox:
    """Keyed by `(kind, key)`; `failure` is raised by every call. Thread-safe: guarded by `_lock`."""

    def __init__(self) -> None:
        self._items: dict[tuple[str, str], InboxItem] = {}
        self._lock = threading.Lock()
        self.failure: Exception | None = None

    def put(self, items: Sequence[InboxItem]) -> int:
        self._check()
        with self._lock:
            before = len(self._items)
            for item in items:
                self._items.setdefault((item.kind, item.key), item)
            return len(self._items) - before

    def items(self, kind: str, since: Micros = EPOCH) -> list[InboxItem]:
        self._check()
        return _ordered(item for item in self._all() if item.kind == kind and item.accepted_at >= since)

    def waiting(self, kinds: Collection[str], limit: int) -> list[InboxItem]:
        self._check()
        return _ordered(i for i in self._all() if i.kind in kinds and i.committed_at is None)[:limit]

    def backlog(self, kinds: Collection[str]) -> Backlog:
        self._check()
        found = [i.accepted_at for i in self._all() if i.kind in kinds and i.committed_at is None]
        return Backlog(len(found), min(found, default=None))

    def mark(self, items: Sequence[InboxItem], at: Micros) -> None:
        self._check()
        with self._lock:
            for item in items:
                known = self._items.get((item.kind, item.key))
                if known is not None and known.committed_at is None:
                    self._items[item.kind, item.key] = msgspec.structs.replace(known, committed_at=at)

    def purge(self, before: Micros) -> int:
        self._check()
        newest = self.newest(PASS_MARK)
        with self._lock:
            committed = [(key, i) for key, i in self._items.items() if i.committed_at is not None]
            stays = {key for key, i in committed if i.kind == PASS_MARK and i.accepted_at == newest}
            old = [key for key, i in committed if (i.committed_at or 0) < before and key not in stays]
            for key in old:
                del self._items[key]
        return len(old)

    def newest(self, kind: str) -> Micros | None:
        self._check()
        return max((item.accepted_at for item in self._all() if item.kind == kind), default=None)

    def _all(self) -> list[InboxItem]:
        with self._lock:
            return list(self._items.values())

    def _check(self) -> None:
        if self.failure is not None:
            raise self.failure


def _ordered(items: Iterable[InboxItem]) -> list[InboxItem]:
    return sorted(items, key=lambda item: (item.accepted_at, item.kind, item.key))
