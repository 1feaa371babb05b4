"""Merges a durable row with the watcher's row of the same commit, and caches the watcher's latest rows whole."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable

import msgspec

from limnograph.domain.facts.meta_tables import SnapshotFact

_KEPT = 1_000


def completed(durable: SnapshotFact, provisional: SnapshotFact) -> SnapshotFact:
    """The durable row, with the watcher's values where it has none."""
    missing = {
        name: value
        for name in durable.__struct_fields__
        if getattr(durable, name) is None and (value := getattr(provisional, name)) is not None
    }
    return msgspec.structs.replace(durable, **missing) if missing else durable


class WholeRows:
    """The latest rows of the watcher with every column; the index keeps only a few columns. Guarded by the lock of the
    HotStore for writing; reading is a single look-up.
    """

    def __init__(self) -> None:
        self._rows: OrderedDict[tuple[str, int], SnapshotFact] = OrderedDict()

    def keep(self, facts: Iterable[SnapshotFact]) -> None:
        """Add rows and evict the oldest."""
        for fact in facts:
            self._rows[fact.table_uuid, fact.snapshot_id] = fact
        while len(self._rows) > _KEPT:
            self._rows.popitem(last=False)

    def of(self, table_uuid: str, snapshot_id: int) -> SnapshotFact | None:
        """The row of a commit; None if it is not among the latest."""
        return self._rows.get((table_uuid, snapshot_id))
