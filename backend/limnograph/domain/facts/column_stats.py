"""Statistics of columns: rows of the meta tables `column_stats` (per commit) and `column_stats_daily`.

Part of the single description: `meta_tables.py` defines the meta tables from it. Field ids are literals because they
are permanent. Numbers describe the data files that commits added, not the whole table.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from limnograph.domain.facts.columns import INT, LONG, STRING, TIMESTAMPTZ, Col, ListOf, StructOf, columns_of
from limnograph.domain.time import Micros

RAW_DAYS = 7
"""Rows of commits of this many whole days, and of today, are kept; those before only as days."""
DAYS_KEPT = 400
"""Days for which one row a day is kept."""
COLUMNS_A_TABLE = 50
"""Most columns of a table that have statistics."""


class ColumnStat(msgspec.Struct, frozen=True):
    """Statistics of one column; element of `columns`. A number is null unless every added file states it."""

    id: Annotated[int, Col(30, INT, "field id of the column")]
    name: Annotated[str, Col(31, STRING, "name of the column, levels of structs joined with `.`")]
    type: Annotated[str | None, Col(32, STRING, "type of the column, with the names of the Iceberg spec")] = None
    values: Annotated[int | None, Col(33, LONG, "values in the added files, nulls and NaN included")] = None
    nulls: Annotated[int | None, Col(34, LONG, "nulls among them")] = None
    nans: Annotated[int | None, Col(35, LONG, "NaN among them")] = None
    lower: Annotated[
        str | None, Col(36, STRING, "least lower bound; only of numbers, dates and times, and of columns set by name")
    ] = None
    upper: Annotated[str | None, Col(37, STRING, "greatest upper bound, as `lower`")] = None
    ndv: Annotated[
        int | None, Col(38, LONG, "distinct values, estimated by the newest statistics file that the metadata lists")
    ] = None


class ColumnStatsFact(msgspec.Struct, frozen=True, kw_only=True):
    """Statistics of the columns of the data files that one commit added; at most one row a minute and table."""

    table_uuid: Annotated[str, Col(1, STRING, "identity of the table's history", True)]
    snapshot_id: Annotated[int, Col(2, LONG, "snapshot that added the files", True)]
    committed_at: Annotated[Micros | None, Col(3, TIMESTAMPTZ, "commit time recorded in the table")] = None
    writer: Annotated[str | None, Col(4, STRING, "application name, else its id, else the engine")] = None
    added_data_files: Annotated[int | None, Col(5, LONG, "data files that the numbers describe")] = None
    columns: Annotated[
        list[ColumnStat] | None,
        Col(6, ListOf(7, StructOf(columns_of(ColumnStat))), "columns of which the added files state anything"),
    ] = None
    observed_at: Annotated[Micros | None, Col(8, TIMESTAMPTZ, "when the row was extracted")] = None
    run_id: Annotated[str | None, Col(9, STRING, "pipeline run that wrote the row")] = None
    extractor_version: Annotated[str | None, Col(10, STRING, "version of the program that extracted it")] = None


class ColumnDaysFact(msgspec.Struct, frozen=True, kw_only=True):
    """Statistics of the columns of the data files that the commits of one day added, of which rows were kept."""

    table_uuid: Annotated[str, Col(1, STRING, "identity of the table's history", True)]
    day: Annotated[Micros, Col(2, TIMESTAMPTZ, "start of the day, UTC", True)]
    commits: Annotated[int | None, Col(3, LONG, "rows of `column_stats` that it is built from")] = None
    columns: Annotated[
        list[ColumnStat] | None, Col(6, ListOf(7, StructOf(columns_of(ColumnStat))), "as in `column_stats`")
    ] = None
    source_sequence: Annotated[int | None, Col(8, LONG, "head of `column_stats` that the row was made from")] = None
    changes_sequence: Annotated[int | None, Col(9, LONG, "always 0: changes have no part in it")] = None
    rolled_at: Annotated[Micros | None, Col(10, TIMESTAMPTZ, "when the row was made")] = None
