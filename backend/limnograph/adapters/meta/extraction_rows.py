"""Rows of an extraction: those of `snapshots` with one more column, which becomes rows of `column_stats`."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from limnograph.adapters.meta.schema import arrow_schema, arrow_table
from limnograph.domain.facts.meta_tables import COLUMN_STATS, SNAPSHOTS, SnapshotFact

_STATS = "column_stats"
_TYPE = arrow_schema(COLUMN_STATS).field("columns").type
EXTRACTED = pa.schema([*arrow_schema(SNAPSHOTS), pa.field(_STATS, _TYPE)])


def extracted_table(facts: Sequence[SnapshotFact]) -> pa.Table:
    """Facts as rows of EXTRACTED."""
    stats = pa.array([msgspec.to_builtins(fact.column_stats) for fact in facts], _TYPE)
    return arrow_table(SNAPSHOTS, facts).append_column(EXTRACTED.field(_STATS), stats)


def snapshot_rows(extracted: pa.Table) -> pa.Table:
    """The rows of `snapshots`."""
    return extracted.drop_columns([_STATS]).cast(arrow_schema(SNAPSHOTS))


def column_rows(extracted: pa.Table) -> pa.Table:
    """The rows of `column_stats`: of snapshots that added files whose statistics are known."""
    rows = extracted.filter(pc.is_valid(extracted.column(_STATS)))
    named = (pc.if_else(pc.equal(rows.column(name), ""), None, rows.column(name)) for name in _WRITERS)
    columns = {**{name: rows.column(name) for name in _SAME}, "columns": rows.column(_STATS)}
    columns["writer"] = pc.coalesce(*named)
    schema = arrow_schema(COLUMN_STATS)
    return pa.table([columns[name] for name in schema.names], names=schema.names).cast(schema)


_WRITERS = ("app_name", "app_id", "engine")
_SAME = tuple(column.name for column in COLUMN_STATS.columns if column.name not in {"writer", "columns"})
