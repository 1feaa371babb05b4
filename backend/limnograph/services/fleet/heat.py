"""The fleet over time: for each table and part of a range, the number of commits, the change in data files, and the
number of alerts. Risk is computed in `risk.py`.

Uses memory only, as far as histories reach: two binary searches per table and part, and each table's received alerts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from limnograph.domain.answers.tables import FleetHeatRow, ReasonCode
from limnograph.domain.ids import TableName
from limnograph.domain.time import MICROS_PER_SECOND, Micros
from limnograph.services.alerts.episode import AlertEpisode
from limnograph.services.alerts.registry import AlertRegistry
from limnograph.services.fleet.move_columns import MoveColumns
from limnograph.services.lake.columns import NULL, Ints
from limnograph.services.lake.table import HotTable

PARTS = 48
"""Parts of a range at most, but for the ones that its ends cut off."""
_MINUTE, _DAY = 60 * MICROS_PER_SECOND, 86_400 * MICROS_PER_SECOND
_WIDTHS = [n * _MINUTE for n in (1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720)]
"""Widths of a part below a day, each a part of one."""


class HeatCounts(NamedTuple):
    """Counts per table (row) and part (column); NULL where unknown."""

    commits: Ints
    files: Ints

    @property
    def unread(self) -> Ints:
        """The first unknown part of each table; the number of parts if all are known."""
        known: Ints = (self.commits != NULL).sum(axis=1)
        return known


def edges(start: Micros, end: Micros) -> Ints:
    """The starts of the parts of a range, and the end of the last one (epoch microseconds), on the clock: they stay
    where they are while the range moves on. The first and the last part may reach beyond it.
    """
    least = -(-(end - start) // PARTS)
    width = next((width for width in _WIDTHS if width >= least), -(-least // _DAY) * _DAY)
    first, last = start // width, -(-end // width)
    return np.arange(first, max(last, first + 1) + 1, dtype=np.int64) * width


def count(
    columns: MoveColumns,
    tables: Sequence[HotTable | None],
    slots: Ints,
    between: Ints,
    known_to: Sequence[Micros | None],
) -> HeatCounts:
    """Counts per table and part, given the edges of the parts. Parts that begin after the instant until which a table
    is known (microseconds) are unknown; a name without a table has no counts.
    """
    there = np.flatnonzero(slots >= 0)
    commits, files = np.full((2, len(slots), len(between) - 1), NULL)
    with columns.lock:
        columns.hold([table for table in tables if table is not None], slots[there])
        commits[there] = columns.counts_between(slots[there], between)
        held = columns.files_at(slots[there], between - 1)
    before, after = held[:, :-1], held[:, 1:]
    files[there] = np.where((before == NULL) | (after == NULL), NULL, after - before)
    until = np.array([between[-1] if at is None else at for at in known_to], np.int64)
    unread = between[:-1] >= until[:, None]
    commits[unread] = files[unread] = NULL
    return HeatCounts(commits, files)


def rows(
    names: Sequence[TableName],
    counted: HeatCounts,
    risks: Sequence[list[ReasonCode | None]],
    alerts: AlertRegistry | None,
    between: Ints,
) -> list[FleetHeatRow]:
    """Rows in the page's format."""
    told = alerts is not None and alerts.version(None) > 0
    return [
        FleetHeatRow(
            **name.plain._asdict(),
            commits=_known(commits),
            data_files=_known(files),
            alerts=fired(alerts.episodes(name), between) if alerts is not None and told else None,
            risk=risk,
        )
        for name, commits, files, risk in zip(names, *counted, risks, strict=True)
    ]


def _known(cells: Ints) -> list[int | None]:
    return [None if cell == NULL else cell for cell in cells.tolist()]


def fired(episodes: Sequence[AlertEpisode], between: Ints) -> list[int]:
    """The number of alerts that fired at any time during each part."""
    found = np.zeros(len(between) - 1, np.int64)
    for episode in episodes:
        start, end = episode.fact.starts_at, episode.known_to
        touched = between[1:] > start
        if end is not None:
            touched &= between[:-1] < max(end, start + 1)
        found += touched
    return [int(each) for each in found]
