"""The columns of `snapshots` in the hot index, and their rows as one matrix of 64-bit integers (a Sheet).

These are the columns that pages, lanes, reasons, lists and gauges need. All others are read from the meta tables by id.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from limnograph.domain.facts.meta_tables import SnapshotFact
from limnograph.domain.ids import TableName

Ints = NDArray[np.int64]
NULL = -(2**63)
"""Marks an unknown number. No count, size or time has this value; a parent with this id reads as no parent."""

_MOST = 2**63 - 1
_KINDS: dict[Literal["int", "text", "flag", "float"], str] = {
    "int": "snapshot_id committed_at sequence_number parent_id format_version schema_id spec_id "
    "total_data_files total_delete_files total_records total_bytes total_position_deletes total_equality_deletes "
    "added_data_files removed_data_files added_delete_files removed_delete_files added_records added_bytes "
    "manifests live_snapshots small_files file_size_p10 file_size_p50 file_size_p90 target_file_bytes debt_files "
    "total_delete_bytes metadata_bytes debt_saved_files manifest_bytes partitions_total "
    "metadata_log_entries partition_files_max overlap_depth_max oldest_delete_at oldest_snapshot_at",
    "flag": "on_main",
    "float": "skew_max_over_median skew_top1_share hot_partition_ratio",
    "text": "format operation engine app_id app_name status hot_partition tier user",
}
HOT_COLUMNS = tuple(name for names in _KINDS.values() for name in names.split())
"""In the order of a sheet's rows. The first three are the sort key and the identity of a table's rows."""
INDEX = {name: index for index, name in enumerate(HOT_COLUMNS)}
FLAGS, FLOATS, TEXTS = (frozenset(_KINDS[kind].split()) for kind in ("flag", "float", "text"))
TEXT_ROWS = tuple(INDEX[name] for name in HOT_COLUMNS if name in TEXTS)
ID, AT, SEQUENCE = (INDEX[name] for name in ("snapshot_id", "committed_at", "sequence_number"))


class Sheet(NamedTuple):
    """Rows of one table: `numbers[column, row]`. Texts are indexes of `words`, floats are stored as their bits, flags
    as 0 and 1.
    """

    numbers: Ints
    words: list[str]

    @property
    def height(self) -> int:
        """The number of rows."""
        return int(self.numbers.shape[1])

    def take(self, at: Any) -> Sheet:
        """The rows at some indexes."""
        return Sheet(self.numbers[:, at], self.words)


def joined(sheets: Sequence[Sheet]) -> Sheet:
    """The rows of several sheets in one sheet."""
    if len(sheets) == 1:
        return sheets[0]
    words: dict[str, int] = {}
    parts = []
    for sheet in sheets:
        places = [words.setdefault(word, len(words)) for word in sheet.words]
        numbers = sheet.numbers
        if places != list(range(len(places))):
            numbers = numbers.copy()
            codes = numbers[TEXT_ROWS, :]
            numbers[TEXT_ROWS, :] = np.where(codes == NULL, NULL, np.array([*places, 0], np.int64)[codes.clip(-1)])
        parts.append(numbers)
    return Sheet(np.concatenate(parts, axis=1), list(words))


def in_order(sheet: Sheet) -> Sheet:
    """Rows sorted by commit time, sequence number and id; rows without a time first."""
    numbers = sheet.numbers
    order = np.lexsort((numbers[ID], numbers[SEQUENCE], numbers[AT]))
    return sheet if (order[1:] > order[:-1]).all() else sheet.take(order)


def sheet_of(facts: Sequence[SnapshotFact]) -> Sheet:
    """Facts in the given order; of duplicate ids the last one wins."""
    words: dict[str, int] = {}
    columns = []
    for name in HOT_COLUMNS:
        values = [getattr(fact, name) for fact in facts]
        if name in TEXTS:
            values = [None if v is None else words.setdefault(v, len(words)) for v in values]
        elif name in FLOATS:
            columns.append(_bits(np.array([np.nan if v is None else v for v in values], np.float64)))
            continue
        columns.append(np.array([NULL if v is None or abs(v) > _MOST else v for v in values], np.int64))
    return Sheet(np.stack(columns), list(words))


def sheet_of_frame(frame: pl.DataFrame) -> Sheet:
    """Rows of a frame, without a Python object per row. A missing hot column is unknown."""
    numbers = np.empty((len(HOT_COLUMNS), frame.height), np.int64)
    words: dict[str, int] = {}
    for index, name in enumerate(HOT_COLUMNS):
        column = frame.get_column(name, default=None)
        if column is None:
            numbers[index] = NULL
        elif name in TEXTS:
            numbers[index] = _coded(column, words)
        elif name in FLOATS:
            numbers[index] = _bits(column.fill_null(np.nan).to_numpy())
        else:
            numbers[index] = column.cast(pl.Int64).fill_null(NULL).to_numpy()
    return Sheet(numbers, list(words))


def _coded(column: pl.Series, words: dict[str, int]) -> Ints:
    """A text column as indexes of `words`, which is extended by new values."""
    if column.null_count() == len(column):
        return np.full(len(column), NULL, np.int64)
    coded = column.to_arrow().dictionary_encode()
    if hasattr(coded, "combine_chunks"):
        coded = coded.combine_chunks()
    places = [words.setdefault(word, len(words)) for word in coded.dictionary.to_pylist()]
    codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    found: Ints = np.array([*places, NULL], np.int64)[codes]
    return found


def _bits(values: NDArray[np.float64]) -> Ints:
    bits: Ints = np.ascontiguousarray(values).view(np.int64)
    return np.where(np.isnan(values), NULL, bits)


def plain(name: str, values: Ints, words: Sequence[str]) -> list[Any]:
    """A column as Python values; None where unknown."""
    if name in FLOATS:
        floats = np.ascontiguousarray(values).view(np.float64).tolist()
        return [None if n == NULL else v for n, v in zip(values.tolist(), floats, strict=True)]
    if name in TEXTS:
        return [None if n == NULL else words[n] for n in values.tolist()]
    found = values.tolist()
    if name in FLAGS:
        return [None if n == NULL else bool(n) for n in found]
    return [None if n == NULL else n for n in found] if NULL in found else found


def facts_of(sheet: Sheet, uuid: str, name: TableName) -> list[SnapshotFact]:
    """Rows as facts with their hot columns, for pages that show single rows."""
    columns = [plain(column, sheet.numbers[i], sheet.words) for i, column in enumerate(HOT_COLUMNS)]
    where: dict[str, Any] = {
        "table_uuid": uuid,
        "catalog": name.catalog,
        "namespace": name.namespace,
        "table": name.table,
    }
    return [
        SnapshotFact(**where, **dict(zip(HOT_COLUMNS, values, strict=True))) for values in zip(*columns, strict=True)
    ]
