"""Seconds and bytes that a rewrite takes, with bounds.

Binpack rewrites took 4.2 s + 45 s a GB on two cores (Spark 4.1 with Iceberg 1.11). The bounds of seconds are a factor
of three on either side, until runs of one's own narrow them.

Bytes: each Parquet file has a footer, page indexes and a schema, which took 220 bytes + 190 bytes a column in files
with 4 and 24 columns; merging files keeps one of many. What remains, the pages, was measured on 28 rewrites and checked
on others (`tests/adapters/iceberg/planning/test_real_rewrites.py`): pages of a few hundred bytes compress much better
together, those of small files differ by their dictionaries, and above 1 MiB a column little changes.

A rewrite of an Iceberg table of format v3 also stores the id of each row and the sequence number of its last change
(apache/iceberg #13555), which files that were only appended do not hold: 1.1 to 1.9 bytes a row with zstd, 1.5 with
gzip, 4.0 with snappy, measured on 24 rewrites. Files that were rewritten before hold them already.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from limnograph.domain.advice.document import Estimate
from limnograph.domain.advice.survey import GroupPlan

CORES = 2
STARTUP_SECONDS, SECONDS_PER_GB = 4.2, 45.0
SPREAD = 3.0
GB = 2**30
FOOTER_BYTES, FOOTER_BYTES_A_COLUMN = 220, 190
_LEAST_PAGES = 0.05
"""Share of a file that is pages at least, where the footer seems to be larger than the file."""


class PageRatio(NamedTuple):
    """Bytes of pages after a rewrite / before, for files with less than `below` bytes a column."""

    below: float
    low: float
    mid: float
    high: float


PAGES = (
    PageRatio(200, 0.05, 0.3, 1.1),
    PageRatio(400, 0.4, 0.85, 1.3),
    PageRatio(1_000, 0.55, 0.88, 1.3),
    PageRatio(100_000, 0.8, 1.0, 1.35),
    PageRatio(2**20, 0.85, 1.0, 1.3),
    PageRatio(float("inf"), 0.92, 1.0, 1.06),
)


class RowIdBytes(NamedTuple):
    """Bytes a row that ids of rows take in the files of a rewrite, beyond those of the files before."""

    low: float = 0.0
    mid: float = 0.0
    high: float = 0.0


ROW_IDS: Mapping[str, RowIdBytes] = {
    "zstd": RowIdBytes(mid=1.1, high=2.2),
    "gzip": RowIdBytes(mid=1.5, high=2.0),
    "snappy": RowIdBytes(mid=4.0, high=4.5),
    "lz4": RowIdBytes(mid=4.0, high=4.5),
    "uncompressed": RowIdBytes(mid=8.0, high=8.5),
}
"""By compression of the table's Parquet files."""
ANY_CODEC = RowIdBytes(mid=1.5, high=8.5)
_LINEAGE_COLUMNS = 2


class FileLayout(NamedTuple):
    """Files of a table. `columns`: primitive ones, those of structs counted apart; 0: unknown. `row_ids`: None: a
    rewrite stores none.
    """

    columns: int
    row_ids: RowIdBytes | None = None


def rewrite_seconds(bytes_in: int) -> Estimate:
    """Duration of a rewrite with CORES cores."""
    mid = STARTUP_SECONDS + SECONDS_PER_GB * bytes_in / GB
    return Estimate(low=mid / SPREAD, mid=mid, high=mid * SPREAD)


def bytes_out_bounds(plan: GroupPlan, layout: FileLayout) -> Estimate:
    """Bytes that a rewrite leaves: those of the rows that are not deleted, and of their ids."""
    columns, row_ids = layout.columns, layout.row_ids
    kept = 1.0 if not plan.rows else 1 - min(1.0, plan.deleted / plan.rows)
    own = FOOTER_BYTES + FOOTER_BYTES_A_COLUMN * columns if columns else 0
    pages = max(plan.bytes - plan.files * own, _LEAST_PAGES * plan.bytes)
    a_column = pages / max(plan.files, 1) / max(columns, 1)
    ratio = next(each for each in PAGES if a_column < each.below)
    fixed = plan.outputs * own if kept else 0
    low, mid, high = (fixed + pages * kept * each for each in ratio[1:])
    if row_ids is not None:
        rows, footers = plan.rows * kept, plan.outputs * _LINEAGE_COLUMNS * FOOTER_BYTES_A_COLUMN
        low, mid, high = (
            low + rows * row_ids.low,
            mid + rows * row_ids.mid + footers,
            high + rows * row_ids.high + footers,
        )
    return Estimate(low=low, mid=mid, high=high)


def total(estimates: list[Estimate]) -> Estimate:
    """The sum, as if all were off in the same direction."""
    return Estimate(
        low=sum(each.low for each in estimates),
        mid=sum(each.mid for each in estimates),
        high=sum(each.high for each in estimates),
    )
