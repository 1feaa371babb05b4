"""Which rows of the fleet a query selects, and how many it would select with another value of each filter.

Cost law: O(tables) per filter in use and O(open findings) for those of findings; owners and formats are looked up once
per table, until an owner changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from limnograph.domain.answers.tables import FacetValue, TableFacets
from limnograph.domain.facts.findings import FindingFact
from limnograph.domain.finding_codes import SEVERITIES
from limnograph.domain.ids import TableName
from limnograph.domain.queries import FleetQuery
from limnograph.services.findings.board import key_of
from limnograph.services.fleet.board import FleetBoard
from limnograph.services.fleet.order import matching, namespace_of
from limnograph.services.lake.columns import INDEX, NULL
from limnograph.services.lake.table import HotTable
from limnograph.services.notes.owners import OwnerDirectory
from limnograph.services.reads.recent import ByTable, TableReadNumbers

MOST_VALUES = 100
"""Most values of one filter in an answer, those of most tables."""
Mask = NDArray[np.bool_]
LinkedTables = Callable[[Mapping[TableName, str]], Collection[TableName]]
"""The tables that have a job, among those of a lake."""
_FORMAT = INDEX["format"]


class _Owners(NamedTuple):
    """Owners by name, for the names and the version that they were read at."""

    of: Mapping[TableName, str]
    version: tuple[int, int]
    owners: dict[TableName, str | None]


class FleetFilters:
    """Guarded by the lock of the FleetService that it belongs to."""

    def __init__(self, owners: OwnerDirectory, linked: LinkedTables, recent: Callable[[], ByTable] = dict) -> None:
        self._directory, self._linked, self._recent = owners, linked, recent
        self._owners = _Owners({}, (-1, 0), {})
        self._formats: dict[str, str] = {}

    def chosen(self, board: FleetBoard, query: FleetQuery) -> NDArray[np.intp]:
        """Indexes of the rows that match."""
        masks = [mask for mask in self._masks(board, query).values() if mask is not None]
        return np.flatnonzero(np.logical_and.reduce(masks)) if masks else np.arange(len(board.rows))

    def facets(self, board: FleetBoard, query: FleetQuery) -> TableFacets:
        """The number of tables for each value of each filter, all other filters being as in the query."""
        masks = self._masks(board, query)

        def without(*own: str) -> Mask:
            others = [mask for name, mask in masks.items() if mask is not None and name not in own]
            return np.logical_and.reduce(others) if others else np.ones(len(board.rows), np.bool_)

        free = without("findings")
        has_job = self._has_job(board)[without("has_job")]
        return TableFacets(
            total=int(without().sum()),
            severity=_counted(
                _of_findings(board, replaced(query, severity=None), free, lambda fact: fact.severity), SEVERITIES
            ),
            code=_counted(_of_findings(board, replaced(query, code=None), free, lambda fact: fact.code)),
            acknowledged=_counted(
                _of_findings(board, replaced(query, acknowledged="any"), free, _is_acknowledged(board)),
                ("true", "false"),
            ),
            owner=_counted(_at(self._owner_of(board), without("owner"))),
            format=_counted(_at(self._format_of(board), without("format"))),
            has_job=_counted(("true" if each else "false" for each in has_job.tolist()), ("true", "false")),
            namespace=_counted(_at([namespace_of(name) for name in board.keys.names], without("namespace"))),
        )

    def _masks(self, board: FleetBoard, query: FleetQuery) -> dict[str, Mask | None]:
        """The rows that each filter selects; None: the filter is not in use."""
        has_job = None if query.has_job is None else self._has_job(board) == query.has_job
        return {
            "text": _named(board, query, namespace="") if query.text else None,
            "namespace": _named(board, query, text="") if query.namespace else None,
            "findings": _with_findings(board, query) if _about_findings(query) else None,
            "owner": _equal(self._owner_of(board), query.owner) if query.owner else None,
            "format": _equal(self._format_of(board), query.format) if query.format is not None else None,
            "has_job": has_job,
            "planning": self._reads_above(board, lambda reads: reads.planning_p95_s, query.planning_s),
            "missed": self._reads_above(board, lambda reads: reads.missed, query.missed),
        }

    def _reads_above(
        self, board: FleetBoard, of: Callable[[TableReadNumbers], float | None], limit: float | None
    ) -> Mask | None:
        """The rows whose recent reads are above a limit; a table without such a number is not."""
        if limit is None:
            return None
        reads = self._recent()
        over = {uuid for uuid, each in reads.items() if (value := of(each)) is not None and value > limit}
        return np.array([key in over for key in board.table_keys], np.bool_)

    def _has_job(self, board: FleetBoard) -> Mask:
        linked = self._linked(board.lake.names)
        return np.array([name in linked for name in board.keys.names], np.bool_)

    def _owner_of(self, board: FleetBoard) -> list[str | None]:
        """The owner of each row's table."""
        names, version = board.lake.names, self._directory.version
        if self._owners.of is not names or self._owners.version != version:
            self._owners = _Owners(names, version, {})
        known = self._owners.owners
        for name, table in zip(board.keys.names, board.rows, strict=True):
            if name not in known:
                known[name] = self._directory.of_table(table.uuid if table else None, name)
        return [known[name] for name in board.keys.names]

    def _format_of(self, board: FleetBoard) -> list[str | None]:
        """The format of each row's table; None: not known yet. A table keeps its format."""
        for table in board.rows:
            if table is not None and table.uuid not in self._formats:
                found = _format(table)
                if found is not None:
                    self._formats[table.uuid] = found
        return [None if table is None else self._formats.get(table.uuid) for table in board.rows]


