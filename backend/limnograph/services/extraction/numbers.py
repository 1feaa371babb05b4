"""Columns that a Reading gives, from the deepest level that could be read."""

from __future__ import annotations

from typing import Any

from limnograph.domain.metadata.content import Reading
from limnograph.domain.metadata.table import Snapshot
from limnograph.services.extraction.entries import entries_numbers
from limnograph.services.extraction.lists import list_numbers, manifest_numbers, summary_numbers


def reading_numbers(snapshot: Snapshot, reading: Reading, base: int | None) -> dict[str, Any]:
    """Columns by name; a number that no level provides is absent. `base`: snapshot whose row `partitions` may differ
    from.
    """
    if reading.content is not None:
        lines = {} if reading.manifests is None else manifest_numbers(reading.manifests)
        return {**lines, **entries_numbers(snapshot, reading.content, base)}
    if reading.manifests is not None:
        return list_numbers(snapshot, reading.manifests)
    return summary_numbers(snapshot)
