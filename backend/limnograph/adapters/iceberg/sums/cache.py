"""Cache of manifest sums: in memory for recently read tables, and in one file per table on disk."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from threading import Lock, RLock
from typing import Any, NamedTuple, TypeVar

from limnograph.adapters.iceberg.sums.cache_codec import (
    key_of,
    opened,
    pack_files,
    pack_sums,
    sealed,
    unpack_files,
    unpack_sums,
)
from limnograph.adapters.iceberg.sums.cache_file import CacheFile, file_of, iceberg_folder, trim
from limnograph.adapters.iceberg.sums.file_columns import ManifestFiles
from limnograph.adapters.iceberg.sums.sums import ManifestSums
from limnograph.adapters.iceberg.sums.table_sums import Line, TableSums
from limnograph.domain.ids import normalise_location
from limnograph.domain.metadata.table import TableMetadata

_T = TypeVar("_T")
MEMORY_BYTES = 128 * 2**20
"""Budget per process; a child process may have 512 MB resident in total."""
FOLDER_BYTES = 4 * 2**30
"""Budget of the folder: about 5,000 tables of 2,000 manifests."""
_TRIM_EVERY = 256
"""Writes between two checks of the folder's size."""


class Key(NamedTuple):
    """A table, and the parameters of its numbers: the size below which files are small, and the field of overlap."""

    name: str
    small_below: int
    bounds_of: int | None


class TableCache:
    """One table's manifests. Hold `lock` while using it.

    Two manifests are the same if their lines agree (`lines_of`). `small_below` and the field of the bounds define the
    meaning of the numbers, so other values have separate rows.
    """

    def __init__(self, key: Key, file: CacheFile | None) -> None:
        self.key, self.small_below, self.bounds_of = key, key.small_below, key.bounds_of
        self.lock = RLock()
        self.sums = TableSums()
        self.files: dict[Line, ManifestFiles] = {}
        self._file_bytes = 0
        self._file = file

    @property
    def nbytes(self) -> int:
        """Bytes of memory."""
        return self.sums.nbytes + self._file_bytes

    def knows(self, line: Line, *, files: bool) -> bool:
        """Whether memory holds a manifest's sums; with `files`, also its file columns."""
        return line in self.sums and (not files or line in self.files)

    def unknown(self, lines: Iterable[Line], *, files: bool) -> list[Line]:
        """The given manifests that memory lacks, in order."""
        if files:
            return [line for line in lines if not self.knows(line, files=True)]
        return self.sums.absent(lines)

    def recall(self, lines: Iterable[Line], *, files: bool) -> None:
        """Load these manifests from the file into memory; `files`: their file columns too."""
        if self._file is None:
            return
        absent = [line for line in dict.fromkeys(lines) if line not in self.sums]
        for line, sums in _found(self._file, "sums", {line: self._sums_key(line) for line in absent}, unpack_sums):
            self.sums.add(line, sums)
        if files:
            absent = [line for line in dict.fromkeys(lines) if line not in self.files]
            keys = {line: self._files_key(line) for line in absent}
            for line, columns in _found(self._file, "files", keys, unpack_files):
                self._hold(line, columns)

    def learn(self, learnt: Sequence[tuple[Line, ManifestSums, ManifestFiles | None]]) -> None:
        """Add newly read manifests, in memory and in the file."""
        for line, sums, columns in learnt:
            self.sums.add(line, sums)
            if columns is not None:
                self._hold(line, columns)
        if self._file is None or not learnt:
            return
        self._file.put(sealed_rows(learnt, self.small_below, self.bounds_of))

    def forget_others(self, lines: Sequence[Line]) -> None:
        """Keep only these manifests in memory."""
        self.sums.forget_others(lines)
        kept = set(lines)
        self.files = {line: columns for line, columns in self.files.items() if line in kept}
        self._file_bytes = sum(columns.nbytes for columns in self.files.values())

    def drop_files(self) -> None:
        """Evict all file columns from memory."""
        self.files, self._file_bytes = {}, 0

    def prune(self, lines: Sequence[Line]) -> None:
        """Prune the file of manifests that the latest snapshot does not list, once they are the majority."""
        if self._file is not None:
            keys = {
                "sums": lambda: list(map(self._sums_key, lines)),
                "files": lambda: list(map(self._files_key, lines)),
            }
            self._file.prune(len(lines), keys)

    def _hold(self, line: Line, columns: ManifestFiles) -> None:
        if line not in self.files:
            self.files[line] = columns
            self._file_bytes += columns.nbytes

    def _sums_key(self, line: Line) -> bytes:
        return _sums_key(line, self.small_below)

    def _files_key(self, line: Line) -> bytes:
        return _files_key(line, self.bounds_of)


