"""Selects what leaves memory when the hot index exceeds its budget: old hours of the least recently viewed tables."""

from __future__ import annotations

from collections.abc import Mapping

from limnograph.domain.time import MICROS_PER_SECOND, Micros
from limnograph.services.lake.lake import Lake
from limnograph.services.lake.table import HotTable

HOUR = 3_600 * MICROS_PER_SECOND
KEPT_HOURS = (24, 12, 6, 3, 1)
"""How much of a table stays, step by step. All tables take one step before any takes the next."""
_SLACK = 0.9
"""The fraction of the budget to evict down to, so that not every commit evicts something."""


def shorten_tables(
    lake: Lake, most_bytes: int, asked: Mapping[str, Micros], now: Micros
) -> tuple[list[HotTable], dict[str, Micros]]:
    """Tables with less history, and the edges from which each is complete, so that the lake holds at most `most_bytes`.
    No tables if it is within the budget. The least recently viewed tables are shortened first, the larger ones first
    among those. O(tables).
    """
    total = lake.size[0]
    if total <= most_bytes:
        return [], dict(lake.edges)
    held = {uuid: table.nbytes for uuid, table in lake.tables.items()}
    order = sorted(held, key=lambda uuid: (asked.get(uuid, 0), -held[uuid]))
    edges, shorter = dict(lake.edges), dict[str, HotTable]()
    for hours in KEPT_HOURS:
        edge = now - hours * HOUR
        for uuid in order:
            if total <= most_bytes * _SLACK:
                return list(shorter.values()), edges
            table = shorter.get(uuid, lake.tables[uuid])
            if edges.get(uuid, lake.floor) >= edge:
                continue
            less = table.trimmed(edge)
            if less is not table:
                total += less.nbytes - held[uuid]
                held[uuid] = less.nbytes
                shorter[uuid], edges[uuid] = less, edge
    return list(shorter.values()), edges
