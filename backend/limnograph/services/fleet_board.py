"""The fleet in one range before any row is made: names in order, sort keys of all rows, and the rows made so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from limnograph.domain.answers import TableRow
from limnograph.domain.ids import TableName
from limnograph.services.fleet_order import Keys, namespace_of
from limnograph.services.hot_columns import NULL
from limnograph.services.hot_table import HotTable
from limnograph.services.lake import Lake
from limnograph.services.reasons import JobPace
from limnograph.services.standings import Standing

NOBODY = TableName("", "", "")
_SAME_MS = 10_000


class Listing:
    """Names of the tables of `lake.listed` and of the damaged ones in their order; `of`: the lake's names, while which
    are the same object it holds. `places`: where tables and then damaged names stand.
    """

    def __init__(self, of: Mapping[TableName, str], given: Sequence[TableName]) -> None:
        self.of = of
        self.order = np.array(sorted(range(len(given)), key=given.__getitem__), np.intp)
        self.places = np.argsort(self.order)
        self.names = [given[place] for place in self.order.tolist()]
        self.folded = [str(name).casefold() for name in self.names]
        self.namespaces = sorted({namespace_of(name) for name in self.names})


class Board:
    """The fleet in one range: keys of all rows by name, `rows` (None: a damaged name), and those made so far."""

    def __init__(
        self, lake: Lake, span: tuple[int, int], keys: Keys, rows: Sequence[HotTable | None], listing: Listing
    ) -> None:
        self.lake, self.keys, self.rows, self.places = lake, keys, rows, listing.places
        self.start, self.end = span
        self.folded, self.namespaces = listing.folded, listing.namespaces
        self.made: dict[int, TableRow] = {}

    def answers(self, lake: Lake, start: int, end: int, paces: Mapping[TableName, JobPace]) -> bool:
        """Whether its rows are those of a range."""
        near = abs(self.start - start) < _SAME_MS and abs(self.end - end) < _SAME_MS
        return self.lake is lake and near and self.keys.paces == paces


def and_nothing(standing: Standing, more: int, order: NDArray[np.intp]) -> Standing:
    """With names of which nothing is known behind the tables, all put in another order."""
    count = len(standing.moved)
    values = np.full((count + more, standing.values.shape[1]), NULL)
    values[:count] = standing.values
    ends = (np.append(part, np.full(more, fill))[order] for part, fill in _ends(standing))
    moved, ordinal, following, usual = ends
    return Standing(values[order], moved, ordinal, following, usual)


def _ends(standing: Standing) -> list[tuple[NDArray[np.generic], float]]:
    return [(standing.moved, NULL), (standing.ordinal, 0), (standing.next_move, NULL), (standing.usual, np.nan)]
