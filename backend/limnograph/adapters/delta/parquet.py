"""Actions of a Parquet checkpoint or sidecar in small batches; limits are checked in the footer before decoding."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from limnograph.adapters.delta.actions import DeltaFile, Values, Vector, count_of, logical_file, records_of, values_of
from limnograph.adapters.delta.tombstones import Tombstone, tombstone_of
from limnograph.domain.errors import MetadataError

MAX_ROWS = 20_000_000
MAX_ROW_GROUPS = 20_000
MAX_COLUMNS = 50_000
MAX_DECODED_BYTES = 4 * 2**30
_BATCH = 4_096
_FILES = (
    "add.path",
    "add.partitionValues",
    "add.size",
    "add.stats",
    "add.stats_parsed.numRecords",
    "add.deletionVector",
)
_TOMBSTONES = ("remove.path", "remove.size", "remove.deletionTimestamp")
_HEADS = ("metaData", "protocol", "sidecar")
_DAMAGE = (pa.ArrowException, OSError, ValueError, TypeError, KeyError, OverflowError, RecursionError)


def parquet_files(content: bytes) -> Iterator[DeltaFile]:
    """Files of all `add` actions. Raises MetadataError (`checkpoint_unreadable`)."""
    for batch in _batches(content, _FILES):
        yield from _guarded(_files_of, batch)
    pa.default_memory_pool().release_unused()


def parquet_tombstones(content: bytes) -> Iterator[Tombstone]:
    """Files of all `remove` actions. Raises MetadataError (`checkpoint_unreadable`)."""
    for batch in _batches(content, _TOMBSTONES):
        yield from _guarded(_tombstones_of, batch)


def parquet_heads(content: bytes) -> Iterator[tuple[str, dict[str, Any]]]:
    """`(name, fields)` of `metaData`, `protocol` and `sidecar` actions. Raises MetadataError."""
    for batch in _batches(content, _HEADS):
        yield from _guarded(_heads_of, batch)


def _batches(content: bytes, columns: tuple[str, ...]) -> Iterator[pa.RecordBatch]:
    try:
        file = pq.ParquetFile(pa.BufferReader(content), memory_map=False)
        wanted = _limited(file.metadata, columns)
        if wanted:
            yield from file.iter_batches(_BATCH, columns=wanted, use_threads=False)
    except _DAMAGE as error:
        raise _unreadable(error) from error


def _limited(footer: pq.FileMetaData, columns: tuple[str, ...]) -> list[str]:
    """The wanted columns that the file has. Raises MetadataError if they are too large to decode."""
    if footer.num_rows > MAX_ROWS or footer.num_row_groups > MAX_ROW_GROUPS or footer.num_columns > MAX_COLUMNS:
        raise MetadataError("checkpoint_too_large", f"{footer.num_rows} rows in {footer.num_row_groups} row groups")
    prefixes = tuple(f"{column}." for column in columns)
    paths = [footer.schema.column(i).path for i in range(footer.num_columns)]
    # Sizes of whole row groups: reading a column of a damaged footer with Arrow crashes the process.
    size = sum(max(footer.row_group(group).total_byte_size, 0) for group in range(footer.num_row_groups))
    if size > MAX_DECODED_BYTES:
        raise MetadataError("checkpoint_too_large", f"{size} bytes uncompressed")
    return [path for path in paths if path in columns or path.startswith(prefixes)]


def _guarded(read: Any, batch: pa.RecordBatch) -> list[Any]:
    try:
        found: list[Any] = read(batch)
    except _DAMAGE as error:
        raise _unreadable(error) from error
    return found


def _unreadable(error: BaseException) -> MetadataError:
    return MetadataError("checkpoint_unreadable", (str(error).strip() or type(error).__name__).splitlines()[0])


def _files_of(batch: pa.RecordBatch) -> list[DeltaFile]:
    add = _children(_column(batch, "add"))
    if "path" not in add:
        return []
    paths, sizes = add["path"].to_pylist(), _list(add, "size", len(batch))
    values, stats = _list(add, "partitionValues", len(batch)), _list(add, "stats", len(batch))
    parsed = _list(_children(add.get("stats_parsed")), "numRecords", len(batch))
    vectors = _list(add, "deletionVector", len(batch))
    partitions: dict[tuple[Any, ...], Values] = {}
    found: list[DeltaFile] = []
    for path, size, pairs, text, number, vector in zip(paths, sizes, values, stats, parsed, vectors, strict=True):
        if path is None:
            continue
        if not isinstance(path, str) or not isinstance(size, int):
            raise TypeError("add.path is not a string, or add.size is not a number")
        key = tuple(pairs or ())
        if key not in partitions:
            partitions[key] = values_of(dict(key))
        records = count_of(number) if text is None else records_of(text)
        found.append(logical_file(path, size, partitions[key], records, _vector(vector), whole=True))
    return found


def _tombstones_of(batch: pa.RecordBatch) -> list[Tombstone]:
    remove = _children(_column(batch, "remove"))
    columns = (_list(remove, name, len(batch)) for name in ("path", "size", "deletionTimestamp"))
    return [tombstone_of(path, size, at) for path, size, at in zip(*columns, strict=True) if isinstance(path, str)]


def _vector(found: dict[str, Any] | None) -> Vector | None:
    """A descriptor whose members are all null counts as absent: some writers have no null structs."""
    if found is None or found.get("storageType") is None:
        return None
    return msgspec.convert({key: value for key, value in found.items() if value is not None}, Vector)


def _heads_of(batch: pa.RecordBatch) -> list[tuple[str, dict[str, Any]]]:
    found: list[tuple[str, dict[str, Any]]] = []
    for name in _HEADS:
        column = _column(batch, name)
        if column is None:
            continue
        items = (item for item in column.drop_null().to_pylist() if isinstance(item, dict) and any(item.values()))
        found += [(name, {key: _plain(value) for key, value in item.items()}) for item in items]
    return found


def _plain(value: Any) -> Any:
    """Converts maps, which Arrow returns as pairs, to dictionaries."""
    if isinstance(value, list) and value and all(isinstance(part, tuple) and len(part) == 2 for part in value):
        return dict(value)
    return value


def _column(batch: pa.RecordBatch, name: str) -> pa.Array | None:
    return batch.column(name) if batch.schema.get_field_index(name) >= 0 else None


def _children(array: pa.Array | None) -> dict[str, pa.Array]:
    """Members of a struct column, null where the struct is null."""
    if array is None or not pa.types.is_struct(array.type):
        return {}
    return {array.type.field(i).name: child for i, child in enumerate(array.flatten())}


def _list(children: dict[str, pa.Array], name: str, length: int) -> list[Any]:
    return children[name].to_pylist() if name in children else [None] * length
