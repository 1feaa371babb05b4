"""The order of the fleet's rows, from vectors: filters, sort keys, and the tables of a page."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from limnograph.domain.ids import TableName
from limnograph.domain.queries import FleetQuery
from limnograph.domain.thresholds import JobPace
from limnograph.domain.time import MICROS_PER_MS
from limnograph.services.fleet.growth import NOTHING
from limnograph.services.fleet.state_vectors import StateVectors
from limnograph.services.lake.columns import NULL, Ints
from limnograph.services.reads.recent import TableReadNumbers

_VALUES = {
    "data_files": "total_data_files",
    "delete_files": "total_delete_files",
    "records": "total_records",
    "bytes": "total_bytes",
    "small_files": "small_files",
    "file_size_p50": "file_size_p50",
    "manifests": "manifests",
    "live_snapshots": "live_snapshots",
}
_SHARES = {"small_share": "small_files", "delete_share": "total_delete_files"}
"""Columns that are sorted by their number per data file."""
_FROM_ZERO = 1e18
"""Sorts growth from no file before every share."""


class SortKeys:
    """Vectors over the rows of the fleet in name order: tables, with damaged names among them.

    `ends`: their states at the start of the range, at the instant that differences are relative to, and at the end;
      looked up when a column is sorted
    `paces`: paces of jobs since the second of these instants
    `reads`: a number of recent reads, NaN where unknown; looked up when sorted by
    `shares`: greatest growth of each table within the requested time, NOTHING if it did not grow; looked up when
      sorted by
    """

    def __init__(
        self,
        ranks: Ints,
        magnitudes: NDArray[np.float64],
        names: Sequence[TableName],
        paces: Mapping[TableName, JobPace],
        *,
        ends: Callable[[], tuple[StateVectors, StateVectors, StateVectors]],
        shares: Callable[[], NDArray[np.float64]],
        reads: Callable[[ReadNumber], NDArray[np.float64]],
    ) -> None:
        self.ranks, self.magnitudes, self.names, self.paces, self._ends = ranks, magnitudes, names, paces, ends
        self._shares, self._reads = shares, reads

    @cached_property
    def ends(self) -> tuple[StateVectors, StateVectors, StateVectors]:
        """The states at the start, at the instant of the comparison, and at the end."""
        return self._ends()

    @cached_property
    def shares(self) -> NDArray[np.float64]:
        """Growth of each table, from zero as a large number: a cursor has only finite ones."""
        return np.minimum(self._shares(), _FROM_ZERO)

    def order(self, query: FleetQuery, chosen: NDArray[np.intp]) -> NDArray[np.intp]:
        """Indexes of the chosen rows in the query's order: equal keys by name, unknown values last either way."""
        if query.sort == "name":
            return chosen if query.direction == "asc" else chosen[::-1]
        first, second = self._rising(query)
        return chosen[np.lexsort((second[chosen], first[chosen]))]

    def position(self, query: FleetQuery, place: int) -> list[int | float | str]:
        """The position of a row in the order of a query, independent of other rows: its keys and its name."""
        return [*(column[place].item() for column in self._rising(query)), *self.names[place]]

    def after(self, query: FleetQuery, order: NDArray[np.intp], position: tuple[float, float, TableName]) -> int:
        """The number of rows up to and including a position, whose row may no longer exist."""
        first, second = (column[order] for column in self._rising(query))
        one, two, name = position
        at = bisect_left(self.names, name)
        there = at < len(self.names) and self.names[at] == name
        falling = query.sort == "name" and query.direction == "desc"
        later = order < at if falling else order >= at + there
        beyond = (first > one) | ((first == one) & ((second > two) | ((second == two) & later)))
        return int(beyond.argmax()) if beyond.any() else len(order)

    def _rising(self, query: FleetQuery) -> tuple[_Numbers, _Numbers]:
        """The two columns that the order increases by, before the name."""
        if query.sort == "name":
            nothing = np.zeros(len(self.names), np.int64)
            return nothing, nothing
        if query.sort == "attention":
            sign = 1 if query.direction == "desc" else -1
            return sign * self.ranks, -sign * self.magnitudes
        values, known = self._sorted_by(query.sort)
        sign = -1 if query.direction == "desc" else 1
        return (~known).astype(np.int64), np.where(known, sign * np.where(known, values, 0), 0)

    def _sorted_by(self, sort: str) -> _Column:
        """The values of a column, and where they are known."""
        if sort in _OF_A_JOB:
            paces, of = (self.paces.get(name) for name in self.names), _OF_A_JOB[sort]
            told = [None if pace is None else of(pace) for pace in paces]
            found = np.array([np.nan if value is None else value for value in told], np.float64)
            return found, ~np.isnan(found)
        if sort in _OF_READS:
            read = self._reads(_OF_READS[sort])
            return read, ~np.isnan(read)
        if sort == "growth":
            return self.shares, self.shares > NOTHING
        begin, before, after = self.ends
        if sort == "commits":
            return after.ordinal - begin.ordinal, np.ones(len(self.names), np.bool_)
        if sort == "last_commit":
            return after.moved // MICROS_PER_MS, after.moved != NULL
        return _change(before, after, sort) if sort.startswith("delta_") else _value(after, sort)


