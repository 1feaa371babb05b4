"""Rows of one table in packed columns, in commit order, as an immutable value: a change builds a new one that shares
all unchanged blocks.

Cost: appending is O(new rows), as small blocks are merged as in a binary counter (O(log) times per row). A row that
arrives late or changes costs the rows after it. Reading a column costs O(rows of the table).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from limnograph.domain.time import Micros
from limnograph.services.lake import columns as hot_columns
from limnograph.services.lake.columns import AT, HOT_COLUMNS, ID, INDEX, NULL, SEQUENCE, TEXT_ROWS, Ints, Sheet
from limnograph.services.lake.packing import Block, pack

MERGED = 1_024
"""The most rows of a merged block."""
_NO_COLUMN = np.empty(0, np.int64)
Packer = Callable[[Sheet], Block]


def packed(sheet: Sheet) -> Block:
    """A block of sorted rows."""
    return pack(sheet.numbers, sheet.words, TEXT_ROWS, (AT,))


def opened(block: Block) -> Sheet:
    """The rows of a block."""
    return Sheet(block.numbers(), block.texts())


def pushed(blocks: tuple[Block, ...], sheet: Sheet, pack_sheet: Packer = packed) -> tuple[Block, ...]:
    """Blocks with more rows appended, which sort after all others."""
    sheets = [sheet]
    kept, size = list(blocks), sheet.height
    while kept and kept[-1].height <= 2 * size and kept[-1].height + size <= MERGED:
        block = kept.pop()
        sheets.insert(0, opened(block))
        size += block.height
    return (*kept, pack_sheet(hot_columns.joined(sheets)))


class Put(NamedTuple):
    """The result of adding rows. `changed`: rows differ from before; `filled`: ids whose older row had more values."""

    rows: PackedRows
    changed: bool
    filled: frozenset[int]


class PackedRows(NamedTuple):
    """Blocks in order. `before`: the number of rows dropped before the first one."""

    blocks: tuple[Block, ...] = ()
    before: int = 0

    @property
    def height(self) -> int:
        """The number of rows."""
        return sum(block.height for block in self.blocks)

    @property
    def nbytes(self) -> int:
        """Bytes in memory."""
        return sum(block.nbytes for block in self.blocks)

    def column(self, name: str) -> Ints:
        """Numbers of a column; NULL where unknown. Floats are their bits; text codes are valid only within a block."""
        index = INDEX[name]
        if len(self.blocks) == 1:
            return self.blocks[0].column(index)
        return np.concatenate([block.column(index) for block in self.blocks]) if self.blocks else _NO_COLUMN

    def window(self, name: str, first: int, last: int) -> Ints:
        """Numbers of a column in rows `[first, last)`. O(rows of the blocks that contain them)."""
        index, start, parts = INDEX[name], 0, []
        for block in self.blocks:
            end = start + block.height
            if start < last and end > first:
                parts.append(block.column(index)[max(0, first - start) : last - start])
            start = end
        return parts[0] if len(parts) == 1 else np.concatenate(parts) if parts else _NO_COLUMN

    def places_at(self, micros: Micros) -> list[int]:
        """Indexes of the rows committed at an instant. Reads blocks from the newest one back to it."""
        found: list[int] = []
        end = self.height
        for block in reversed(self.blocks):
            times, end = block.column(AT), end - block.height
            first, last = (int(times.searchsorted(micros, side)) for side in ("left", "right"))
            found = [*range(end + first, end + last), *found]
            if first > 0:
                break
        return found

    def values(self, name: str) -> list[object]:
        """A column as Python values."""
        return [
            value
            for block in self.blocks
            for value in hot_columns.plain(name, block.column(INDEX[name]), block.texts())
        ]

    def equals(self, name: str, text: str) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Which rows have this text in a column."""
        found = []
        for block in self.blocks:
            words = block.texts()
            code = words.index(text) if text in words else NULL + 1
            found.append(block.column(INDEX[name]) == code)
        return np.concatenate(found) if found else np.empty(0, np.bool_)

    def sheet(self, first: int, last: int) -> Sheet:
        """Rows `[first, last)`."""
        parts, start = [], 0
        for block in self.blocks:
            end = start + block.height
            if start < last and end > first:
                inside = slice(max(0, first - start), min(block.height, last - start))
                parts.append(Sheet(block.numbers(inside), block.texts()))
            start = end
        return hot_columns.joined(parts) if parts else Sheet(np.empty((len(HOT_COLUMNS), 0), np.int64), [])

    def chosen(self, places: Sequence[int]) -> Sheet:
        """Rows at some increasing indexes."""
        parts, start = [], 0
        for block in self.blocks:
            inside = [place - start for place in places if start <= place < start + block.height]
            if inside:
                parts.append(Sheet(block.numbers(inside), block.texts()))
            start += block.height
        return hot_columns.joined(parts) if parts else self.sheet(0, 0)

    def holding(self, place: int) -> tuple[Block, int]:
        """The block that contains a row, and the row's index in it."""
        for block in self.blocks:
            if place < block.height:
                return block, place
            place -= block.height
        raise IndexError(place)

    def put(
        self, sheet: Sheet, *, wins: bool, filled: frozenset[int] = frozenset(), own: frozenset[int] = frozenset()
    ) -> Put:
        """These rows united with new ones by id.

        `wins`: a new row replaces the old one of its id, except that for ids in `filled` old values remain where the
          new row has none; otherwise the old row remains and the new one fills its unknown values
        `own`: ids whose old rows are replaced even without `wins`
        """
        sheet = hot_columns.in_order(_last_of_each(sheet))
        ids = self.column("snapshot_id")
        places = places_of(ids, sheet.numbers[ID])
        met = np.flatnonzero(places >= 0)
        if not len(met):
            return Put(self._with(sheet, []), changed=sheet.height > 0, filled=frozenset())
        old = self.chosen(sorted(places[met].tolist()))
        old = old.take(places_of(old.numbers[ID], sheet.numbers[ID][met]))
        both = hot_columns.joined([old, sheet.take(met)])
        older, newer = both.numbers[:, : len(met)], both.numbers[:, len(met) :]
        replaced = np.array([wins or snapshot_id in own for snapshot_id in newer[ID].tolist()])
        fills = np.array([not wins or snapshot_id in filled for snapshot_id in newer[ID].tolist()])
        first, second = np.where(replaced, newer, older), np.where(replaced, older, newer)
        united = np.where((first == NULL) & (fills & ~(replaced & ~np.bool_(wins))), second, first)
        moved = np.flatnonzero((united != older).any(axis=0))
        told = frozenset(newer[ID][np.where(replaced, united != newer, united != older).any(axis=0)].tolist())
        fresh = sheet.take(np.flatnonzero(places < 0))
        if not len(moved):
            return Put(self._with(fresh, []), changed=fresh.height > 0, filled=told)
        changed = hot_columns.joined([fresh, Sheet(united[:, moved], both.words)])
        return Put(self._with(hot_columns.in_order(changed), places[met][moved].tolist()), changed=True, filled=told)

    def _with(self, sheet: Sheet, gone: list[int]) -> PackedRows:
        """These rows with sorted rows inserted and those at the indexes `gone` removed."""
        if not sheet.height:
            return self
        first = min([self._place(sheet), *gone])
        if first == self.height:
            return self._replace(blocks=pushed(self.blocks, sheet))
        kept, start = [], 0
        for block in self.blocks:
            if start + block.height > first:
                break
            kept.append(block)
            start += block.height
        tail = self.sheet(start, self.height)
        left = np.ones(tail.height, np.bool_)
        left[[place - start for place in gone]] = False
        merged = hot_columns.in_order(hot_columns.joined([tail.take(left), sheet]))
        cuts = range(0, merged.height, 4 * MERGED)
        kept += [packed(merged.take(slice(cut, cut + 4 * MERGED))) for cut in cuts]
        return self._replace(blocks=tuple(kept))

    def _place(self, sheet: Sheet) -> int:
        """The index at which the first of some sorted rows belongs."""
        if not self.blocks:
            return 0
        keys = [(self.column(HOT_COLUMNS[i]), int(sheet.numbers[i, 0])) for i in (AT, SEQUENCE, ID)]
        (times, at), (sequences, sequence), (ids, snapshot_id) = keys
        first, last = (int(np.searchsorted(times, at, side)) for side in ("left", "right"))
        same = zip(sequences[first:last].tolist(), ids[first:last].tolist(), strict=True)
        return first + sum(key < (sequence, snapshot_id) for key in same)

    def trimmed(self, floor: Micros, keep: frozenset[int]) -> PackedRows:
        """Without rows committed before `floor` (microseconds), except for the ids in `keep`."""
        times = self.column("committed_at")
        known, end = (int(np.searchsorted(times, at)) for at in (NULL + 1, floor))
        ids = self.column("snapshot_id")[:end].tolist()
        stay = [i for i in range(end) if i < known or ids[i] in keep]
        if len(stay) == end:
            return self
        rest, start, blocks = [], 0, []
        for block in self.blocks:
            cut = max(0, min(block.height, end - start))
            if cut == 0:
                blocks.append(block)
            elif cut < block.height:
                rest.append(opened(block).take(slice(cut, None)))
            start += block.height
        head = [self.chosen(stay)] if stay else []
        if head or rest:
            blocks.insert(0, packed(hot_columns.joined([*head, *rest])))
        return PackedRows(tuple(blocks), self.before + end - len(stay))


def places_of(ids: Ints, wanted: Ints) -> Ints:
    """The index of each wanted id in `ids`; -1 if absent."""
    if not len(ids):
        return np.full(len(wanted), -1, np.int64)
    order = np.argsort(ids, kind="stable")
    at = np.searchsorted(ids, wanted, sorter=order).clip(max=len(ids) - 1)
    found = order[at]
    return np.where(ids[found] == wanted, found, -1)


def _last_of_each(sheet: Sheet) -> Sheet:
    """The last of each group of rows with the same id."""
    last = {snapshot_id: place for place, snapshot_id in enumerate(sheet.numbers[ID].tolist())}
    return sheet if len(last) == sheet.height else sheet.take(sorted(last.values()))
