"""Owners of tables: their property `owner`, as recorded in `changes`."""

from __future__ import annotations

import polars as pl

from limnograph.domain.time import Micros
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
        found = owners_in(self._engine)
        self._cached = head, found
        return found


def owners_in(engine: QueryEngine, until: Micros | None = None) -> dict[str, str]:
    """Owner by table uuid, as recorded before an instant. Blocks. Raises SourceError. O(recorded properties)."""
    columns = ("table_uuid", "subject", "to_value", "at")
    rows = engine.select(MetaQuery(table="changes", columns=columns, kinds=("property",), end=until))
    rows = rows.filter(pl.col("subject") == OWNER).unique("table_uuid", keep="last", maintain_order=True)
    return {uuid: owner for uuid, owner in rows.select("table_uuid", "to_value").iter_rows() if uuid and owner}
