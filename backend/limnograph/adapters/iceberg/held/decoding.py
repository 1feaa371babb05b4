"""What held bytes need of a manifest list and of a manifest: paths as hashes, and sizes of live files."""

from __future__ import annotations

from collections.abc import Container, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from limnograph.adapters.avro.columns import Chunk, read_chunks
from limnograph.adapters.avro.container import open_container, parse_schema
from limnograph.adapters.avro.kernel import hash_places
from limnograph.adapters.avro.plan import Plan, WantedField, bare, compile_plan, find_field
from limnograph.adapters.iceberg.manifests.damage import as_damage
from limnograph.adapters.iceberg.manifests.entries import DELETED
from limnograph.adapters.iceberg.manifests.manifest import MAX_FILE_BYTES
from limnograph.domain.errors import MetadataError

# Field ids of the Iceberg spec; names for writers that left the ids out.
STATUS, PATH, SIZE, OFFSET, CONTENT_SIZE = 0, 100, 104, 144, 145
_DATA_FILE, _MANIFEST_PATH = 2, 500
_MANIFEST = (WantedField(_MANIFEST_PATH, ("manifest_path",), "bytes"),)
FILE = (
    WantedField(PATH, ("file_path",), "bytes"),
    WantedField(SIZE, ("file_size_in_bytes",)),
    WantedField(OFFSET, ("content_offset",)),
    WantedField(CONTENT_SIZE, ("content_size_in_bytes",)),
)
_MIX = np.uint64(0x9E37_79B9_7F4A_7C15)

Words = npt.NDArray[np.uint64]


class FileSizes(NamedTuple):
    """Live files of a manifest. `identity`: hash of the path; of a deletion vector, of the path and its offset."""

    identity: Words
    size: npt.NDArray[np.int64]


@as_damage
def listed_paths(content: bytes, known: Container[int]) -> tuple[Words, dict[int, str]]:
    """Hashes of the manifests' paths in a manifest list, and the paths whose hash is not among the known ones.

    Raises MetadataError: manifest_list_implausible, avro_…
    """
    container = open_container(content)
    plan = _list_plan(container.schema_text)
    slot = plan.slots.get(_MANIFEST_PATH)
    hashes, paths = [np.zeros(0, np.uint64)], dict[int, str]()
    for chunk in read_chunks(container, plan):
        if slot is None or not chunk.has(slot).all():
            raise MetadataError("manifest_list_implausible", "an entry without a path")
        found = chunk.hashes(slot)
        hashes.append(found)
        for row, number in enumerate(found.tolist()):
            if number not in known and number not in paths:
                offset, size = chunk.rows[row, slot : slot + 2].tolist()
                paths[number] = chunk.body[offset : offset + size].tobytes().decode()
    return np.concatenate(hashes), paths


def path_hashes(paths: Sequence[str]) -> Words:
    """Hashes of paths, the same as in `listed_paths`."""
    texts = [path.encode() for path in paths]
    ends = np.cumsum([0, *map(len, texts)])
    found = np.zeros(len(texts), np.uint64)
    places = np.ascontiguousarray(np.stack([ends[:-1], np.diff(ends)], axis=1))
    hash_places(np.frombuffer(b"".join(texts), np.uint8), places, found)
    return found


@as_damage
def live_files(content: bytes, path: str) -> FileSizes:
    """Live files of the manifest at `path`. Raises MetadataError: manifest_implausible, manifest_unreadable, avro_…"""
    container = open_container(content)
    plan = entry_plan(container.schema_text, FILE)
    parts = [_live(chunk, plan, path) for chunk in read_chunks(container, plan)]
    if len(parts) == 1:
        return parts[0]
    empty = FileSizes(np.zeros(0, np.uint64), np.zeros(0, np.int64))
    return FileSizes(*(np.concatenate(column) for column in zip(empty, *parts, strict=True)))


def _live(chunk: Chunk, plan: Plan, path: str) -> FileSizes:
    slot = plan.slots.get
    status = chunk.numbers(slot(STATUS), -1)
    size = chunk.numbers(slot(CONTENT_SIZE), chunk.numbers(slot(SIZE), -1))
    if not chunk.has(slot(PATH)).all() or outside(status, DELETED) or outside(size, MAX_FILE_BYTES):
        raise MetadataError("manifest_implausible", f"{path} has an entry without a path, a status or a size")
    identity, blob = chunk.hashes(slot(PATH)), chunk.has(slot(OFFSET))
    if blob.any():
        offset = chunk.numbers(slot(OFFSET), 0).astype(np.uint64) + np.uint64(1)
        identity ^= np.where(blob, offset * _MIX, np.uint64(0))
    live = status != DELETED
    return FileSizes(identity[live], size[live])


def outside(numbers: npt.NDArray[np.int64], most: int) -> bool:
    """Whether one of the numbers is not from 0 to `most`."""
    return bool(numbers.size) and not 0 <= int(numbers.min()) <= int(numbers.max()) <= most


@lru_cache(maxsize=8)
def _list_plan(schema_text: bytes) -> Plan:
    return compile_plan(parse_schema(schema_text), _MANIFEST)


@lru_cache(maxsize=16)
def entry_plan(schema_text: bytes, wanted: tuple[WantedField, ...]) -> Plan:
    """Program that reads the status of each entry and these fields of its file. Raises MetadataError."""
    schema = parse_schema(schema_text)
    data_file = find_field(schema, WantedField(_DATA_FILE, ("data_file",)))
    if data_file is None or not isinstance(bare(data_file["type"]), dict):
        raise MetadataError("manifest_unreadable", "the entries of a manifest have no data_file")
    file = WantedField(_DATA_FILE, ("data_file",), inside=wanted)
    return compile_plan(schema, (WantedField(STATUS, ("status",)), file))
