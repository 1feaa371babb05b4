"""A case as columns: unmeasured values are NaN, series ascend in time, and errors name the invalid series."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from limnograph.domain.answers.explanations import Case, CaseCommit
from limnograph.domain.errors import InvalidInput
from limnograph.domain.time import LAST_DATE_MS

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Name = TypeVar("Name", bound=Hashable)
LEAST, MOST = 1e-30, 1e30
"""Range of durations, loads and numbers of a commit: values outside are not measurements, and products overflow."""

FEATURES = (
    "added_data_files",
    "added_bytes",
    "removed_data_files",
    "added_delete_files",
    "added_records",
    "manifests",
    "changed_partitions",
)
"""Numbers of a commit that are compared with its own table's history."""

_ID, _TIME = attrgetter("id"), attrgetter("committed_at")


@dataclass(frozen=True, slots=True)
class CaseSeries:
    """Positive values at ascending instants (epoch milliseconds), as natural logarithms."""

    at: Floats
    log: Floats
    gap_ms: float
    """`median_gap_ms` of the instants."""

    def __len__(self) -> int:
        return self.at.size


@dataclass(frozen=True, slots=True)
class CaseCommits:
    """Columns of the commits with a time, in order of time. Codes count from 0; unknown names share a code.

    `kind`: table, operation and writer together. `count`: number of commits that a row represents (`floods`).
    """

    ids: tuple[str, ...]
    tables: tuple[str | None, ...]
    at: Floats
    table: Ints
    operation: Ints
    operations: tuple[str, ...]
    kind: Ints
    features: Floats
    schema_changed: Flags
    spec_changed: Flags
    first_read_at: Floats
    count: Ints

    def __len__(self) -> int:
        return self.at.size


def series(times: Sequence[float | None], values: Sequence[float | None], field: str) -> CaseSeries:
    """Pairs in any order. Pairs with an unknown, infinite or non-positive part are left out, and so are values that no
    measurement has (outside of LEAST to MOST); equal times are averaged.

    Raises InvalidInput naming `field` if the numbers of values and times differ.
    """
    if len(times) != len(values):
        raise InvalidInput(field, f"has {len(values)} values for {len(times)} times")
    at, value = numbers(times), numbers(values)
    known = (np.abs(at) < LAST_DATE_MS) & (value >= LEAST) & (value <= MOST)
    at, log = at[known], np.log(value[known])
    if at.size and not (np.diff(at) > 0).all():
        at, place, count = np.unique(at, return_inverse=True, return_counts=True)
        log = np.bincount(place, log) / count
    return CaseSeries(at, log, median_gap_ms(at))


def median_gap_ms(at: Floats) -> float:
    """Median distance of neighbours, in milliseconds; 0 with fewer than two."""
    return float(np.median(np.diff(at))) if at.size > 1 else 0.0


def numbers(values: Sequence[float | None]) -> Floats:
    """Values as floats; None becomes NaN."""
    return np.array(values, np.float64) if len(values) else np.empty(0)


def commits(case: Case) -> CaseCommits:
    """The commits of a case. Commits without a time, and repeated ones of a table, are left out.

    Ids may be versions (Delta), which start at 0 in every table: the same id in two tables is two commits.
    """
    rows = [
        each for each in case.commits or () if each.committed_at is not None and abs(each.committed_at) < LAST_DATE_MS
    ]
    if len({each.id for each in rows}) < len(rows):
        rows.sort(key=lambda each: (each.committed_at, repr(each)))
        first: dict[tuple[str | None, str], CaseCommit] = {}
        for each in rows:
            first.setdefault((each.table, each.id), each)
        rows = list(first.values())
    rows.sort(key=_ID)
    rows.sort(key=_TIME)

    # One column at a time: one tuple per row would trigger the garbage collector.
    def column(name: str) -> list[Any]:
        return list(map(attrgetter(name), rows))

    operations, operation = _codes([each or "" for each in column("operation")])
    tables = column("table")
    table, writer = _codes([each or "" for each in tables])[1], _codes(column("app_id"))[1]
    together = (table * (len(operations) + 1) + operation) * (int(writer.max(initial=0)) + 1) + writer
    features = np.column_stack([numbers(column(name)) for name in FEATURES])
    return CaseCommits(
        ids=tuple(column("id")),
        tables=tuple(tables),
        at=numbers(column("committed_at")),
        table=table,
        operation=operation,
        operations=operations,
        kind=np.unique(together, return_inverse=True)[1],
        features=np.where((features >= 0) & (features <= MOST), features, np.nan),
        schema_changed=np.array([each is True for each in column("schema_changed")], bool),
        spec_changed=np.array([each is True for each in column("spec_changed")], bool),
        first_read_at=numbers(column("first_read_at")),
        count=np.ones(len(rows), np.int64),
    )


def _codes(names: Sequence[Name]) -> tuple[tuple[Name, ...], Ints]:
    known = {name: code for code, name in enumerate(dict.fromkeys(names))}
    return tuple(known), np.fromiter(map(known.__getitem__, names), np.int64, len(names))
