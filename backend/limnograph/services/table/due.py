"""How a page asks the parser for a table: its newest known metadata file, as a request without snapshots."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable

from limnograph.domain.errors import SourceError
from limnograph.domain.ids import TableName
from limnograph.domain.metadata.due import DueTable
from limnograph.domain.time import Micros
from limnograph.ports.query_engine import MetaQuery, QueryEngine
from limnograph.services.lake.history import History

Located = Iterable[tuple[int, str | None]]
"""Instants and metadata files."""


def newest_location(history: History, more: Located = ()) -> str | None:
    """The newest known metadata file: of the last commit, or of a later change such as an expiry. `more`: changes that
    are not in memory.
    """
    seen = history.table.seen
    known = [(seen.located_at, seen.location), *((each.at, each.metadata_location) for each in history.changes), *more]
    return max(((at, location) for at, location in known if location), default=(0, None))[1]


def located(engine: QueryEngine, history: History) -> str | None:
    """The same with changes that are not in memory. Blocks."""
    more: Located = ()
    if history.uuid:
        columns, start = ("at", "metadata_location"), Micros(max(history.table.seen.located_at, 0))
        query = MetaQuery(table="changes", columns=columns, table_uuids=(history.uuid,), start=start)
        with contextlib.suppress(SourceError):
            more = [*engine.select(query).select(columns).iter_rows()]
    return newest_location(history, more)


def due_of(name: TableName, history: History, location: str) -> DueTable:
    """A request for the table at a metadata file."""
    return DueTable(
        catalog=name.catalog,
        namespace=name.namespace,
        table=name.table,
        table_uuid=history.uuid,
        metadata_location=location,
        snapshot_ids=[],
        format=(history.head.format if history.head else None) or "iceberg",
    )
