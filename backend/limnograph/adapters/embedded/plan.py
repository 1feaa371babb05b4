"""Which data files of a meta snapshot a query reads: PyIceberg prunes by partitions and statistics."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

from limnograph.adapters.embedded import frames
from limnograph.ports.query_engine import MetaQuery

if TYPE_CHECKING:
    from pyiceberg.expressions import BooleanExpression
    from pyiceberg.table import FileScanTask, Table
    from pyiceberg.table.snapshots import Snapshot

_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


def planned(table: Table, query: MetaQuery, snapshot: Snapshot | None) -> list[FileScanTask]:
    """Files that may contain rows for the query.

    PyIceberg's own scan also opens manifests without live entries: after a compaction they list all replaced files.
    """
    from pyiceberg.table import ManifestGroupPlanner

    alive = [
        manifest
        for manifest in (snapshot.manifests(table.io) if snapshot else ())
        if manifest.has_added_files() or manifest.has_existing_files()
    ]
    return list(ManifestGroupPlanner(table.metadata, table.io, _expression(query)).plan_files(alive))


def _expression(query: MetaQuery) -> BooleanExpression:
    """The filter that PyIceberg prunes files by; polars filters the rows again. Built from values, never from text."""
    from pyiceberg import expressions

    ex: Any = expressions  # pydantic's mypy plugin does not know these constructors
    found = ex.AlwaysTrue()
    at = frames.TIME_COLUMN[query.table]
    if query.start is not None:
        found = ex.And(found, ex.GreaterThanOrEqual(at, _iso(query.start)))
    if query.end is not None:
        found = ex.And(found, ex.LessThan(at, _iso(query.end)))
    if query.observed_from is not None and query.table in frames.OBSERVED:
        found = ex.And(found, ex.GreaterThanOrEqual("observed_at", _iso(query.observed_from)))
    if query.table_uuids:
        found = ex.And(found, ex.In("table_uuid", query.table_uuids))
    if len(query.snapshot_ids) == 1:
        found = ex.And(found, ex.EqualTo("snapshot_id", query.snapshot_ids[0]))
    return found  # type: ignore[no-any-return]


def _iso(micros: int) -> str:
    return (_EPOCH + dt.timedelta(microseconds=micros)).isoformat(timespec="microseconds")
