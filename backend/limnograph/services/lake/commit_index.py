"""Commits of all tables in memory in one time order, so that a list reads only the commits that it shows.

Each quarter of an hour is a chunk of columns sorted by time: table, added files, operation and whether the schema
changed; 13 bytes per commit. A chunk is immutable: readers keep theirs while a new one is built.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from limnograph.domain.time import MICROS_PER_SECOND, Micros
from limnograph.services.lake.columns import AT, INDEX, NULL, Ints
from limnograph.services.lake.history import History
from limnograph.services.lake.packing import Block
from limnograph.services.lake.rows import PackedRows
from limnograph.services.lake.table import HotTable

_BUCKET = 900 * MICROS_PER_SECOND
_OPERATIONS = ("append", "replace", "overwrite", "delete")
_OTHER, _CHANGED = np.uint8(len(_OPERATIONS)), np.uint8(8)
"""Flags of a commit: the index of its operation, or _OTHER; plus 8 if its schema differs from its parent's."""
_MOST = 2**31 - 1
_LONG_AGO = Micros(NULL)
_MANY = 5
"""If more than one table in five changed, rebuilding all chunks is less work than updating each."""


class CommitFilter(NamedTuple):
    """Commits in `[start, end)` (microseconds). A condition that is None does not filter."""

    start: Micros
    end: Micros
    least_added: int | None = None
    operation: str | None = None
    schema_changed: bool | None = None


class _Chunk(NamedTuple):
    """Commits of a quarter of an hour by time: microseconds since its beginning, table slots, added files, flags."""

    offsets: NDArray[np.int32]
    slots: NDArray[np.int32]
    added: NDArray[np.int32]
    flags: NDArray[np.uint8]

    def at(self, places: NDArray[np.generic]) -> _Chunk:
        """The commits at some indexes."""
        return _Chunk(*(column[places] for column in self))


