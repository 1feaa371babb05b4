"""Bytes of a table by what reaches them: every retained snapshot's manifest list, every distinct manifest once.

Cost law: lists are read one by one; manifests, and their live entries, once each, however many snapshots list them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

import numpy as np

from limnograph.adapters.iceberg.held.decoding import FileSizes, listed_paths, live_files, path_hashes
from limnograph.adapters.iceberg.metadata.snapshots import left_out
from limnograph.adapters.iceberg.sums.fetching import MAX_AVRO_BYTES, code_of, detail_of
from limnograph.analysis.held import Reach, ReachedFiles, held_sums, other_refs, snapshot_reaches
from limnograph.domain.advice.document import NotKnown, TableBytes
from limnograph.domain.advice.reading import HeldReading
from limnograph.domain.errors import MetadataError
from limnograph.domain.metadata.table import TableMetadata
from limnograph.domain.time import Millis
from limnograph.ports.storage import Storage

_T = TypeVar("_T")
RULE = "held_bytes"
MAX_FILES = 3_000_000
"""Maximum distinct files: they take 350 MB while they are added up, and a parser child may have 512 MB."""
_MAX_SUM = 2.0**62
_THREADS = min(4, os.cpu_count() or 1)
_AT_ONCE = 32
_PHRASES = {
    "manifest_list_missing": "a manifest list of a retained snapshot is missing",
    "manifest_list_refused": "a manifest list of a retained snapshot is outside the locations that the table may name",
    "manifest_list_unreadable": "a manifest list of a retained snapshot is damaged",
    "manifest_missing": "a manifest of a retained snapshot is missing",
    "manifest_refused": "a manifest of a retained snapshot is outside the locations that the table may name",
    "manifest_unreadable": "a manifest of a retained snapshot is damaged",
}


class _Unknown(Exception):
    """The sums cannot be known, with the reason as a phrase."""


def held_bytes(storage: Storage, metadata: TableMetadata, now: Millis) -> TableBytes | NotKnown:
    """Bytes of an Iceberg table at `now` (for ages). NotKnown, with the reason, unless every retained snapshot could be
    read: never a partial sum. Raises SourceError if storage does not respond.

    A file is identified by its path, a deletion vector by the path and offset of its blob. `by_age` follows
    `expire_snapshots` with `retain_last` 1: a snapshot older than the age expires unless it is the current snapshot of
    a branch or tag. Retention of single refs, which may keep more or remove the ref itself, is not applied. `metadata`
    counts the current metadata file, and every retained manifest list and manifest once; older metadata files are not
    counted, because their sizes are known only from a listing.
    """
    found = held_and_freed(storage, metadata, now, frozenset())
    return found if isinstance(found, NotKnown) else found.bytes


def held_and_freed(
    storage: Storage, metadata: TableMetadata, now: Millis, expiring: frozenset[int]
) -> HeldReading | NotKnown:
    """The same, with the bytes that would be freed if the snapshots `expiring` expired."""
    try:
        return _bytes(storage, metadata, now, expiring)
    except _Unknown as reason:
        return NotKnown(rule=RULE, missing=str(reason))


def _bytes(storage: Storage, metadata: TableMetadata, now: Millis, expiring: frozenset[int]) -> HeldReading:
    _check(metadata)
    manifests, paths, metadata_bytes = ReachedFiles(), dict[int, str](), metadata.size_bytes
    for place, reach in _lists(metadata, expiring).items():
        if isinstance(place, str):
            content = _read(storage, "manifest_list", place)
            metadata_bytes += len(content)
            hashes, new = _decoded("manifest_list", place, partial(listed_paths, content, paths))
        else:
            hashes = path_hashes(place)
            new = dict(zip(hashes.tolist(), place, strict=True))
        paths |= new
        manifests.add(hashes, np.zeros(hashes.size, np.int64), reach)
    listed = manifests.files()
    files, total = ReachedFiles(), 0.0
    for row, (content_bytes, found) in enumerate(_contents(storage, [paths[n] for n in listed.identity.tolist()])):
        metadata_bytes += content_bytes
        total += found.size.sum(dtype=np.float64)
        files.add(*found, listed.reach(row))
        if files.folded > MAX_FILES:
            raise _Unknown(f"the retained snapshots have more than {MAX_FILES:,} files")
    if total > _MAX_SUM:
        raise _Unknown("sizes of the files add up to more than 64 bits")
    times = [snapshot.timestamp_ms for snapshot in metadata.snapshots.values() if snapshot.timestamp_ms is not None]
    sums = held_sums(files.files(), other_refs(metadata), min(times, default=None), now)
    known = TableBytes(live=sums.live, held=sums.held, metadata=metadata_bytes, by_ref=sums.by_ref, by_age=sums.by_age)
    return HeldReading(bytes=known, freed=sums.freed)


def _check(metadata: TableMetadata) -> None:
    if reason := left_out(metadata.problems):
        raise _Unknown(f"the metadata is damaged: {reason}")
    for name, ref in metadata.refs.items():
        if ref.snapshot_id not in metadata.snapshots:
            kind = "branch" if ref.type == "branch" else "tag"
            raise _Unknown(f"the snapshot of {kind} {name} is not in the metadata")


def _lists(metadata: TableMetadata, expiring: frozenset[int]) -> dict[str | tuple[str, ...], Reach]:
    """Manifest lists, or manifests that the metadata itself lists (format v1), with all snapshots that have them."""
    found: dict[str | tuple[str, ...], Reach] = {}
    for snapshot_id, reach in snapshot_reaches(metadata, expiring).items():
        snapshot = metadata.snapshots[snapshot_id]
        place = snapshot.manifests if snapshot.manifest_list is None else snapshot.manifest_list
        if place is None:
            raise _Unknown(f"retained snapshot {snapshot_id} has no manifest list")
        found[place] = found[place].joined(reach) if place in found else reach
    return found


def _contents(storage: Storage, paths: Sequence[str]) -> Iterator[tuple[int, FileSizes]]:
    """Length and live files of each manifest, in order. Several are read at once; a single one needs no thread."""
    if len(paths) <= 1:
        yield from (_content(storage, path) for path in paths)
        return
    with ThreadPoolExecutor(min(_THREADS, len(paths))) as pool:
        for start in range(0, len(paths), _AT_ONCE):
            yield from pool.map(partial(_content, storage), paths[start : start + _AT_ONCE])


def _content(storage: Storage, path: str) -> tuple[int, FileSizes]:
    content = _read(storage, "manifest", path)
    return len(content), _decoded("manifest", path, partial(live_files, content, path))


def _read(storage: Storage, what: str, path: str) -> bytes:
    return _decoded(what, path, partial(storage.read, path, MAX_AVRO_BYTES))


def _decoded(what: str, path: str, read: Callable[[], _T]) -> _T:
    try:
        return read()
    except MetadataError as error:
        code = code_of(what, error)
        raise _Unknown(f"{_PHRASES[code]}: {detail_of(path, error)}") from error
