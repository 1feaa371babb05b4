"""QueryEngine over Trino's official client: few queries at once, each with a deadline, each cancelled on the server.

The snapshot to read comes from the catalog through PyIceberg (a few milliseconds, while Trino plans for a hundred), and
every query is pinned to it: Trino and the server's hot index read the same head.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Protocol

import polars as pl

from limnograph.adapters.embedded import frames
from limnograph.adapters.trino import statement, values
from limnograph.adapters.trino.asking import Coordinator, TrinoClient
from limnograph.adapters.trino.statement import Statement
from limnograph.domain.errors import SourceRejected
from limnograph.ports.query_engine import MetaHead, MetaQuery, Table

COLUMNS_KEPT_S = 60.0


class Pins(Protocol):
    """Snapshots of the meta tables, from their catalog."""

    def head(self) -> MetaHead:
        """The same as QueryEngine's."""
        ...

    def pin(self, table: Table) -> int | None:
        """Current snapshot of a table; None if the table is missing or empty. Raises SourceError."""
        ...

    def properties(self, table: Table) -> Mapping[str, str]:
        """The same as QueryEngine's."""
        ...


class TrinoEngine:
    """Reads the meta tables through one coordinator; opens no connection before the first query. Thread-safe: known
    columns are replaced as a whole.
    """

    name = "trino"

    def __init__(self, at: Coordinator, pins: Pins, now: Callable[[], float] = time.monotonic) -> None:
        self._at, self._pins, self._now = at, pins, now
        self._coordinator = TrinoClient(at, self.name, now)
        self._columns: dict[Table, tuple[float, tuple[str, ...]]] = {}

    def head(self) -> MetaHead:
        """Snapshots that `select` would read now."""
        return self._pins.head()

    def properties(self, table: Table) -> Mapping[str, str]:
        """Table properties, from the catalog."""
        return self._pins.properties(table)

    def select(self, query: MetaQuery) -> pl.DataFrame:
        """Rows of one snapshot of the table, as the port specifies."""
        deadline = self._now() + self._at.timeout_s
        snapshot = self._pins.pin(query.table)
        if snapshot is None:
            return frames.empty(query)
        present = self._present(query.table, {column.name for column in frames.needed(query)}, deadline)
        wanted = tuple(column for column in frames.needed(query) if column.name in present)
        if not wanted:
            return frames.empty(query)
        place = (self._at.catalog, self._at.schema)
        question = statement.select(query, [column.name for column in wanted], place, snapshot)
        found = self._coordinator.ask(question, deadline)
        if found is None:
            return frames.empty(query)
        return frames.answer(values.frame(found.rows, found.signatures, frames.needed(query)), query)

    def warm(self) -> None:
        """Make Trino load what the first query needs: a session, and a plan of the meta tables. Raises SourceError."""
        for table in ("snapshots", "changes"):
            self.select(MetaQuery(table=table, columns=("table_uuid",), limit=1))

    def check(self) -> str:
        """Version of the server, after it ran a query in the catalog. Raises SourceError."""
        schemas = statement.quoted(self._at.catalog) + ".information_schema.schemata"
        sql = f"SELECT version(), count(*) FROM {schemas} WHERE schema_name = ?"  # noqa: S608  # our name, quoted
        found = self._coordinator.ask(Statement(sql, [self._at.schema]), self._now() + self._at.timeout_s)
        if found is None or not found.rows:
            raise SourceRejected(self.name, "returned no rows")
        version, schemas_found = found.rows[0]
        if not schemas_found:
            raise SourceRejected(self.name, f"catalog {self._at.catalog!r} has no schema {self._at.schema!r}")
        return str(version)

    def _present(self, table: Table, wanted: set[str], deadline: float) -> set[str]:
        """Columns of the table. Queried again, at most once per minute, if one is missing."""
        known = self._columns.get(table)
        if known is None or (wanted.difference(known[1]) and self._now() - known[0] > COLUMNS_KEPT_S):
            source = statement.quoted(self._at.catalog) + ".information_schema.columns"
            sql = f"SELECT column_name FROM {source} WHERE table_schema = ? AND table_name = ?"  # noqa: S608
            found = self._coordinator.ask(Statement(sql, [self._at.schema, table]), deadline)
            names = tuple(row[0] for row in found.rows) if found else ()
            if not names:
                raise SourceRejected(
                    self.name,
                    f"its catalog {self._at.catalog!r} has no table {self._at.schema}.{table}, although the meta "
                    "catalog does; both must be the same catalog (docs/trino.md)",
                )
            known = self._columns[table] = (self._now(), names)
        return wanted.intersection(known[1])
