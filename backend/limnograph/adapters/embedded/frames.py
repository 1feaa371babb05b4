"""Meta tables as polars frames: data types from the schema, the filter of a MetaQuery, facts to frames."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import polars as pl

from limnograph.domain.facts.columns import Column, ListOf, MapOf, Primitive, Type
from limnograph.domain.facts.meta_tables import (
    ALERTS,
    CHANGES,
    COLUMN_DAYS,
    COLUMN_STATS,
    DAILY,
    EFFECTS,
    FINDINGS,
    FORECASTS,
    HOURLY,
    LABELS,
    NOTES,
    PLANS,
    READS_HOURLY,
    REPORTS,
    RUNS,
    SNAPSHOTS,
    MetaTable,
)
from limnograph.ports.query_engine import MetaQuery

TABLES: dict[str, MetaTable] = {
    table.name: table
    for table in (
        SNAPSHOTS,
        CHANGES,
        RUNS,
        ALERTS,
        REPORTS,
        LABELS,
        EFFECTS,
        FINDINGS,
        NOTES,
        PLANS,
        HOURLY,
        DAILY,
        READS_HOURLY,
        COLUMN_STATS,
        COLUMN_DAYS,
        FORECASTS,
    )
}
TIME_COLUMN = {
    **dict.fromkeys(TABLES, "at"),
    "snapshots": "committed_at",
    "alerts": "starts_at",
    "effects": "committed_at",
    "snapshots_hourly": "hour",
    "snapshots_daily": "day",
    "reads_hourly": "hour",
    "column_stats": "committed_at",
    "column_stats_daily": "day",
    "forecasts": "as_of",
}
OBSERVED = {"snapshots", "changes", "column_stats"}
TIE = {name: table.key for name, table in TABLES.items()} | {
    "snapshots": ("sequence_number", "snapshot_id"),
    "changes": ("table_uuid", "kind"),
}

_PRIMITIVES: dict[str, pl.DataType] = {
    "string": pl.String(),
    "boolean": pl.Boolean(),
    "int": pl.Int32(),
    "long": pl.Int64(),
    "double": pl.Float64(),
    "timestamptz": pl.Int64(),
}


def data_type(kind: Type) -> pl.DataType:
    """Polars' type of a column; instants are Int64 microseconds, maps are lists of key and value."""
    if isinstance(kind, Primitive):
        return _PRIMITIVES[kind.name]
    if isinstance(kind, ListOf):
        return pl.List(data_type(kind.element))
    if isinstance(kind, MapOf):
        return pl.List(pl.Struct({"key": data_type(kind.key), "value": data_type(kind.value)}))
    return pl.Struct({column.name: data_type(column.type) for column in kind.fields})


def chosen(query: MetaQuery) -> tuple[Column, ...]:
    """Columns of the result, in the requested order."""
    columns = TABLES[query.table].columns
    if not query.columns:
        return columns
    by_name = {column.name: column for column in columns}
    return tuple(by_name[name] for name in query.columns)


def schema_of(columns: Sequence[Column]) -> dict[str, pl.DataType]:
    """Polars schema of columns."""
    return {column.name: data_type(column.type) for column in columns}


def needed(query: MetaQuery) -> tuple[Column, ...]:
    """Columns to read: those to return, filter by and sort by."""
    wanted = {column.name for column in chosen(query)} | {"table_uuid", TIME_COLUMN[query.table], *TIE[query.table]}
    if query.observed_from is not None:
        wanted.add("observed_at")
    if query.kinds:
        wanted.add("kind")
    if query.operations:
        wanted.add("operation")
    return tuple(column for column in TABLES[query.table].columns if column.name in wanted)


def answer(rows: pl.LazyFrame, query: MetaQuery, *, in_order: bool = True) -> pl.DataFrame:
    """Filter, sort (if requested) and project; `rows` has at least the `needed` columns in the meta table's types."""
    at = pl.col(TIME_COLUMN[query.table])
    if query.table_uuids:
        rows = rows.filter(pl.col("table_uuid").is_in(list(query.table_uuids)))
    if query.snapshot_ids and query.table == "snapshots":
        rows = rows.filter(pl.col("snapshot_id").is_in(list(query.snapshot_ids)))
    if query.kinds and query.table == "changes":
        rows = rows.filter(pl.col("kind").is_in(list(query.kinds)))
    if query.operations and query.table == "snapshots":
        rows = rows.filter(pl.col("operation").is_in(list(query.operations)))
    if query.observed_from is not None and query.table in OBSERVED:
        rows = rows.filter(pl.col("observed_at") >= query.observed_from)
    if query.start is not None:
        rows = rows.filter(at >= query.start)
    if query.end is not None:
        rows = rows.filter(at < query.end)
    if in_order:
        rows = rows.sort(at, *TIE[query.table], nulls_last=False)
    if query.limit is not None:
        rows = rows.head(query.limit)
    return rows.select([column.name for column in chosen(query)]).collect()


def empty(query: MetaQuery) -> pl.DataFrame:
    """No rows, with the requested columns."""
    return pl.DataFrame(schema=schema_of(chosen(query)))


def frame(table: str, facts: Sequence[msgspec.Struct]) -> pl.DataFrame:
    """Facts as a frame of all columns of their table."""
    columns = TABLES[table].columns
    data = {column.name: [_value(column.type, getattr(fact, column.name)) for fact in facts] for column in columns}
    return pl.DataFrame(data, schema=schema_of(columns))


def _value(kind: Type, value: object) -> object:
    if isinstance(kind, MapOf) and isinstance(value, dict):
        return [{"key": key, "value": item} for key, item in value.items()]
    return msgspec.to_builtins(value)
