"""Maintenance operations of the lake: commits of operation `replace` on main, and expiries of snapshots, whoever made
them. Instants are epoch microseconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from limnograph.domain.ids import TableName
from limnograph.domain.time import Micros
from limnograph.ports.query_engine import MetaQuery, QueryEngine
from limnograph.services.lake.expired import EXPIRED

REPLACE = "replace"
EXPIRE_SNAPSHOTS = "expire_snapshots"
EXPIRED_PREFIX = "expired:"
"""Of the operation id of an expiry; the location of the first metadata file without the snapshots follows."""
_REPLACE_COLUMNS = (
    *("table_uuid", "catalog", "namespace", "table", "format", "snapshot_id", "committed_at", "observed_at", "on_main"),
    *("engine", "app_id", "app_name", "added_data_files", "removed_data_files"),
    *("added_delete_files", "removed_delete_files"),
)
LATE = 3_600_000_000
"""A pass may append rows that it observed this long ago, in microseconds."""
_EXPIRED_COLUMNS = (
    *("table_uuid", "catalog", "namespace", "table", "at", "not_before", "to_value", "metadata_location"),
    "observed_at",
)


class Operation(NamedTuple):
    """One operation on one table. `started_at`: its earliest possible start, as far as known; `snapshot_id`: of a
    commit, None for an expiry.
    """

    table_uuid: str
    name: TableName
    operation_id: str
    snapshot_id: int | None
    action: str | None
    writer: str | None
    started_at: Micros | None
    committed_at: Micros


class OperationLog:
    """Reads operations from the meta tables. Thread-safe for one caller at a time."""

    def __init__(self, engine: QueryEngine) -> None:
        self._engine = engine
        self._observed: Micros | None = None

    def new(self, since: Micros) -> list[Operation]:
        """Operations committed at `since` or later that were observed since the last call, newest first; those of the
        last hour are returned again. Blocks. Raises SourceError. Costs O(new rows), the first call O(all rows).
        """
        replaced = self._engine.select(
            MetaQuery(
                table="snapshots",
                columns=_REPLACE_COLUMNS,
                operations=(REPLACE,),
                start=since,
                observed_from=self._observed,
            )
        )
        expired = self._engine.select(
            MetaQuery(
                table="changes",
                columns=_EXPIRED_COLUMNS,
                kinds=(EXPIRED,),
                start=since,
                observed_from=self._observed,
            )
        )
        observed = [*replaced["observed_at"].drop_nulls(), *expired["observed_at"].drop_nulls()]
        if observed:
            self._observed = max(observed) - LATE
        found = [_replace(row) for row in replaced.iter_rows(named=True) if row["on_main"] is not False]
        found += [_expiry(row) for row in expired.iter_rows(named=True)]
        return sorted(found, key=lambda each: -each.committed_at)


def _replace(row: Mapping[str, Any]) -> Operation:
    return Operation(
        table_uuid=row["table_uuid"],
        name=_name(row),
        operation_id=str(row["snapshot_id"]),
        snapshot_id=row["snapshot_id"],
        action=action_of(row),
        writer=row["app_name"] or row["app_id"] or row["engine"],
        started_at=None,
        committed_at=row["committed_at"],
    )


def _expiry(row: Mapping[str, Any]) -> Operation:
    return Operation(
        table_uuid=row["table_uuid"],
        name=_name(row),
        operation_id=f"{EXPIRED_PREFIX}{row['metadata_location']}",
        snapshot_id=None,
        action=EXPIRE_SNAPSHOTS,
        writer=None,
        started_at=row["not_before"],
        committed_at=row["at"],
    )


def _name(row: Mapping[str, Any]) -> TableName:
    return TableName(row["catalog"] or "", row["namespace"] or "", row["table"] or "")


def action_of(row: Mapping[str, Any]) -> str | None:
    """The maintenance action that a `replace` shows by the files that it exchanged; None if it shows none. Delta and
    Hudi exchange data files only by their own procedures.
    """
    if row["format"] == "delta":
        return "optimize"
    if row["format"] != "iceberg":
        return None
    data, deletes = ([row[f"{verb}_{kind}_files"] for verb in ("added", "removed")] for kind in ("data", "delete"))
    if any(data):
        return "rewrite_data_files"
    if any(deletes):
        return "rewrite_position_delete_files"
    return "rewrite_manifests" if None not in data + deletes else None
