"""Reads as functions: reports of scans and queries in, one row of sums and distributions per key out; rows of hours in,
rows of any coarser key out. Pure: no I/O and no clock.

Unknown numbers are null, and a sum over nothing is 0. Percentiles of reports are exact; those of rows come from their
histograms and are off by at most a bin, 19 %.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from limnograph.domain.facts.events import ReportFact
from limnograph.domain.facts.meta_tables import READS_HOURLY
from limnograph.domain.facts.reads import SECONDS_EDGES
from limnograph.services.rollups.fold import HOUR, Stamp, known_sum

KEY = READS_HOURLY.key
NAMES = ("catalog", "namespace", "table")
OF_SCANS = {
    "files_opened": "result_data_files",
    "files_skipped": "skipped_data_files",
    "manifests_scanned": "scanned_data_manifests",
    "manifests_skipped": "skipped_data_manifests",
    "bytes": "total_file_bytes",
    "delete_files": "result_delete_files",
}
"""Sum -> column of `reports`."""
_TEXTS = (
    *("event_id", "kind", *NAMES, "operation", "engine", "engine_version", "user", "job_name"),
    *("application_id", "source"),
)
REPORT_TYPES: Mapping[str, pl.DataType | type[pl.DataType]] = {
    **dict.fromkeys(_TEXTS, pl.String),
    **dict.fromkeys(("at", "snapshot_id", *OF_SCANS.values(), "rows", "read_bytes"), pl.Int64),
    **dict.fromkeys(("duration_seconds", "wall_seconds"), pl.Float64),
    "filter_columns": pl.List(pl.String),
}
REPORT_COLUMNS = tuple(REPORT_TYPES)
"""Columns of `reports` that reads are computed from."""
MOST_NAMES = 50
_PRECEDENCE = {"spark": 0, "openlineage": 1, "iceberg-rest": 2, "iceberg-report": 2}
"""Sources by how much their reports of one scan say."""
_SUMS = (*OF_SCANS, "live_scans", "live_files_opened", "live_files", "filters_known")
_ALL = "all"
_EDGES = np.array(SECONDS_EDGES)
_SECONDS = {"planning": "duration_seconds", "query": "wall_seconds"}
_SCAN, _QUERY = pl.col("kind") == "scan", pl.col("kind") == "query"


def report_rows(
    facts: Iterable[ReportFact], types: Mapping[str, pl.DataType | type[pl.DataType]] = REPORT_TYPES
) -> pl.DataFrame:
    """Reports as rows of these columns."""
    rows = [[getattr(fact, name) for name in types] for fact in facts]
    return pl.DataFrame(rows, schema=dict(types), orient="row")


def reads_of(reports: pl.DataFrame) -> pl.DataFrame:
    """The scans and the reading queries among reports, each once. A query that writes has an operation."""
    read = _SCAN | (_QUERY & pl.col("operation").is_null())
    return reports.filter(read & pl.col("at").is_not_null()).unique("event_id", keep="first", maintain_order=True)


def roll_reads(reads: pl.DataFrame, stamp: Stamp) -> pl.DataFrame:
    """Rows of `reads_hourly` from the reads (`reads_of`) of whole hours, with the columns `table_uuid`, which is not
    null, and `live_files`: live data files of the snapshot that was read.
    """
    hourly = reads.with_columns((pl.col("at") // HOUR * HOUR).alias("hour"))
    rows = sum_reads(hourly, KEY).with_columns(
        pl.lit(value, pl.Int64).alias(name) for name, value in stamp._asdict().items()
    )
    return rows.select(column.name for column in READS_HOURLY.columns).sort(KEY)


def from_one_source(reads: pl.DataFrame) -> pl.DataFrame:
    """Without the reads that another source reports, too: of an application's scans, and of its queries, of one table
    in one hour, those of the source with precedence. Two sources give one scan two ids. Reads without an application
    are kept.
    """
    rank = pl.col("source").replace_strict(_PRECEDENCE, default=3, return_dtype=pl.Int64)
    best = rank.min().over("table_uuid", "kind", "application_id", pl.col("at") // HOUR)
    return reads.filter(pl.col("application_id").is_null() | (rank == best))


def sum_reads(reads: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """One row per key with the numbers of `reads_hourly`; without a key one row, or none. Takes what `roll_reads`
    takes, and the columns of the key.
    """
    by = list(keys) or [_ALL]
    ordered = from_one_source(reads).sort("at", "event_id").with_columns(pl.lit(0).alias(_ALL))
    ordered = ordered.with_columns(_bins(ordered[column]).alias(f"{name}_bin") for name, column in _SECONDS.items())
    grouped = ordered.group_by(by, maintain_order=True).agg(*_columns())
    for name in _SECONDS:
        counts = [_histogram(bins) for bins in grouped[f"{name}_bin"].to_list()]
        grouped = grouped.with_columns(pl.Series(f"{name}_histogram", counts, pl.List(pl.Int64)))
    filters = ordered.filter(_SCAN).explode("filter_columns")
    read = ordered.filter(pl.col("snapshot_id").is_not_null())
    kinds = (_SCAN.cast(pl.Int64).alias("scans"), _QUERY.cast(pl.Int64).alias("queries"))
    parts = (
        ("users", _counted(ordered.rename({"user": "name"}), by)),
        ("filter_columns", _counted(filters.drop("user").rename({"filter_columns": "name"}).unique(
            ["event_id", "name"], maintain_order=True), by)),
        ("snapshots", _snapshots(read.select(*by, "snapshot_id", *kinds, "at"), by)),
    )  # fmt: skip
    return _with(grouped, parts, by)


def merge_reads(rows: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """Rows of `reads_hourly` added up by a coarser key."""
    by = list(keys) or [_ALL]
    ordered = rows.sort("hour", *KEY[2:]).with_columns(pl.lit(0).alias(_ALL))
    scanned, queried = pl.col("scans") > 0, pl.col("queries") > 0
    grouped = ordered.group_by(by, maintain_order=True).agg(
        *(pl.col(name).sum() for name in ("scans", "queries", "planning_count", "query_count")),
        *(known_sum(pl.col(name).filter(scanned)).alias(name) for name in _SUMS),
        *(known_sum(pl.col(name).filter(queried)).alias(name) for name in ("rows", "read_bytes")),
        *(pl.col(f"{name}_seconds_sum").sum() for name in _SECONDS),
        *(pl.col(f"{name}_seconds_max").max() for name in _SECONDS),
        *(pl.col(f"{name}_histogram") for name in _SECONDS),
        *(pl.col(name).last() for name in NAMES if name not in by),
        pl.col("last_at").max(),
    )
    for name in _SECONDS:
        counts = [_added(lists) for lists in grouped[f"{name}_histogram"].to_list()]
        most = grouped[f"{name}_seconds_max"].to_list()
        grouped = grouped.with_columns(
            pl.Series(f"{name}_histogram", counts, pl.List(pl.Int64)),
            *(
                pl.Series(f"{name}_seconds_p{share}", _quantiles(counts, most, share / 100), pl.Float64)
                for share in (50, 95)
            ),
        )
    parts = [
        (name, _recounted(ordered.select(*by, pl.col(name).alias("item")), by)) for name in ("users", "filter_columns")
    ]
    items = ordered.select(*by, pl.col("snapshots").alias("item")).explode("item").drop_nulls("item")
    read = items.unnest("item").rename({"last_at": "at"})
    return _with(grouped, [*parts, ("snapshots", _snapshots(read, by))], by)


def quantile(counts: Sequence[int], most: float | None, share: float) -> float | None:
    """A quantile of a histogram of durations, seconds: between the edges of its bin in proportion, at most `most`."""
    total = sum(counts)
    if not total:
        return None
    below, rank = 0, share * total
    for place, count in enumerate(counts):
        if count and below + count >= rank:
            low = 0.0 if place == 0 else SECONDS_EDGES[place - 1]
            high = SECONDS_EDGES[place] if place < len(SECONDS_EDGES) else most or low
            value = low + (high - low) * (rank - below) / count
            return value if most is None else min(value, most)
        below += count
    return most


def _columns() -> list[pl.Expr]:
    live = _SCAN & pl.col("live_files").is_not_null() & pl.col("result_data_files").is_not_null()
    told = _QUERY & pl.col("rows").is_not_null() & pl.col("read_bytes").is_not_null()
    found = [
        _SCAN.sum().cast(pl.Int64).alias("scans"),
        _QUERY.sum().cast(pl.Int64).alias("queries"),
        *(known_sum(pl.col(column).filter(_SCAN)).alias(name) for name, column in OF_SCANS.items()),
        live.sum().cast(pl.Int64).alias("live_scans"),
        *(
            pl.when(live.any() | ~_SCAN.any()).then(pl.col(column).filter(live).sum()).alias(name)
            for name, column in (("live_files_opened", "result_data_files"), ("live_files", "live_files"))
        ),
        *(
            pl.when(told.any() | ~_QUERY.any()).then(pl.col(name).filter(told).sum()).alias(name)
            for name in ("rows", "read_bytes")
        ),
        (_SCAN & pl.col("filter_columns").is_not_null()).sum().cast(pl.Int64).alias("filters_known"),
        *(pl.col(name).last() for name in NAMES),
        pl.col("at").max().alias("last_at"),
    ]
    for name, (column, mine) in {"planning": ("duration_seconds", _SCAN), "query": ("wall_seconds", _QUERY)}.items():
        seconds = pl.col(column).filter(mine).drop_nulls()
        found += [
            seconds.len().cast(pl.Int64).alias(f"{name}_count"),
            seconds.sum().alias(f"{name}_seconds_sum"),
            *(seconds.quantile(share / 100, "linear").alias(f"{name}_seconds_p{share}") for share in (50, 95)),
            seconds.max().alias(f"{name}_seconds_max"),
            pl.col(f"{name}_bin").filter(mine).drop_nulls(),
        ]
    return found


def _bins(seconds: pl.Series) -> pl.Series:
    """The bin of each duration; null where it is unknown."""
    found = np.searchsorted(_EDGES, seconds.fill_null(0.0).to_numpy(), side="right")
    return pl.Series(found, dtype=pl.Int64).zip_with(seconds.is_not_null(), pl.Series([None], dtype=pl.Int64))


def _histogram(bins: list[int]) -> list[int] | None:
    return np.bincount(bins, minlength=len(_EDGES) + 1).tolist() if bins else None


def _added(lists: Sequence[Sequence[int] | None]) -> list[int] | None:
    known = [counts for counts in lists if counts is not None]
    return np.sum(np.array(known), axis=0).tolist() if known else None


def _quantiles(
    counts: Sequence[Sequence[int] | None], most: Sequence[float | None], share: float
) -> list[float | None]:
    return [None if found is None else quantile(found, top, share) for found, top in zip(counts, most, strict=True)]


def _recounted(items: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    rows = items.explode("item").drop_nulls("item").unnest("item")
    return _top(rows.group_by(*by, "name").agg(pl.col("count").sum()), ("count", "name"), by)


def _counted(rows: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    named = rows.select(*by, "name").drop_nulls("name")
    return _top(named.group_by(*by, "name").agg(pl.len().cast(pl.Int64).alias("count")),
                ("count", "name"), by)  # fmt: skip


def _snapshots(rows: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    by_id = rows.group_by(*by, "snapshot_id").agg(pl.col("scans", "queries").sum(), pl.col("at").max().alias("last_at"))
    return _top(by_id, ("last_at", "snapshot_id"), by, ("snapshot_id", "scans", "queries", "last_at"))


def _top(
    rows: pl.DataFrame, order: tuple[str, str], by: list[str], fields: tuple[str, ...] = ("name", "count")
) -> pl.DataFrame:
    """A list per key, `items`: at most MOST_NAMES, those with most first."""
    ranked = rows.sort(order, descending=[True, False])
    return ranked.group_by(by, maintain_order=True).agg(pl.struct(fields).head(MOST_NAMES).alias("items"))


def _with(grouped: pl.DataFrame, parts: Any, by: list[str]) -> pl.DataFrame:
    for name, lists in parts:
        grouped = grouped.join(
            lists.rename({"items": name}), on=by, how="left", nulls_equal=True, maintain_order="left"
        )
    return grouped