def sealed_rows(
    learnt: Iterable[tuple[Line, ManifestSums, ManifestFiles | None]], small_below: int, bounds_of: int | None
) -> dict[str, dict[bytes, bytes]]:
    """Manifests as values of a table's file, by kind and key."""
    rows: dict[str, dict[bytes, bytes]] = {"sums": {}, "files": {}}
    for line, sums, columns in learnt:
        key = _sums_key(line, small_below)
        rows["sums"][key] = sealed(key, pack_sums(sums))
        if columns is not None:
            key = _files_key(line, bounds_of)
            rows["files"][key] = sealed(key, pack_files(columns))
    return rows


def _sums_key(line: Line, small_below: int) -> bytes:
    return key_of("sums", small_below, *line)


def _files_key(line: Line, bounds_of: int | None) -> bytes:
    return key_of("files", bounds_of, *line)


def _found(
    file: CacheFile, kind: str, keys: dict[Line, bytes], unpack: Callable[[list[Any]], _T]
) -> Iterable[tuple[Line, _T]]:
    values = file.get(kind, list(keys.values()))
    for line, key in keys.items():
        parts = opened(key, values[key]) if key in values else None
        if parts is not None:
            yield line, unpack(parts)


class ManifestCache:
    """Shared by all readers of a process. `folder` None: memory only."""

    def __init__(
        self, folder: Path | None = None, *, memory_bytes: int = MEMORY_BYTES, folder_bytes: int = FOLDER_BYTES
    ) -> None:
        self._folder, self._memory, self._folder_bytes = folder, memory_bytes, folder_bytes
        self._tables: OrderedDict[Key, TableCache] = OrderedDict()
        self._weights: dict[Key, int] = {}
        self._weight = 0
        self._lock = Lock()
        self._writes = 0

    def table(self, metadata: TableMetadata, bounds_of: int | None) -> TableCache:
        """The cache of one table. Tables are distinguished by uuid, location and metadata folder, so that a table that
        claims another's identity shares nothing with it.
        """
        home = normalise_location(metadata.metadata_location).rpartition("/")[0]
        name = hashlib.sha256(f"{metadata.table_uuid}\n{metadata.location}\n{home}".encode()).hexdigest()[:32]
        small_below = metadata.targets.small_below if metadata.targets else 0
        key = Key(name, small_below, bounds_of)
        with self._lock:
            if key not in self._tables:
                file = None if self._folder is None else CacheFile(file_of(self._folder, name))
                self._tables[key] = TableCache(key, file)
            self._tables.move_to_end(key)
            return self._tables[key]

    def settle(self, table: TableCache, lines: Sequence[Line], *, wrote: bool) -> None:
        """Enforce the budgets after a read of `table` whose live manifests are `lines`. Hold its lock."""
        if table.nbytes > self._memory // 2:
            table.forget_others(lines)
        if table.nbytes > self._memory // 2:
            table.drop_files()
        self._weigh(table)
        if wrote:
            table.prune(lines)
            self._trim()

    def _weigh(self, table: TableCache) -> None:
        """Evict the least recently read tables. A table evicted while being read is not kept."""
        with self._lock:
            if self._tables.get(table.key) is table:
                self._weight += table.nbytes - self._weights.get(table.key, 0)
                self._weights[table.key] = table.nbytes
            while self._weight > self._memory and len(self._tables) > 1:
                key, _ = self._tables.popitem(last=False)
                self._weight -= self._weights.pop(key, 0)

    def _trim(self) -> None:
        """Check the folder's size at this process's first write, then periodically."""
        if self._folder is not None and self._writes % _TRIM_EVERY == 0:
            trim(self._folder, self._folder_bytes)
        self._writes += 1


@lru_cache(maxsize=4)
def shared_cache(folder: str) -> ManifestCache:
    """The shared cache of this process, over `[cache] dir`; empty: memory only."""
    return ManifestCache(iceberg_folder(folder) if folder else None)
