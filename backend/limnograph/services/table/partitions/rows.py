"""Partitions as rows of a leaderboard: shares, deltas, matching rows, and the remainder that no row shows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from limnograph.analysis.alignment import median
from limnograph.domain.answers.partitions import PartitionRest, PartitionRow, PartitionSort
from limnograph.domain.facts.meta_tables import PartitionFact, SnapshotFact
from limnograph.domain.metadata.manifests import PartitionKey
from limnograph.domain.queries import Direction
from limnograph.domain.time import to_millis
from limnograph.services.table.partitions.states import State, live

Conditions = Sequence[tuple[str, str]]
_DELTAS = {"data_files_delta", "bytes_delta"}


class Side(NamedTuple):
    """The table at one instant: the row of main's snapshot and its partitions; None if unknown."""

    row: SnapshotFact | None
    state: State | None

    @property
    def whole(self) -> bool:
        """Whether every partition with a file is named."""
        if self.state is None or self.row is None or self.row.partitions_total is None:
            return False
        return len(live(self.state)) >= self.row.partitions_total


def fits(partition: str, conditions: Conditions) -> bool:
    """Whether a partition's text, `day=2026-11-20/region=eu`, contains all these values."""
    if not conditions:
        return True
    values = dict(part.partition("=")[::2] for part in partition.split("/"))
    return all(_is(values.get(name), wanted) for name, wanted in conditions)


def _is(value: str | None, wanted: str) -> bool:
    if value is None:
        return False
    return value.startswith(wanted[:-1]) if wanted.endswith("*") else value == wanted


def rows_of(after: Side, before: Side | None, conditions: Conditions) -> list[PartitionRow]:
    """Rows of the matching partitions that have, or had, a file; unsorted."""
    state = after.state or {}
    middle = _median_bytes(after)
    keys = [key for key in _shown(after, before) if fits(key[1], conditions)]
    return [_row(after, before, key, state.get(key) or _empty(key), middle) for key in keys]


def _shown(after: Side, before: Side | None) -> list[PartitionKey]:
    """Partitions that have a file now, and those that had one then and are known to have none now."""
    state = after.state or {}
    found = [key for key, fact in state.items() if _has_files(fact)]
    if before is None or before.state is None:
        return found
    had = (key for key, fact in before.state.items() if _has_files(fact))
    return found + [key for key in had if not (key in state and _has_files(state[key])) and _known(after, key)]


def _has_files(fact: PartitionFact) -> bool:
    return fact.data_files != 0 or bool(fact.delete_files)


def _known(side: Side, key: PartitionKey) -> bool:
    """Whether a partition's numbers are known: it is named, or all partitions are and it is not among them."""
    return side.state is not None and (key in side.state or side.whole)


def _empty(key: PartitionKey) -> PartitionFact:
    return PartitionFact(
        partition=key[1],
        spec_id=key[0],
        data_files=0,
        delete_files=0,
        small_files=0,
        records=0,
        bytes=0,
        delete_bytes=0,
    )


def _median_bytes(side: Side) -> float | None:
    if side.state is None or not side.whole:
        return None
    known = [fact.bytes for fact in live(side.state)]
    return None if None in known else median([size for size in known if size is not None])


def skew(side: Side) -> float | None:
    """Bytes of the largest partition divided by those of the median one; None unless every partition is named."""
    middle = _median_bytes(side)
    return max(fact.bytes or 0 for fact in live(side.state)) / middle if middle and side.state else None


def _row(
    after: Side, before: Side | None, key: PartitionKey, fact: PartitionFact, middle: float | None
) -> PartitionRow:
    was = None
    if before is not None and _known(before, key):
        was = (before.state or {}).get(key) or _empty(key)
    row, at = after.row, fact.last_committed_at
    return PartitionRow(
        partition=fact.partition,
        spec_id=fact.spec_id,
        data_files=fact.data_files,
        delete_files=fact.delete_files,
        small_files=fact.small_files,
        records=fact.records,
        bytes=fact.bytes,
        average_file_bytes=_ratio(fact.bytes, fact.data_files),
        files_share=_ratio(fact.data_files, row.total_data_files if row else None),
        bytes_share=_ratio(fact.bytes, row.total_bytes if row else None),
        bytes_over_median=_ratio(fact.bytes, middle),
        delete_ratio=_ratio(fact.delete_files, fact.data_files),
        delete_bytes=fact.delete_bytes,
        delete_bytes_ratio=_ratio(fact.delete_bytes, fact.bytes),
        oldest_delete_at=to_millis(fact.oldest_delete_at),
        last_committed_at=to_millis(at),
        data_files_delta=_difference(fact.data_files, was.data_files if was else None),
        bytes_delta=_difference(fact.bytes, was.bytes if was else None),
    )


def _ratio(part: float | None, whole: float | None) -> float | None:
    return None if part is None or not whole else part / whole


def _difference(new: int | None, old: int | None) -> int | None:
    return None if new is None or old is None else new - old


def ordered(rows: Iterable[PartitionRow], sort: PartitionSort, direction: Direction) -> list[PartitionRow]:
    """Rows sorted by a column, unknown values last in either direction, then by name. Deltas are sorted by absolute
    size.
    """
    by_name = sorted(rows, key=lambda row: row.partition)
    known = [row for row in by_name if getattr(row, sort) is not None]

    def value(row: PartitionRow) -> Any:
        found = getattr(row, sort)
        return abs(found) if sort in _DELTAS else found

    known.sort(key=value, reverse=direction == "desc")
    return known + [row for row in by_name if getattr(row, sort) is None]


def rest_of(after: Side, rows: Sequence[PartitionRow]) -> PartitionRest | None:
    """The table's numbers outside these rows; None if there are none. A number that cannot be computed is None."""
    row = after.row
    if row is None:
        return None
    shown = [found for found in rows if found.data_files or found.delete_files]
    rest = PartitionRest(
        partitions=_less(row.partitions_total, [1] * len(shown)),
        data_files=_less(row.total_data_files, [found.data_files for found in shown]),
        delete_files=_less(row.total_delete_files, [found.delete_files for found in shown]),
        bytes=_less(row.total_bytes, [found.bytes for found in shown]),
    )
    return None if rest.partitions == 0 or (rest.partitions is None and not rest.data_files) else rest


def _less(total: int | None, parts: Sequence[int | None]) -> int | None:
    if total is None or None in parts:
        return None
    left = total - sum(part for part in parts if part is not None)
    return left if left >= 0 else None
