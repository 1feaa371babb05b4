"""Rows `columns.*`: what statistics of columns cost when a table is read, and how many bytes a commit of them takes."""

from __future__ import annotations

import datetime as dt
import io
import random

import lake
import pyarrow.parquet as pq
from rows import Bench, Measure, Row, taken

from limnograph.adapters.meta.schema import arrow_table
from limnograph.domain.facts.column_stats import ColumnStat, ColumnStatsFact
from limnograph.domain.facts.meta_tables import COLUMN_STATS

FILES = 1_000_000
MOST = 1.3
"""Times the cost of an extraction without statistics of columns."""
MOST_BYTES = 2048
COMMITS = 1_440
NEW_TABLES = 20


def extraction(bench: Bench) -> list[Row]:
    """A million files, read once without a cache, with and without statistics of all their columns."""
    found, files = [], FILES if bench.full else FILES // 10
    for columns in (20, 50):
        location = lake.wide_table(bench.scratch / f"columns-{columns}", files, columns=columns)
        without, having = taken("full_columns", location, "no"), taken("full_columns", location, "yes")
        if (without.value, having.value) != (0, columns):
            raise SystemExit(f"{having.value} of {columns} columns have bounds")
        times = having.cpu_s / without.cpu_s
        note = f"limit: {MOST} x without ({without.cpu_s:.2f} s); {times:.2f} x; {files:,} files; CPU, best run"
        found.append(Row(f"columns.time_{columns}_of_1m", having.cpu_s, MOST * without.cpu_s, "s", 1, note))
        more = having.peak_mb - without.peak_mb
        note = f"limit: without; {more:+.0f} MB; peak resident"
        found.append(Row(f"columns.memory_{columns}_of_1m", having.peak_mb, without.peak_mb, "MB", 0.9, note))
    return found


def size(_bench: Bench) -> list[Row]:
    """Bytes of a commit of 50 columns in a compacted day, of tables that commit once a minute; 90th percentile over
    tables.
    """
    sizes = sorted(_bytes_a_commit(seed) for seed in range(NEW_TABLES))
    note = f"limit of the goal; {COMMITS} commits of 50 columns in one file, zstd; p90 of {NEW_TABLES} tables"
    return [Row("columns.bytes_a_commit", sizes[int(0.9 * NEW_TABLES)], MOST_BYTES, "B", 1, note)]


def _bytes_a_commit(seed: int) -> float:
    rng = random.Random(seed)  # noqa: S311 - the same tables every time
    facts = [_commit(rng, number) for number in range(COMMITS)]
    target = io.BytesIO()
    pq.write_table(arrow_table(COLUMN_STATS, facts), target, compression="zstd")
    return target.tell() / COMMITS


def _commit(rng: random.Random, number: int) -> ColumnStatsFact:
    """A third each of longs that grow, doubles, and texts without bounds; all have random numbers of nulls."""
    values, begin = rng.randrange(10_000, 1_000_000), dt.datetime(2026, 11, 20, tzinfo=dt.UTC)
    stats = []
    for column in range(50):
        nulls = rng.randrange(values // 10) if column % 2 else 0
        lower = upper = None
        if column % 3 == 0:
            lower, upper = (str(number * 10**6 + rng.randrange(10**6)) for _ in range(2))
        elif column % 3 == 1:
            lower, upper = str(rng.gauss(0, 3)), str(rng.gauss(900, 30))
        kind = ("long", "double", "string")[column % 3]
        stats.append(ColumnStat(column, f"column_{column}", kind, values, nulls, None, lower, upper))
    at = round((begin.timestamp() + number * 60) * 1e6)
    return ColumnStatsFact(
        table_uuid="9c12d441-03fe-4693-9a96-a0705ddf69c1",
        snapshot_id=rng.getrandbits(62),
        committed_at=at,
        writer="etl",
        added_data_files=20,
        columns=stats,
        observed_at=at,
    )


MEASURES: dict[str, Measure] = {"columns": extraction, "columns_size": size}