class CommitIndex:
    """Thread-safe: guarded by `_lock`. Chunks are never changed in place: a reader keeps those that it took."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._chunks: dict[int, _Chunk] = {}
        self._slots: dict[str, int] = {}
        self._known: list[PackedRows] = []
        self._versions = np.zeros(0, np.int64)
        self._last: tuple[Sequence[HotTable], Ints] = ((), np.zeros(0, np.int64))

    @property
    def nbytes(self) -> int:
        """Bytes in memory."""
        return sum(column.nbytes for chunk in list(self._chunks.values()) for column in chunk)

    def update(self, tables: Sequence[HotTable], floor: Micros) -> Ints:
        """Apply changed tables and return their slots. Commits before `floor` are evicted. O(tables), and O(rows since
        the first new one) for tables that changed.
        """
        with self._lock:
            return self._updated(tables, floor)

    def newest(
        self, tables: Sequence[HotTable], floor: Micros, wanted: CommitFilter
    ) -> Iterator[tuple[HotTable, Micros]]:
        """Matching commits as table and instant, newest first; a table occurs once per instant."""
        with self._lock:
            slots, chunks = self._updated(tables, floor), self._chunks
            places = np.full(len(self._slots), -1, np.int64)
        places[slots] = np.arange(len(slots))
        for bucket in sorted(chunks, reverse=True):
            if wanted.start // _BUCKET <= bucket <= (wanted.end - 1) // _BUCKET:
                chunk, first = chunks[bucket], bucket * _BUCKET
                found = np.flatnonzero(_matching(chunk, first, wanted) & (places[chunk.slots] >= 0))[::-1]
                seen: tuple[int, set[int]] = (-1, set())
                for offset, slot in zip(chunk.offsets[found].tolist(), chunk.slots[found].tolist(), strict=True):
                    if offset != seen[0]:
                        seen = offset, set()
                    if slot not in seen[1]:
                        seen[1].add(slot)
                        yield tables[int(places[slot])], first + offset

    def _updated(self, tables: Sequence[HotTable], floor: Micros) -> Ints:
        if tables is self._last[0]:
            return self._last[1]
        if len(self._slots) > 2 * len(tables):
            self._slots, self._known, self._versions, self._chunks = {}, [], np.zeros(0, np.int64), {}
        slots = np.array([self._slots.setdefault(table.uuid, len(self._slots)) for table in tables], np.int64)
        more = len(self._slots) - len(self._known)
        self._known += [PackedRows()] * more
        self._versions = np.pad(self._versions, (0, more))
        versions = np.array([table.version for table in tables], np.int64)
        changed = np.flatnonzero(self._versions[slots] != versions).tolist()
        since = np.full(len(self._slots), 2**63 - 1)
        for place in changed:
            slot = int(slots[place])
            since[slot] = _LONG_AGO if len(changed) * _MANY > len(tables) else _since(self._known[slot], tables[place])
            self._known[slot] = tables[place].rows
        self._versions[slots] = versions
        self._put(_split([(int(slots[place]), tables[place]) for place in changed], since, floor), since, floor)
        self._last = tables, slots
        return slots

    def _put(self, new: dict[int, _Chunk], since: Ints, floor: Micros) -> None:
        """Replace each table's commits since its instant in `since`."""
        first = int(since.min(initial=2**63 - 1)) // _BUCKET
        made = {bucket: chunk for bucket, chunk in self._chunks.items() if bucket >= floor // _BUCKET}
        for bucket in {*new, *(bucket for bucket in made if bucket >= first)}:
            parts = [new[bucket]] if bucket in new else []
            if bucket in made:
                old = made[bucket]
                stays = bucket * _BUCKET + old.offsets.astype(np.int64) < since[old.slots]
                if not parts and stays.all():
                    continue
                parts.append(old.at(stays))
            made[bucket] = _sorted(parts)
        self._chunks = made


def _matching(chunk: _Chunk, first: int, wanted: CommitFilter) -> NDArray[np.bool_]:
    low, high = wanted.start - first, wanted.end - first
    fits: NDArray[np.bool_] = np.ones(len(chunk.offsets), np.bool_)
    if low > 0 or high < _BUCKET:
        fits &= (chunk.offsets >= max(low, 0)) & (chunk.offsets < min(high, _BUCKET))
    if wanted.least_added is not None:
        fits &= (chunk.added >= max(0, min(wanted.least_added, _MOST))) & (chunk.added >= 0)
    if wanted.operation is not None:
        known = wanted.operation in _OPERATIONS
        code = _OPERATIONS.index(wanted.operation) if known else int(_OTHER)
        fits &= (chunk.flags & ~_CHANGED) == code
    if wanted.schema_changed is not None:
        fits &= ((chunk.flags & _CHANGED) != 0) == wanted.schema_changed
    return fits


def _since(old: PackedRows, table: HotTable) -> Micros:
    """The first instant at which the rows may differ; shared blocks have the same rows. Whether a commit changed the
    schema depends on its parent, which may be anywhere in the table: with more than one schema, before or after, all
    rows are examined.
    """
    new, same = table.rows, 0
    while same < min(len(old.blocks), len(new.blocks)) and old.blocks[same] is new.blocks[same]:
        same += 1
    if same == 0 or any(len(np.unique(rows.column("schema_id"))) > 1 for rows in (old, new)):
        return _LONG_AGO
    begins = [Micros(rows.blocks[same].column(AT)[0]) for rows in (old, new) if len(rows.blocks) > same]
    return min(begins, default=Micros(2**63 - 1))


def _split(tables: Sequence[tuple[int, HotTable]], since: Ints, floor: Micros) -> dict[int, _Chunk]:
    """Commits of some tables, each since its own instant, by quarter of an hour."""
    times, parts = [], []
    for slot, table in tables:
        at, added, flags = _columns(table, max(floor, Micros(since[slot])))
        times.append(at)
        parts.append(_Chunk(np.empty(0, np.int32), np.full(len(at), slot, np.int32), added, flags))
    when = np.concatenate([np.empty(0, np.int64), *times])
    if not len(when):
        return {}
    joined = _Chunk(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
    joined = joined._replace(offsets=(when % _BUCKET).astype(np.int32))
    order = np.argsort(when, kind="stable")
    buckets = when[order] // _BUCKET
    begins = np.flatnonzero(np.diff(buckets, prepend=-1)).tolist()
    ends = [*begins[1:], len(buckets)]
    return {int(buckets[first]): joined.at(order[first:last]) for first, last in zip(begins, ends, strict=True)}


def _columns(table: HotTable, since: Micros) -> tuple[Ints, NDArray[np.int32], NDArray[np.uint8]]:
    """Time, added files and flags of a table's commits since an instant."""
    rows = table.rows
    times = rows.column("committed_at")
    first = int(times.searchsorted(max(since, NULL + 1)))
    added = rows.column("added_data_files")[first:]
    flags = np.concatenate([np.empty(0, np.uint8), *(_operations(block) for block in rows.blocks)])[first:]
    schemas = rows.column("schema_id")
    if len(schemas) and (schemas != schemas[0]).any():
        changed = History(table).schemas_changed(first, rows.height)
        flags = np.where(changed, flags | _CHANGED, flags)
    few = np.where(added == NULL, -1, np.minimum(added, _MOST))
    return times[first:], few.astype(np.int32), flags


def _operations(block: Block) -> NDArray[np.uint8]:
    words, codes = block.texts(), block.column(INDEX["operation"])
    known = [_OPERATIONS.index(word) if word in _OPERATIONS else _OTHER for word in words]
    found: NDArray[np.uint8] = np.array([*known, _OTHER], np.uint8)[np.where(codes == NULL, len(known), codes)]
    return found


def _sorted(parts: Sequence[_Chunk]) -> _Chunk:
    if len(parts) == 1:
        return parts[0]
    joined = _Chunk(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
    return joined.at(np.argsort(joined.offsets, kind="stable"))
