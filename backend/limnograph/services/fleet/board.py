"""The fleet in one range before any row is built: sorted names, sort keys of all rows, and the rows built so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from limnograph.domain import cursors
from limnograph.domain.answers.tables import TableRow
from limnograph.domain.errors import InvalidInput
from limnograph.domain.ids import TableName
from limnograph.domain.queries import FleetQuery
from limnograph.domain.thresholds import JobPace
from limnograph.domain.time import Millis
from limnograph.services.findings.board import FindingsBoard
from limnograph.services.fleet.growth_index import GrowthIndex
from limnograph.services.fleet.move_columns import MoveColumns
from limnograph.services.fleet.order import SortKeys, namespace_of
from limnograph.services.fleet.state_vectors import StateVectorCache, StateVectors
from limnograph.services.lake.columns import NULL, Ints
from limnograph.services.lake.lake import Lake
from limnograph.services.lake.table import HotTable

NOBODY = TableName("", "", "")
_SAME_MS = 10_000
Grown = tuple[float | None, int]


class Span(NamedTuple):
    """Range of a page and the instant `then` that differences are relative to, in epoch ms."""

    start: Millis
    end: Millis
    then: Millis

    def near(self, other: Span) -> bool:
        """Whether both begin and end within the same ten seconds."""
        return all(abs(ours - theirs) < _SAME_MS for ours, theirs in zip(self, other, strict=True))


_POSITION = (int, int, int, float, float, str, str, str)


class After(NamedTuple):
    """The start of a page: after a row, in the range of the first page, which may be a nearby one."""

    span: Span
    row: tuple[float, float, TableName]

    @classmethod
    def of(cls, question: cursors.CursorQuery, query: FleetQuery) -> After:
        """The start in a query's cursor. Raises InvalidInput that names the cursor."""
        start, end, then, *keys = cursors.decode(question, query.cursor or "", _POSITION)
        span = Span(Millis(start), Millis(end), Millis(then))
        if not span.near(Span(query.start, query.end, span.then)) or not 0 <= span.then < span.end > span.start >= 0:
            raise InvalidInput("cursor", cursors.UNKNOWN)
        name = TableName(*(str(part) for part in keys[2:]))
        # Not converted to floats: integers beyond 2**53 would change.
        first, second = (0 if isinstance(key, str) else key for key in keys[:2])
        return cls(span, (first, second, name))


class Paces(NamedTuple):
    """Paces of jobs: over the range, and since the instant of the comparison."""

    ranged: Mapping[TableName, JobPace]
    compared: Mapping[TableName, JobPace]


class FleetListing:
    """Sorted names of the tables of `lake.listed` and of the damaged ones. `of`: the lake's names; the listing is valid
    while they are the same object. `places`: the sorted index of each table, then of each damaged name.
    """

    def __init__(self, of: Mapping[TableName, str], given: Sequence[TableName]) -> None:
        self.of = of
        self.order = np.array(sorted(range(len(given)), key=given.__getitem__), np.intp)
        self.places = np.argsort(self.order)
        self.names = [given[place] for place in self.order.tolist()]
        self.folded = [str(name.plain).casefold() for name in self.names]
        self.namespaces = sorted({namespace_of(name) for name in self.names})

    def among(self, tables: NDArray[np.intp]) -> FleetListing:
        """The listing of some tables only; namespaces remain those of all tables."""
        part: FleetListing = object.__new__(FleetListing)
        part.of, part.namespaces = self.of, self.namespaces
        places = self.places[tables]
        part.order = np.argsort(places)
        part.places = np.argsort(part.order)
        part.names = [self.names[place] for place in places[part.order].tolist()]
        part.folded = [self.folded[place] for place in places[part.order].tolist()]
        return part


def taken(slots: Ints, places: NDArray[np.intp]) -> Ints:
    """The slots of some rows; -1: a name without a table."""
    if not len(slots):
        return np.full(len(places), -1)
    return np.where(places < 0, -1, slots[places])


class Vectors:
    """Columns of the tables of successive lakes. Guarded by `columns.lock`, in all parts; a slot is an index into these
    columns only.
    """

    def __init__(self) -> None:
        self.columns = MoveColumns()
        self.standings, self.growth = StateVectorCache(self.columns), GrowthIndex(self.columns)


class FleetBoard:
    """The fleet in one range.

    `keys`: sort keys of all rows, by name
    `rows`: their tables in the same order; None: a damaged name
    `made`: rows built so far
    `grown`: share and seconds of the growth that its rows have; share None: any; None: growth is not evaluated
    `table_keys`: `key_of` the table of each row
    `slots`: of its rows; -1: a name without a table
    `vectors`: the columns that its slots belong to
    `findings`: by which it is sorted, without `hidden`, the ids of acknowledged ones

    Guarded by the lock of the FleetService that built it: `made` and the lazy parts of `keys` are filled under it.
    """

    def __init__(
        self,
        lake: Lake,
        span: Span,
        keys: SortKeys,
        rows: Sequence[HotTable | None],
        listing: FleetListing,
        *,
        paces: Paces,
        vectors: Vectors,
        slots: Ints,
        findings: FindingsBoard,
        table_keys: Sequence[str],
        hidden: frozenset[str] = frozenset(),
        grown: Grown | None = None,
    ) -> None:
        self.lake, self.keys, self.rows, self.slots, self.grown = lake, keys, rows, slots, grown
        self.findings, self.hidden, self.table_keys = findings, hidden, table_keys
        self.vectors = vectors
        self.span, self.paces = span, paces
        self.folded, self.namespaces = listing.folded, listing.namespaces
        self.made: dict[int, TableRow] = {}

    def answers(
        self,
        lake: Lake,
        span: Span,
        paces: Paces,
        grown: Grown | None,
        *,
        findings: FindingsBoard,
        hidden: frozenset[str] = frozenset(),
    ) -> bool:
        """Whether its rows match a range and a growth filter, which is computed for exactly that range."""
        near = span == self.span if grown is not None else self.span.near(span)
        same = self.findings is findings or self.findings.standing == findings.standing
        same = same and (self.hidden is hidden or self.hidden == hidden)
        return self.lake is lake and near and same and self.grown == grown and self.paces == paces


def with_unknown_tables(standing: StateVectors, more: int, order: NDArray[np.intp]) -> StateVectors:
    """States with unknown values for `more` names appended to the tables, reordered."""
    count = len(standing.moved)
    values = np.full((count + more, standing.values.shape[1]), NULL)
    values[:count] = standing.values
    ends = (np.append(part, np.full(more, fill))[order] for part, fill in _ends(standing))
    moved, ordinal, following, usual = ends
    return StateVectors(values[order], moved, ordinal, following, usual)


def _ends(standing: StateVectors) -> list[tuple[NDArray[np.generic], float]]:
    return [(standing.moved, NULL), (standing.ordinal, 0), (standing.next_move, NULL), (standing.usual, np.nan)]
