"""Live files of one manifest: their number and bytes, the largest ones, and the paths of all."""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np

from limnograph.adapters.avro.columns import Chunk, read_chunks
from limnograph.adapters.avro.container import open_container
from limnograph.adapters.avro.plan import Plan, WantedField
from limnograph.adapters.iceberg.held.decoding import (
    CONTENT_SIZE,
    FILE,
    OFFSET,
    PATH,
    SIZE,
    STATUS,
    entry_plan,
    outside,
)
from limnograph.adapters.iceberg.manifests.damage import as_damage
from limnograph.adapters.iceberg.manifests.entries import DATA, DELETED, POSITION_DELETES
from limnograph.adapters.iceberg.manifests.manifest import MAX_COUNT, MAX_FILE_BYTES
from limnograph.domain.answers.storage import FileContent
from limnograph.domain.errors import MetadataError
from limnograph.domain.metadata.manifests import ManifestFile

_CONTENT, _RECORDS = 134, 103
_LISTED = (*FILE, WantedField(_CONTENT, ("content",)), WantedField(_RECORDS, ("record_count",)))
_KINDS: tuple[FileContent, ...] = ("data", "position_deletes", "equality_deletes")


class FoundFile(NamedTuple):
    """A live file; they sort by size, then path."""

    size: int
    path: str
    content: FileContent
    records: int


class ManifestListing(NamedTuple):
    """Live files of a manifest. `deletes`: whether it lists delete files."""

    files: int
    bytes: int
    largest: list[FoundFile]
    deletes: bool


@as_damage
def listed_files(content: bytes, manifest: ManifestFile, most: int) -> ManifestListing:
    """Live files of a manifest, with the `most` largest. Raises MetadataError: manifest_implausible, avro_…"""
    container = open_container(content)
    plan = entry_plan(container.schema_text, _LISTED)
    files = size = 0
    largest: list[FoundFile] = []
    deletes = manifest.deletes or container.header.get("content") == b"deletes"
    for chunk in read_chunks(container, plan):
        numbers = _Numbers(chunk, plan, manifest, deletes=deletes)
        files += numbers.live.size
        size += int(numbers.size[numbers.live].sum())
        largest = heapq.nlargest(most, [*largest, *numbers.largest(most)])
    return ManifestListing(files, size, largest, deletes)


@as_damage
def live_paths(content: bytes, manifest: ManifestFile) -> list[str]:
    """Paths of all live files of a manifest. Raises MetadataError: manifest_implausible, avro_…"""
    container = open_container(content)
    plan = entry_plan(container.schema_text, _LISTED)
    found: list[str] = []
    for chunk in read_chunks(container, plan):
        found += _Numbers(chunk, plan, manifest, deletes=manifest.deletes).paths()
    return found


class _Numbers:
    """Columns of a chunk. Raises MetadataError for impossible values."""

    def __init__(self, chunk: Chunk, plan: Plan, manifest: ManifestFile, *, deletes: bool) -> None:
        slot = plan.slots.get
        self._chunk, self._slot = chunk, plan.slots.get(PATH)
        status = chunk.numbers(slot(STATUS), -1)
        self.size = chunk.numbers(slot(CONTENT_SIZE), chunk.numbers(slot(SIZE), -1))
        self._records = chunk.numbers(slot(_RECORDS), -1)
        self._kind = chunk.numbers(slot(_CONTENT), POSITION_DELETES if deletes else DATA)
        self._blob = chunk.has(slot(OFFSET))
        bounded = ((status, DELETED), (self.size, MAX_FILE_BYTES), (self._records, MAX_COUNT), (self._kind, 2))
        if any(outside(numbers, most) for numbers, most in bounded):
            raise MetadataError("manifest_implausible", f"{manifest.path} has an entry with an impossible number")
        if not chunk.has(self._slot).all():
            raise MetadataError("manifest_implausible", f"{manifest.path} has an entry without a path")
        self.live = np.flatnonzero(status != DELETED)

    def largest(self, most: int) -> list[FoundFile]:
        order = np.argsort(self.size[self.live], kind="stable")[-most:]
        return [self._file(row) for row in self.live[order].tolist()]

    def paths(self) -> list[str]:
        return [self._path(row) for row in self.live.tolist()]

    def _path(self, row: int) -> str:
        assert self._slot is not None  # noqa: S101  # an entry without a path was refused
        offset, length = self._chunk.rows[row, self._slot : self._slot + 2].tolist()
        return self._chunk.body[offset : offset + length].tobytes().decode("utf-8", "replace")

    def _file(self, row: int) -> FoundFile:
        path = self._path(row)
        kind = "deletion_vector" if self._blob[row] else _KINDS[int(self._kind[row])]
        return FoundFile(int(self.size[row]), path, kind, int(self._records[row]))
