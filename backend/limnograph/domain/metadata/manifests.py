"""Manifests and their distribution to readers in groups; the histogram of file sizes for every format."""

from __future__ import annotations

from bisect import bisect_right

import msgspec

from limnograph.domain.facts.meta_tables import HISTOGRAM_EDGES

PartitionKey = tuple[int, str]
"""`(spec id, partition as text)`."""
MANY_MANIFESTS = "many_manifests"
"""Internal code: the table has too many new manifests for one reader, so several share them. It appears in no row."""
GROUP_MANIFESTS, GROUP_BYTES = 128, 16 * 2**20
"""Size of a group in manifests and in bytes, such that a slow store serves it within a table's deadline."""


class ManifestFile(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An entry of a manifest list. Counts are None if the writer omitted them (format v1)."""

    path: str
    length: int | None = None
    spec_id: int = 0
    deletes: bool = False
    added_snapshot_id: int | None = None
    added_files: int | None = None
    existing_files: int | None = None
    deleted_files: int | None = None
    added_rows: int | None = None
    existing_rows: int | None = None
    deleted_rows: int | None = None


class ManifestWork(msgspec.Struct, frozen=True):
    """Manifests to read, and the parameters of their numbers. `cache`: name of the table's file in the cache. `keep`:
    whether to include columns of single files.
    """

    cache: str
    small_below: int
    bounds_of: int | None
    keep: bool
    manifests: list[ManifestFile]


class CacheRow(msgspec.Struct, frozen=True):
    """An entry of the cache."""

    kind: str
    key: bytes
    value: bytes


def grouped(work: ManifestWork) -> list[ManifestWork]:
    """The work, split into groups of at most GROUP_MANIFESTS and GROUP_BYTES."""
    found: list[list[ManifestFile]] = []
    weight = GROUP_BYTES
    for manifest in work.manifests:
        if weight + (manifest.length or 0) > GROUP_BYTES or len(found[-1]) >= GROUP_MANIFESTS:
            found.append([])
            weight = 0
        found[-1].append(manifest)
        weight += manifest.length or 0
    return [msgspec.structs.replace(work, manifests=manifests) for manifests in found]


def size_bin(size_bytes: int) -> int:
    """Bin of a file size in the histogram; an edge belongs to the higher bin."""
    return bisect_right(HISTOGRAM_EDGES, size_bytes)


def percentile_bin(histogram: list[int], share: float) -> int:
    """Bin at which `share` of the files is reached; the first bin if there are no files."""
    rank, seen = share * sum(histogram), 0
    for index, count in enumerate(histogram):
        seen += count
        if count and seen >= rank:
            return index
    return 0


def histogram_percentile(histogram: list[int], share: float) -> int | None:
    """The percentile `share` of file sizes in bytes, interpolated within its bin; None without files."""
    files = sum(histogram)
    if not files:
        return None
    index = percentile_bin(histogram, share)
    low: int = HISTOGRAM_EDGES[index - 1] if index else 0
    high: int = HISTOGRAM_EDGES[index] if index < len(HISTOGRAM_EDGES) else 2 * low
    return round(low + (high - low) * (share * files - sum(histogram[:index])) / histogram[index])
