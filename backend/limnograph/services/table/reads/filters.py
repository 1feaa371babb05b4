"""The columns that scans filter, against the table's partition spec and sort order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from limnograph.domain.answers.reads import FilterColumn
from limnograph.services.lake.history import History
from limnograph.services.lake.spec_fields import spec_columns


def filters_of(counts: Iterable[Mapping[str, Any]], known: int, history: History) -> list[FilterColumn]:
    """Filtered columns, the most frequent first. `known`: scans whose filter columns are known."""
    partitioned, sorted_by = spec_columns(history, "spec"), spec_columns(history, "sort_order")
    return [
        FilterColumn(
            column=each["name"],
            scans=each["count"],
            share=each["count"] / known,
            partitions=None if partitioned is None else each["name"].lower() in partitioned,
            sorts=None if sorted_by is None else each["name"].lower() in sorted_by,
        )
        for each in counts
        if known
    ]
