"""The comparison of what tables cost now with what they would cost after maintenance, and what it is computed from."""

from __future__ import annotations

from typing import Literal

import msgspec

from limnograph.domain.advice.document import MonthlyCost
from limnograph.domain.advice.prices import Prices
from limnograph.domain.answers.view import View

Situation = Literal["now", "expired", "compacted", "expired_and_compacted"]


class ComparedCost(msgspec.Struct, frozen=True, kw_only=True):
    """Cost of a month in one situation.

    situation     now; all held bytes freed; small files compacted; both
    per_gb_month  total cost of one live GB (2^30 bytes) for a month; null: unknown, or no live bytes
    """

    situation: Situation
    cost: MonthlyCost
    per_gb_month: float | None


class TableLoad(msgspec.Struct, frozen=True, kw_only=True):
    """Files that a scan of a table may open, and scans; null: unknown.

    live_files       live data files
    compacted_files  those that a compaction of all partitions with small files would leave
    reads_per_day    scans per day, as engines report them
    """

    live_files: int | None = None
    compacted_files: int | None = None
    reads_per_day: float | None = None


class TableComparison(View, frozen=True, kw_only=True):
    """What one table costs per month in each situation. Bytes are those of the advice. `rows` are computed with
    `prices` and `load`, which a reader may replace (docs/cost.md has the formula).
    """

    load: TableLoad
    prices: Prices
    rows: list[ComparedCost]


class FleetComparison(View, frozen=True, kw_only=True):
    """The same for the sum of tables. Tables without a known number are left out of its sum; null: known of no table.

    tables                    evaluated tables that match
    bytes_known, reads_known  of how many of them bytes, and files and scans, are known
    opened_per_day            files that the scans of a day open, if each opens all live files
    compacted_per_day         the same after a compaction
    """

    tables: int
    bytes_known: int
    reads_known: int
    live_bytes: int | None
    held_bytes: int | None
    metadata_bytes: int | None
    opened_per_day: int | None
    compacted_per_day: int | None
    prices: Prices
    rows: list[ComparedCost]