def replaced(query: FleetQuery, **given: object) -> FleetQuery:
    """A query with some fields replaced; of findings, those of any acknowledgement stay such."""
    return msgspec.structs.replace(query, **given)


def _about_findings(query: FleetQuery) -> bool:
    return any(given is not None for given in (query.severity, query.code, query.acknowledged))


def _named(board: FleetBoard, query: FleetQuery, **given: str) -> Mask:
    found = np.zeros(len(board.rows), np.bool_)
    found[matching(board.keys.names, board.folded, replaced(query, **given))] = True
    return found


def _with_findings(board: FleetBoard, query: FleetQuery) -> Mask:
    keys = {key_of(fact) for fact in _findings(board, query)}
    return np.array([key in keys for key in board.table_keys], np.bool_)


def _findings(board: FleetBoard, query: FleetQuery) -> Iterable[FindingFact]:
    """The open findings that match a query's severity, code and acknowledgement."""
    for fact in board.findings.open:
        if query.severity is not None and fact.severity != query.severity:
            continue
        if query.code is not None and fact.code != query.code:
            continue
        hidden = fact.finding_id in board.hidden
        if query.acknowledged == "any" or hidden == (query.acknowledged == "true"):
            yield fact


def _is_acknowledged(board: FleetBoard) -> Callable[[FindingFact], str]:
    return lambda fact: "true" if fact.finding_id in board.hidden else "false"


def _of_findings(
    board: FleetBoard, query: FleetQuery, among: Mask, value: Callable[[FindingFact], str | None]
) -> Iterable[str | None]:
    """A value of the findings of some rows, once per row."""
    keys = {key for key, chosen in zip(board.table_keys, among.tolist(), strict=True) if chosen}
    pairs = {(key, value(fact)) for fact in _findings(board, query) if (key := key_of(fact)) in keys}
    return [found for _, found in pairs]


def _equal(values: Sequence[str | None], wanted: str) -> Mask:
    return np.array([value == wanted for value in values], np.bool_)


def _at(values: Sequence[str | None], among: Mask) -> Iterable[str | None]:
    return (value for value, chosen in zip(values, among.tolist(), strict=True) if chosen)


def _counted(values: Iterable[str | None], order: Sequence[str] | None = None) -> list[FacetValue]:
    """Values with their numbers: in a fixed order, with those that no table has, or the most frequent ones first."""
    counts = Counter(value for value in values if value is not None)
    found = order or sorted(counts, key=lambda value: (-counts[value], value))[:MOST_VALUES]
    return [FacetValue(value=value, tables=counts[value]) for value in found]


def _format(table: HotTable) -> str | None:
    """The format in a table's newest rows that state it."""
    for block in reversed(table.rows.blocks):
        known = block.column(_FORMAT)
        known = known[known != NULL]
        if len(known):
            return block.texts()[int(known[-1])]
    return None
