"""Roll-ups as functions: raw rows and main's moves in, one row per table and hour out; hours in, days out.

Pure: no I/O and no clock. Unknown numbers are null, and a sum over nothing is 0. States follow the log of main, so that
a rollback is represented correctly; the snapshot before a span is not part of it.
"""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

from limnograph.domain.facts.columns import DOUBLE, STRING, Column
from limnograph.domain.facts.housekeeping import BY_REPLACE, DELTAS, OPERATIONS, STATES
from limnograph.domain.facts.meta_tables import DAILY, HOURLY, MetaTable
from limnograph.domain.time import MICROS_PER_SECOND, Micros

HOUR, DAY = 3_600 * MICROS_PER_SECOND, 86_400 * MICROS_PER_SECOND
NAMES = ("catalog", "namespace", "table", "format")
ROW_COLUMNS = (
    "table_uuid",
    "snapshot_id",
    "committed_at",
    "operation",
    "changed_partitions",
    *NAMES,
    *DELTAS,
    *STATES,
)
"""Columns of `snapshots` that roll-ups are computed from."""
MOVE_COLUMNS = ("table_uuid", "at", "place", "snapshot_id")
"""Moves of main: instant, order among the moves of a table, and the snapshot that main points at afterwards."""

_NAMED = pl.col("catalog").is_not_null() | pl.col("table").is_not_null()


def _polars_type(column: Column) -> pl.DataType:
    """Instants are integers here."""
    if column.type is STRING:
        return pl.String()
    return pl.Float64() if column.type is DOUBLE else pl.Int64()


KINDS = {column.name: _polars_type(column) for table in (HOURLY, DAILY) for column in table.columns}
"""Types of the columns of both roll-ups."""


class Stamp(NamedTuple):
    """The source of a roll-up: sequence numbers of the heads of `snapshots` and `changes`, and when it was made."""

    source_sequence: int
    changes_sequence: int
    rolled_at: Micros


def roll_hours(rows: pl.DataFrame, moves: pl.DataFrame, pointed: pl.DataFrame, stamp: Stamp) -> pl.DataFrame:
    """Rows of `snapshots_hourly`, with one row per key in each input.

    `rows`: all rows (ROW_COLUMNS) committed in the requested hours
    `moves`: all moves of main (MOVE_COLUMNS) in them
    `pointed`: rows (ROW_COLUMNS) of the snapshots that the moves point at, if known
    """
    key = ["table_uuid", "hour"]
    commits = rows.filter(pl.col("committed_at").is_not_null()).with_columns(_floor("committed_at", HOUR, "hour"))
    commits = commits.sort("table_uuid", "committed_at", "snapshot_id").group_by(key).agg(*_commit_columns())
    walked = moves.with_columns(_floor("at", HOUR, "hour")).join(
        pointed.select("table_uuid", "snapshot_id", *NAMES, *STATES, _NAMED.alias("known")),
        on=["table_uuid", "snapshot_id"],
        how="left",
    )
    walked = walked.sort("table_uuid", "at", "place").group_by(key).agg(*_walk_columns())
    both = commits.join(walked, on=key, how="full", coalesce=True).with_columns(
        pl.coalesce(name, f"{name}_pointed").alias(name) for name in NAMES
    )
    counted = ("commits", "unknown_commits", "main_moves", "other_operations", *OPERATIONS.values())
    both = both.with_columns(pl.col(name).fill_null(0) for name in counted)
    nothing = pl.col("commits") == 0
    sums = ("changed_partitions", *DELTAS, *BY_REPLACE)
    both = both.with_columns(pl.when(nothing).then(0).otherwise(name).alias(name) for name in sums)
    return _shaped(HOURLY, both, stamp)


def fold_days(hours: pl.DataFrame, stamp: Stamp) -> pl.DataFrame:
    """Rows of `snapshots_daily` from all hours of those days: the same as from the raw rows."""
    ordered = hours.sort("table_uuid", "hour").with_columns(_floor("hour", DAY, "day"))
    moved, committed = pl.col("main_moves") > 0, pl.col("commits") > 0
    counts = ("commits", "unknown_commits", "main_moves", "other_operations", *OPERATIONS.values())
    states = [
        found.alias(f"{name}_{end}")
        for name in STATES
        for end, found in (
            ("first", pl.col(f"{name}_first").filter(moved).first()),
            ("last", pl.col(f"{name}_last").filter(moved).last()),
            ("min", pl.col(f"{name}_min").min()),
            ("max", pl.col(f"{name}_max").max()),
        )
    ]
    folded = ordered.group_by("table_uuid", "day").agg(
        *(pl.col(name).sum() for name in counts),
        *(known_sum(pl.col(name).filter(committed)).alias(name) for name in ("changed_partitions", *DELTAS)),
        *(known_sum(pl.col(name).filter(pl.col("replaces") > 0)).alias(name) for name in BY_REPLACE),
        pl.col("main_snapshot_id").filter(moved).last(),
        *states,
        *(
            pl.coalesce(pl.col(name).filter(committed).last(), pl.col(name).filter(_NAMED).last()).alias(name)
            for name in NAMES
        ),
    )
    return _shaped(DAILY, folded, stamp)


def _commit_columns() -> list[pl.Expr]:
    operation = pl.col("operation")
    own = operation.is_in(list(OPERATIONS)).fill_null(value=False)
    unknown = pl.any_horizontal(pl.col(name).is_null() for name in DELTAS)
    replace = (operation == "replace").fill_null(value=False)
    return [
        pl.len().cast(pl.Int64).alias("commits"),
        unknown.sum().cast(pl.Int64).alias("unknown_commits"),
        *((operation == name).sum().cast(pl.Int64).alias(column) for name, column in OPERATIONS.items()),
        (~own).sum().cast(pl.Int64).alias("other_operations"),
        *(known_sum(pl.col(name)).alias(name) for name in ("changed_partitions", *DELTAS)),
        *(known_sum(pl.col(name).filter(replace)).alias(f"{name}_by_replace") for name in DELTAS),
        *(pl.col(name).last() for name in NAMES),
    ]


def _walk_columns() -> list[pl.Expr]:
    ends = ("first", "last", "min", "max")
    return [
        pl.len().cast(pl.Int64).alias("main_moves"),
        pl.col("snapshot_id").last().alias("main_snapshot_id"),
        *(getattr(pl.col(name), end)().alias(f"{name}_{end}") for name in STATES for end in ends),
        *(pl.col(name).filter(pl.col("known")).last().alias(f"{name}_pointed") for name in NAMES),
    ]


def known_sum(values: pl.Expr) -> pl.Expr:
    """Sum of the known values: 0 without rows; null if no value is known or the sum exceeds 63 bits."""
    total = values.cast(pl.Int128).sum().cast(pl.Int64, strict=False)
    return pl.when((values.len() > 0) & (values.count() == 0)).then(None).otherwise(total)


def _floor(column: str, width_us: int, name: str) -> pl.Expr:
    return (pl.col(column) // width_us * width_us).alias(name)


def _shaped(table: MetaTable, rows: pl.DataFrame, stamp: Stamp) -> pl.DataFrame:
    stamped = rows.with_columns(pl.lit(value, pl.Int64).alias(name) for name, value in stamp._asdict().items())
    shaped = (pl.col(c.name).cast(KINDS[c.name]) for c in table.columns)
    return stamped.select(shaped).sort(table.key)