_OF_A_JOB: Mapping[str, Callable[[JobPace], float | None]] = {
    "job_duration": lambda pace: pace.now_s,
    "delta_job_duration": lambda pace: pace.ratio,
    "job_p95": lambda pace: pace.p95_now_s,
    "delta_job_p95": lambda pace: pace.p95_ratio,
}
ReadNumber = Callable[[TableReadNumbers], float | None]
_OF_READS: Mapping[str, ReadNumber] = {
    "planning_p95": lambda reads: reads.planning_p95_s,
    "missed_share": lambda reads: reads.missed,
}
_Numbers = NDArray[np.float64] | Ints
_Column = tuple[_Numbers, NDArray[np.bool_]]


def _value(after: StateVectors, sort: str) -> _Column:
    if sort == "skew":
        skew = np.ascontiguousarray(after.column("skew_max_over_median"))
        return np.where(skew == NULL, np.nan, skew.view(np.float64)), skew != NULL
    if sort in _SHARES:
        return _share(after.column(_SHARES[sort]), after.column("total_data_files"))
    found = after.column(_VALUES[sort])
    return found, found != NULL


def _change(before: StateVectors, after: StateVectors, sort: str) -> _Column:
    column = _VALUES[sort.removeprefix("delta_").removeprefix("share_")]
    then, now = before.column(column), after.column(column)
    known = (now != NULL) & (then != NULL)
    change = np.where(known, now, 0) - np.where(known, then, 0)
    return _share(np.where(known, change, NULL), then) if sort.startswith("delta_share_") else (change, known)


def _share(part: Ints, whole: Ints) -> _Column:
    """The share is unknown if the whole is 0."""
    known = (part != NULL) & (whole != NULL) & (whole > 0)
    return np.where(known, part, 0) / np.where(known, whole, 1), known


def matching(names: Sequence[TableName], folded: Sequence[str], query: FleetQuery) -> NDArray[np.intp]:
    """Indexes of the rows whose names match a query's text and namespace. `folded`: case-folded names."""
    text = query.text.casefold()
    places: Sequence[int] = range(len(names))
    if text:
        places = [place for place in places if text in folded[place]]
    if query.namespace:
        places = [place for place in places if query.namespace in _namespaces(names[place])]
    return np.array(places, np.intp)


def _namespaces(name: TableName) -> tuple[str, str, str]:
    return name.plain.namespace, namespace_of(name), name.catalog


def namespace_of(name: TableName) -> str:
    """`catalog.namespace`."""
    return f"{name.catalog}.{name.plain.namespace}" if name.namespace else name.catalog
