"""Summed reads as the API returns them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from limnograph.domain.answers.reads import Durations, EngineReads, ReaderRow, ReadNumbers, UserReads
from limnograph.domain.time import to_millis

MOST_READERS = 200
MOST_USERS = 10
Row = Mapping[str, Any]
NOTHING = ReadNumbers(
    scans=0,
    queries=0,
    planning=Durations(count=0, p50=None, p95=None, max=None),
    query=Durations(count=0, p50=None, p95=None, max=None),
    files_opened=0,
    files_skipped=0,
    live_scans=0,
    live_files_opened=0,
    live_files=0,
    skipped_share=None,
    manifests_scanned=0,
    manifests_skipped=0,
    bytes=0,
    delete_files=0,
    deletes_per_file=None,
    rows=0,
    read_bytes=0,
    bytes_per_row=None,
    last_at=None,
)


def numbers_of(row: Row) -> ReadNumbers:
    """The numbers of one row of sums."""
    return ReadNumbers(
        planning=durations(row, "planning"),
        query=durations(row, "query"),
        live_scans=row["live_scans"] or 0,
        skipped_share=skipped_share(row),
        deletes_per_file=ratio(row["delete_files"], row["files_opened"]),
        bytes_per_row=ratio(row["read_bytes"], row["rows"]),
        last_at=to_millis(row["last_at"]),
        **{name: row[name] for name in _PLAIN},
    )


_PLAIN = (
    *("scans", "queries", "files_opened", "files_skipped", "live_files_opened", "live_files"),
    *("manifests_scanned", "manifests_skipped", "bytes", "delete_files", "rows", "read_bytes"),
)


def durations(row: Row, name: str) -> Durations:
    """Planning or query times of a row of sums."""
    seconds = {end: row[f"{name}_seconds_{end}"] for end in ("p50", "p95", "max")}
    return Durations(count=row[f"{name}_count"], **seconds)


def skipped_share(row: Row) -> float | None:
    """Share of the live files that scans did not open; None if no scan's live files are known, or there were none."""
    opened = ratio(row["live_files_opened"], row["live_files"])
    return None if opened is None else max(0.0, 1 - opened)


def engines_of(sums: pl.DataFrame) -> list[EngineReads]:
    """Engines, those with most reads first."""
    return [EngineReads(engine=row["engine"], numbers=numbers_of(row)) for row in _busiest(sums)]


def readers_of(sums: pl.DataFrame) -> list[ReaderRow]:
    """Readers by engine, version and job: the MOST_READERS that read last, newest first."""
    rows = sums.sort("last_at", "engine", "engine_version", "job_name", descending=[True, False, False, False])
    return [
        ReaderRow(
            engine=row["engine"],
            engine_version=row["engine_version"],
            job=row["job_name"],
            users=[UserReads(user=each["name"], reads=each["count"]) for each in (row["users"] or ())[:MOST_USERS]],
            scans=row["scans"],
            queries=row["queries"],
            last_at=to_millis(row["last_at"]),
        )
        for row in rows.head(MOST_READERS).iter_rows(named=True)
    ]


def _busiest(sums: pl.DataFrame) -> Iterator[Row]:
    reads = (pl.col("scans") + pl.col("queries")).alias("reads")
    return sums.with_columns(reads).sort("reads", "engine", descending=[True, False]).iter_rows(named=True)


def ratio(part: float | None, whole: float | None) -> float | None:
    """A part of a whole; None if either is unknown or the whole is nothing."""
    return None if part is None or not whole else part / whole
