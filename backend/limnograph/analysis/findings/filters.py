"""`filter_not_pruned`: most scans filter a column that neither partitions nor sorts the table, and so open most of its
files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from limnograph.analysis.findings.episodes import Episode
from limnograph.analysis.findings.events import Detail
from limnograph.analysis.findings.facts import Flags, Floats, Ints
from limnograph.analysis.findings.stretch import Stretch
from limnograph.domain.finding_codes import CODES
from limnograph.domain.finding_limits import DAY, FindingLimits
from limnograph.domain.time import Micros

WINDOW = 7 * DAY


class FilteredScans(NamedTuple):
    """Scans of a table whose filter columns, opened files and live files are known, in time order.

    times    microseconds
    opened   share of the live files that each scan opened
    columns  by name of a column that neither partitions nor sorts the table: which scans filter it
    """

    times: Ints
    opened: Floats
    columns: Mapping[str, Flags]


def unpruned_filters(
    scans: FilteredScans,
    known: Mapping[str, Micros],
    *,
    until: Micros,
    limits: FindingLimits,
) -> list[Episode]:
    """Episodes of a table's columns until an instant. `known`: by column, when the open finding opened. O(scans) for
    each column that was filtered often enough.
    """
    return [
        episode
        for column in sorted({*scans.columns, *known})
        for episode in _of_column(column, scans, known.get(column), until, limits)
    ]


def _of_column(
    column: str, scans: FilteredScans, known: Micros | None, until: Micros, limits: FindingLimits
) -> Iterator[Episode]:
    filtered = scans.columns.get(column)
    if filtered is None or not len(scans.times):
        if known is not None:  # the column is pruned now, or is not filtered any more
            yield _episode(column, Stretch(known, known, closed=until, truncated=True), {})
        return
    hits = filtered & (scans.opened > limits.unpruned_opened)
    counts, shares = _in_window(scans.times, hits)
    over = (counts >= limits.unpruned_scans) & (shares > limits.unpruned_share)
    under = (counts >= limits.unpruned_scans) & (shares < limits.unpruned_back)
    held = np.zeros(len(hits), np.bool_)
    if known is not None:
        held[min(int(np.searchsorted(scans.times, known)), len(hits) - 1)] = True
    opened: Stretch | None = None
    for place in np.flatnonzero(over | under | held).tolist():
        at = Micros(int(scans.times[place]))
        if opened is None and (over[place] or held[place]):
            began = known if held[place] and known is not None else at
            opened = Stretch(began, began, truncated=True)
        elif opened is not None and under[place]:
            yield _episode(column, opened._replace(closed=at), {})
            opened = None
    if opened is None:
        return
    ends = Micros(int(scans.times[-1]) + WINDOW)
    if ends <= until:
        yield _episode(column, opened._replace(closed=ends, closed_by="expired"), {})
        return
    evidence: dict[str, Detail] = {
        "share": round(float(shares[-1]), 4),
        "scans": int(counts[-1]),
        "opened_share": _typical(scans.opened, filtered),
        "threshold_share": limits.unpruned_share,
    }
    yield _episode(column, opened, evidence)


def _in_window(times: Ints, hits: Flags) -> tuple[Ints, Floats]:
    """For each scan, the scans of the week that ends with it, and the share of hits among them."""
    first = np.searchsorted(times, times - WINDOW, "right")
    sums = np.concatenate([[0], np.cumsum(hits)])
    counts = np.arange(1, len(times) + 1) - first
    return counts, (sums[1:] - sums[first]) / counts


def _typical(opened: Floats, filtered: Flags) -> float | None:
    """The median share that scans with the filter open; None if there is none."""
    return round(float(np.median(opened[filtered])), 4) if filtered.any() else None


def _episode(column: str, stretch: Stretch, evidence: dict[str, Detail]) -> Episode:
    return Episode("filter_not_pruned", column, stretch, CODES["filter_not_pruned"].severity, None, evidence)
