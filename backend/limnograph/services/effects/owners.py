"""Owners of tables: their property `owner`, as recorded in `changes`."""

from __future__ import annotations

import polars as pl

from limnograph.ports.query_engine import MetaHead, MetaQuery, QueryEngine
from limnograph.services.lake.store import HotStore

OWNER = "owner"


class TableOwners:
    """Read again when the meta tables changed. Thread-safe: the cached pair is replaced whole."""

    def __init__(self, store: HotStore, engine: QueryEngine) -> None:
        self._store, self._engine = store, engine
        self._cached: tuple[MetaHead | None, dict[str, str]] = None, {}

    def by_table(self) -> dict[str, str]:
        """Owner by table uuid, of tables that have one. Blocks. Raises SourceError. O(recorded properties)."""
        head = self._store.reading.head
        if self._cached[0] == head:
            return self._cached[1]
        rows = self._engine.select(
            MetaQuery(table="changes", columns=("table_uuid", "subject", "to_value", "at"), kinds=("property",))
        )
        rows = rows.filter(pl.col("subject") == OWNER).unique("table_uuid", keep="last", maintain_order=True)
        found = {uuid: owner for uuid, owner in rows.select("table_uuid", "to_value").iter_rows() if uuid and owner}
        self._cached = head, found
        return found
