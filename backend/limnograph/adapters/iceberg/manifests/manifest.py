"""A manifest's entries as columns: eight columns of each entry, and the bounds of one column of the table."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from limnograph.adapters.avro.columns import Chunk, read_chunks
from limnograph.adapters.avro.container import Container, open_container, parse_schema
from limnograph.adapters.avro.keyed import KeyedTotals
from limnograph.adapters.avro.plan import Plan, WantedField, bare, compile_plan, find_field
from limnograph.adapters.avro.records import record_values
from limnograph.adapters.iceberg.manifests.bounds import bound_keys, column_type
from limnograph.adapters.iceberg.manifests.damage import as_damage
from limnograph.adapters.iceberg.manifests.entries import (
    DATA,
    NO_SNAPSHOT,
    POSITION_DELETES,
    Bounds,
    Entries,
    KeyColumn,
    Paths,
)
from limnograph.adapters.iceberg.manifests.partition_text import partition_text
from limnograph.domain.errors import MetadataError
from limnograph.domain.metadata.manifests import ManifestFile

MAX_FILE_BYTES = 2**50
MAX_COUNT = 2**50
"""Maximum bytes and rows that one entry may claim; sums of these still fit 64 bits."""
_STATUS, _SNAPSHOT, _DATA_FILE, _CONTENT, _FORMAT, _PARTITION = 0, 1, 2, 134, 101, 102
_RECORDS, _SIZE, _CONTENT_SIZE, _LOWER, _UPPER = 103, 104, 145, 125, 128
_VALUES, _NULLS, _NANS = 109, 110, 137
_MAP_KEYS = (126, 129, 119, 121, 138)
"""Field ids of the keys of bounds and of counts of values, nulls and NaN."""
_PATH, _REFERENCED = 100, 143
_SPEC_ID_DIGITS = 9
DELETE_FILE_PATH = 2_147_483_546
"""Field id of the path column in a position delete file (MetadataColumns.DELETE_FILE_PATH)."""
_TEXTS_KEPT = 8_192
"""Partition texts cached per layout, for all of its manifests."""
_PUFFIN = 6 << 56 | int.from_bytes(b"PUFFIN\0", "big")

# Field ids of the Iceberg spec; names for writers that left the ids out.
_FILE = (
    WantedField(_CONTENT, ("content",)),
    WantedField(_FORMAT, ("file_format",), "tag"),
    WantedField(_PARTITION, ("partition",), "group"),
    WantedField(_RECORDS, ("record_count",)),
    WantedField(_SIZE, ("file_size_in_bytes",)),
    WantedField(_CONTENT_SIZE, ("content_size_in_bytes",)),
)
_PATHS = (WantedField(_PATH, ("file_path",), "bytes"), WantedField(_REFERENCED, ("referenced_data_file",), "bytes"))
_BOUNDS = (WantedField(_LOWER, ("lower_bounds",), "bound"), WantedField(_UPPER, ("upper_bounds",), "bound"))
_TOTALS = (
    WantedField(_VALUES, ("value_counts",), "added", measure=0),
    WantedField(_NULLS, ("null_value_counts",), "added", measure=1),
    WantedField(_NANS, ("nan_value_counts",), "added", measure=2),
    WantedField(_LOWER, ("lower_bounds",), "least"),
    WantedField(_UPPER, ("upper_bounds",), "greatest"),
)


class _Layout(NamedTuple):
    """What a manifest's header declares about its entries. `text`: a partition's bytes as text; `values`: as values."""

    plan: Plan
    text: Callable[[bytes], str]
    values: Callable[[bytes], tuple[Any, ...]]
    bound_type: str | None
    paths: bool


@as_damage
def decode_manifest(
    content: bytes,
    manifest: ManifestFile,
    *,
    bounds_of: int | None,
    paths: bool = False,
    values: bool = False,
    totals: KeyedTotals | None = None,
) -> Entries:
    """The entries of one manifest as columns, with the bounds of the column of field id `bounds_of`. With `paths`,
    delete files are scoped by the bounds of DELETE_FILE_PATH; for delete manifests, `bounds_of` must be it. `values`:
    also those of the partitions. `totals`: of columns by field id, over added entries.
    Raises MetadataError: manifest_unreadable, manifest_implausible, avro_damaged, avro_codec_unknown, avro_too_large.
    """
    container = open_container(content)
    layout = _layout_of(container, bounds_of, paths=paths, totals=totals is not None)
    names = _Names({}, {})
    parts = [
        _entries(chunk, layout, manifest, names, bounds_of=bounds_of)
        for chunk in read_chunks(container, layout.plan, -1 if bounds_of is None else bounds_of, totals)
    ]
    found = _joined(parts, list(names.texts), bounds=bounds_of is not None, paths=paths)
    known = names.values(layout.values) if values else None
    return found._replace(spec_id=_spec_id(container), partition_values=known)


def _spec_id(container: Container) -> int | None:
    text = container.header.get("partition-spec-id", b"")
    return int(text) if text.isdigit() and len(text) <= _SPEC_ID_DIGITS else None


class _Names(NamedTuple):
    """Partitions of a manifest: numbers by text, and by bytes already seen."""

    texts: dict[str, int]
    known: dict[bytes, int]

    def numbers(self, values: list[bytes], text: Callable[[bytes], str]) -> list[int]:
        for raw in values:
            if raw not in self.known:
                self.known[raw] = self.texts.setdefault(text(raw), len(self.texts))
        return list(map(self.known.__getitem__, values))

    def unpartitioned(self) -> int:
        return self.texts.setdefault("", len(self.texts))

    def values(self, of: Callable[[bytes], tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        """Values of each partition, by number; empty for the unpartitioned one."""
        found = {number: of(raw) for raw, number in self.known.items()}
        return [found.get(number, ()) for number in range(len(self.texts))]


def _entries(chunk: Chunk, layout: _Layout, manifest: ManifestFile, names: _Names, *, bounds_of: int | None) -> Entries:
    slot = layout.plan.slots.get
    # Several deletion vectors share a Puffin file: each counts with its own bytes, as in Iceberg's summaries.
    size = chunk.numbers(slot(_CONTENT_SIZE), chunk.numbers(slot(_SIZE), -1))
    status = _plausible(chunk.numbers(slot(_STATUS), -1), 2, "status", manifest)
    kind = _plausible(chunk.numbers(slot(_CONTENT), DATA), 2, "content", manifest)
    if manifest.deletes:
        kind = np.where(kind == DATA, POSITION_DELETES, kind)
    by_default = NO_SNAPSHOT if manifest.added_snapshot_id is None else manifest.added_snapshot_id
    return Entries(
        status=status.astype(np.int8),
        content=kind.astype(np.int8),
        is_dv=(kind == POSITION_DELETES) & (chunk.numbers(slot(_FORMAT), 0) == _PUFFIN),
        snapshot=chunk.numbers(slot(_SNAPSHOT), by_default),
        records=_plausible(chunk.numbers(slot(_RECORDS), -1), MAX_COUNT, "record_count", manifest),
        size=_plausible(size, MAX_FILE_BYTES, "size", manifest),
        partition=_partitions(chunk, layout, names),
        partitions=[],
        bounds=None if bounds_of is None else _bounds(chunk, layout),
        paths=_paths(chunk, layout, kind) if layout.paths else None,
    )


def _plausible(numbers: npt.NDArray[np.int64], most: int, what: str, manifest: ManifestFile) -> npt.NDArray[np.int64]:
    """The numbers, if all are from 0 to `most`; unknown ones are below 0."""
    # Viewed as unsigned, the negative numbers are the largest.
    if len(numbers) and numbers.view(np.uint64).max() > most:
        wrong = numbers.min() if numbers.min() < 0 else numbers.max()
        raise MetadataError("manifest_implausible", f"{manifest.path} has an entry of {what} {wrong}")
    return numbers


def _partitions(chunk: Chunk, layout: _Layout, names: _Names) -> npt.NDArray[np.int32]:
    slot = layout.plan.slots.get(_PARTITION)
    if slot is None:
        return np.full(len(chunk.rows), names.unpartitioned(), np.int32)
    numbers = np.array(names.numbers(chunk.values(), layout.text), np.int32)
    has = chunk.has(slot)
    if has.all():
        return numbers[chunk.rows[:, slot]]
    return np.where(has, numbers[np.where(has, chunk.rows[:, slot], 0)], names.unpartitioned())


def _bounds(chunk: Chunk, layout: _Layout) -> Bounds:
    found = []
    for field_id in (_LOWER, _UPPER):
        slot = layout.plan.slots.get(field_id)
        places = np.zeros((len(chunk.rows), 2), np.int64) if slot is None else chunk.rows[:, slot : slot + 2]
        found.append(bound_keys(layout.bound_type, chunk.body, places, chunk.has(slot)))
    return Bounds(*found)


def _paths(chunk: Chunk, layout: _Layout, kind: npt.NDArray[np.int64]) -> Paths:
    slot = layout.plan.slots.get
    is_position = kind == POSITION_DELETES
    target = np.zeros(len(kind), np.uint64)
    if is_position.any():
        lower, upper = chunk.hashes(slot(_LOWER)), chunk.hashes(slot(_UPPER))
        by_bounds = np.where(lower == upper, lower, target)
        scoped = np.where(chunk.has(slot(_REFERENCED)), chunk.hashes(slot(_REFERENCED)), by_bounds)
        target = np.where(is_position, scoped, target)
    return Paths(chunk.hashes(slot(_PATH)), target)


def _joined(parts: list[Entries], partitions: list[str], *, bounds: bool, paths: bool) -> Entries:
    if len(parts) == 1:
        return parts[0]._replace(partitions=partitions)
    found = [part.bounds for part in parts if part.bounds]
    scoped = [part.paths for part in parts if part.paths]
    hashes = Paths(_column(np.uint64, (p.file for p in scoped)), _column(np.uint64, (p.target for p in scoped)))
    both = Bounds(KeyColumn.joined([one.lower for one in found]), KeyColumn.joined([one.upper for one in found]))
    return Entries(
        status=_column(np.int8, (part.status for part in parts)),
        content=_column(np.int8, (part.content for part in parts)),
        is_dv=_column(np.bool_, (part.is_dv for part in parts)),
        snapshot=_column(np.int64, (part.snapshot for part in parts)),
        records=_column(np.int64, (part.records for part in parts)),
        size=_column(np.int64, (part.size for part in parts)),
        partition=_column(np.int32, (part.partition for part in parts)),
        partitions=partitions,
        bounds=both if bounds else None,
        paths=hashes if paths else None,
    )


def _column(dtype: Any, parts: Iterable[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    return np.concatenate([np.zeros(0, dtype), *parts])


def _layout_of(container: Container, bounds_of: int | None, *, paths: bool, totals: bool) -> _Layout:
    header = container.header.get
    schema = header("schema", b"") if bounds_of is not None else b""
    return _layout(container.schema_text, header("partition-spec", b""), schema, bounds_of, paths=paths, totals=totals)


@lru_cache(maxsize=16)
def _layout(
    schema_text: bytes, spec_text: bytes, table_schema_text: bytes, bounds_of: int | None, *, paths: bool, totals: bool
) -> _Layout:
    """Cached for all manifests of one writer and spec: their headers are the same bytes."""
    schema = parse_schema(schema_text)
    data_file = find_field(schema, WantedField(_DATA_FILE, ("data_file",)))
    inner = bare(data_file["type"]) if data_file else None
    if not isinstance(inner, dict) or not isinstance(inner.get("fields"), list):
        raise MetadataError("manifest_unreadable", "the entries of a manifest have no data_file")
    bounds = _TOTALS if totals else () if bounds_of is None else _BOUNDS
    inside = _FILE + bounds + (_PATHS if paths else ())
    wanted = (
        WantedField(_STATUS, ("status",)),
        WantedField(_SNAPSHOT, ("snapshot_id",)),
        WantedField(_DATA_FILE, ("data_file",), inside=inside),
    )
    partition = find_field(inner, WantedField(_PARTITION, ("partition",)))
    values = _values(partition["type"] if partition else None)
    return _Layout(
        plan=compile_plan(schema, wanted, _MAP_KEYS, gate=_STATUS),
        text=_text(_spec_fields(spec_text), partition["type"] if partition else None, values),
        values=values,
        bound_type=None if bounds_of is None else column_type(_json(table_schema_text), bounds_of),
        paths=paths,
    )


def _values(kind: Any) -> Callable[[bytes], tuple[Any, ...]]:
    """Values of a partition from its bytes in a manifest, in the order of its fields; empty for no bytes, no record or
    no fields.
    """
    record = bare(kind)
    if not isinstance(record, dict) or not record.get("fields"):
        return lambda _raw: ()
    decoded = record_values({"fields": [{"name": "partition", "type": kind}]})

    def values(raw: bytes) -> tuple[Any, ...]:
        (found,) = decoded(raw)
        return tuple(found.values()) if found else ()

    return values


def _text(
    spec_fields: list[dict[str, Any]], kind: Any, values: Callable[[bytes], tuple[Any, ...]]
) -> Callable[[bytes], str]:
    """Text of a partition from its bytes in a manifest; empty if it has no values."""
    record = bare(kind)
    if not isinstance(record, dict) or not record.get("fields"):
        return lambda _raw: ""
    names = partition_text(spec_fields, record)

    @lru_cache(maxsize=_TEXTS_KEPT)
    def text(raw: bytes) -> str:
        found = values(raw)
        return names(found) if found else ""

    return text


def _spec_fields(text: bytes) -> list[dict[str, Any]]:
    found = _json(text)
    fields = found.get("fields", []) if isinstance(found, dict) else found
    return [field for field in fields if isinstance(field, dict)] if isinstance(fields, list) else []


def _json(text: bytes) -> Any:
    try:
        return msgspec.json.decode(text) if text else {}
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}
