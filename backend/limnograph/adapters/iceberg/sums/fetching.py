"""Fetches and decodes unread manifests a few at a time, sums them up and stores the sums in the cache."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple

from limnograph.adapters.iceberg.manifests.entries import ADDED, Entries
from limnograph.adapters.iceberg.manifests.manifest import DELETE_FILE_PATH, decode_manifest
from limnograph.adapters.iceberg.sums.cache import TableCache
from limnograph.adapters.iceberg.sums.column_totals import MOST_MANIFESTS, ColumnTotals
from limnograph.adapters.iceberg.sums.file_columns import ManifestFiles, file_columns, scoped_deletes
from limnograph.adapters.iceberg.sums.sums import ManifestSums, sum_entries
from limnograph.adapters.iceberg.sums.table_sums import Line
from limnograph.domain.errors import MetadataError, SourceError
from limnograph.domain.metadata.manifests import MANY_MANIFESTS, ManifestFile
from limnograph.domain.metadata.table import TableMetadata
from limnograph.ports.storage import Storage

MAX_AVRO_BYTES = 1 << 30
"""Maximum bytes of a manifest list or manifest."""
_THREADS = min(4, os.cpu_count() or 1)
"""Threads are useful because the kernel and the codecs release the GIL."""
_AT_ONCE = 32
"""Manifests per write to the cache: a killed reader loses at most this many."""
_PLACE_LENGTH, _DETAIL_LENGTH = 200, 300

_ENDINGS = {"file_missing": "missing", "storage_unavailable": "unavailable", "location_refused": "refused"}


def code_of(what: str, error: MetadataError) -> str:
    """Problem code of an unreadable file: `manifest_missing`, …; any other error is `unreadable`."""
    return f"{what}_{_ENDINGS.get(error.code, 'unreadable')}"


def detail_of(path: str, error: MetadataError) -> str:
    """The file, and its damage if the code does not name it, cut to the length of a sentence."""
    place = path if len(path) <= _PLACE_LENGTH else f"...{path[-_PLACE_LENGTH:]}"
    return place if error.code in _ENDINGS else f"{place} ({error.detail[:_DETAIL_LENGTH]})"


class Damage(NamedTuple):
    """A permanently damaged manifest: problem code, and a sentence about it."""

    code: str
    detail: str


Read = tuple[ManifestSums, ManifestFiles | None]


class FetchedManifests(NamedTuple):
    """Result of a fetch.

    problems  codes of permanently damaged manifests, without repetition
    details   one sentence per code, about the first such manifest
    notes     damage of manifests whose sums are already cached, so that only the shape lacks them
    wrote     whether the cache gained anything
    """

    problems: tuple[str, ...]
    details: dict[str, str]
    notes: tuple[str, ...]
    wrote: bool


class ManifestFetcher:
    """Adds missing manifests to a table's cache. Remembers damage while the same metadata is read. More than `most`
    manifests (0: unlimited) are left to many readers.
    """

    def __init__(self, storage: Storage, most: int = 0) -> None:
        self._storage, self._most = storage, most
        self._metadata: TableMetadata | None = None
        self._damaged: dict[Line, Damage] = {}

    def complete(
        self,
        table: TableCache,
        metadata: TableMetadata,
        manifests: Sequence[ManifestFile],
        lines: Sequence[Line],
        *,
        keep: bool,
        files: bool,
        columns: ColumnTotals | None = None,
    ) -> FetchedManifests:
        """Afterwards `table` has all of these manifests that are not damaged. `keep`: also keep their file columns;
        `files`: they are needed now. `columns`: takes totals of the manifests that are read. Raises SourceError after
        storing what it read so far; MetadataError (MANY_MANIFESTS) before it reads any.
        """
        if metadata is not self._metadata:
            self._metadata, self._damaged = metadata, {}
        by_line = dict(zip(lines, manifests, strict=True))
        absent = table.unknown(by_line, files=files)
        if absent:
            table.recall(absent, files=files)
            absent = [line for line in absent if not table.knows(line, files=files) and line not in self._damaged]
        if 0 < self._most < len(absent):
            raise MetadataError(MANY_MANIFESTS, f"{len(absent)} manifests are new")
        work = Work(self._storage, table.small_below, table.bounds_of, keep, columns)
        for start in range(0, len(absent), _AT_ONCE):
            self._learn(table, work, [by_line[line] for line in absent[start : start + _AT_ONCE]], absent[start:])
        damaged = [line for line in by_line if line in self._damaged] if self._damaged else []
        details: dict[str, str] = {}
        for line in damaged:
            if line not in table.sums:
                details.setdefault(*self._damaged[line])
        notes = dict.fromkeys(self._damaged[line].code for line in damaged if line in table.sums)
        return FetchedManifests(tuple(details), details, tuple(notes) if files else (), wrote=bool(absent))

    def complete_columns(self, columns: ColumnTotals, manifests: Sequence[ManifestFile]) -> bool:
        """Read the manifests of the snapshot again whose sums were in the cache. False: one is damaged, or there are
        too many. Raises SourceError.
        """
        missing = columns.missing(manifests)
        if len(missing) > MOST_MANIFESTS:
            return False
        try:
            for result in Work(self._storage, 0, None, keep=False, columns=columns).results(missing):
                result()
        except MetadataError:
            return False
        return True

    def _learn(self, table: TableCache, work: Work, manifests: Sequence[ManifestFile], lines: Sequence[Line]) -> None:
        learnt: list[tuple[Line, ManifestSums, ManifestFiles | None]] = []
        failed: SourceError | None = None
        for line, result in zip(lines, work.results(manifests), strict=False):
            try:
                learnt.append((line, *result()))
            except MetadataError as error:
                self._damaged[line] = Damage(code_of("manifest", error), detail_of(line.path, error))
            except SourceError as error:
                failed = failed or error
        table.learn(learnt)
        if failed is not None:
            raise failed


class Work(NamedTuple):
    """Reads manifests."""

    storage: Storage
    small_below: int
    bounds_of: int | None
    keep: bool
    columns: ColumnTotals | None = None

    def results(self, manifests: Sequence[ManifestFile]) -> Iterator[Callable[[], Read]]:
        """One result per manifest, in order. Several are read at once; a single one does not need a thread."""
        if len(manifests) <= 1:
            yield from (partial(self.read, manifest) for manifest in manifests)
            return
        with ThreadPoolExecutor(min(_THREADS, len(manifests))) as pool:
            yield from [pool.submit(self.read, manifest).result for manifest in manifests]

    def read(self, manifest: ManifestFile) -> Read:
        content = self.storage.read(manifest.path, MAX_AVRO_BYTES)
        totals = None if self.columns is None else self.columns.begin(manifest)
        bounds_of = None if not self.keep else DELETE_FILE_PATH if manifest.deletes else self.bounds_of
        entries = decode_manifest(content, manifest, bounds_of=bounds_of, paths=self.keep, totals=totals)
        if self.columns is not None and totals is not None:
            self.columns.put(manifest, totals, int((entries.status == ADDED).sum()))
        sums = sum_entries(entries, self.small_below, spec_id_of(manifest, entries), len(content))
        if not self.keep:
            return sums, None
        return sums, scoped_deletes(entries) if manifest.deletes else file_columns(entries)


def spec_id_of(manifest: ManifestFile, entries: Entries) -> int:
    """Spec id from the manifest list; without a list (format v1), from the manifest's own header."""
    listed = manifest.length is not None or manifest.added_snapshot_id is not None
    return manifest.spec_id if listed or entries.spec_id is None else entries.spec_id
