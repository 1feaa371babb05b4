"""What one table, or the tables that match, would cost after maintenance, in numbers that a reader may replace."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from limnograph.analysis.advice.money import comparison
from limnograph.domain.advice.comparison import FleetComparison, TableComparison, TableLoad
from limnograph.domain.advice.document import TableBytes
from limnograph.domain.advice.prices import Prices
from limnograph.services.advice.board import TableAdvice


def compare_table(table: TableAdvice, prices: Prices) -> TableComparison:
    """Costs of one table, now and after maintenance."""
    load = table.load
    rows = comparison(table.advised.bytes, load.live_files, load.compacted_files, load.reads_per_day, prices)
    return TableComparison(load=load, prices=prices, rows=rows)


def compare_fleet(tables: Collection[TableAdvice], prices: Prices) -> FleetComparison:
    """Costs of the sum of tables, now and after maintenance. O(tables)."""
    sizes = [each.advised.bytes for each in tables if each.advised.bytes is not None]
    size = _sum(sizes)
    opens = [opened for each in tables if (opened := _opened(each.load)) is not None]
    now, compacted = (round(sum(files)) for files in zip(*opens, strict=True)) if opens else (None, None)
    return FleetComparison(
        tables=len(tables),
        bytes_known=len(sizes),
        reads_known=len(opens),
        live_bytes=size.live if size else None,
        held_bytes=size.held if size else None,
        metadata_bytes=size.metadata if size else None,
        opened_per_day=now,
        compacted_per_day=compacted,
        prices=prices,
        # Files that all scans of a day open, opened once a day.
        rows=comparison(size, now, compacted, 1.0, prices),
    )


def _opened(load: TableLoad) -> tuple[float, float] | None:
    if load.live_files is None or load.compacted_files is None or load.reads_per_day is None:
        return None
    return load.live_files * load.reads_per_day, load.compacted_files * load.reads_per_day


def _sum(sizes: Sequence[TableBytes]) -> TableBytes | None:
    if not sizes:
        return None
    live, held, metadata = (sum(getattr(size, part) for size in sizes) for part in ("live", "held", "metadata"))
    return TableBytes(live=live, held=held, metadata=metadata, by_ref={}, by_age=[])
