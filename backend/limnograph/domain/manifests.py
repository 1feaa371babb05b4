"""Manifests as Limnograph counts them: one line of a manifest list, and what the entries of one manifest add up to."""

from __future__ import annotations

from bisect import bisect_right

import msgspec

from limnograph.domain.facts import HISTOGRAM_EDGES

SMALL_NUMERATOR, SMALL_DENOMINATOR = 3, 4
"""A data file is small below three quarters of the target (Iceberg's planner)."""

PartitionKey = tuple[int, str]
"""`(spec id, partition as text)`."""


class ManifestFile(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a manifest list. Counts are None where the writer left them out (format v1)."""

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


class PartitionSum(msgspec.Struct):
    """Live files of one partition in one manifest. `writers`: snapshots that added the files."""

    data_files: int = 0
    delete_files: int = 0
    small_files: int = 0
    records: int = 0
    bytes: int = 0
    writers: set[int] = msgspec.field(default_factory=set)

    def add(self, other: PartitionSum) -> None:
        """Add another manifest's sum of the same partition."""
        self.data_files += other.data_files
        self.delete_files += other.delete_files
        self.small_files += other.small_files
        self.records += other.records
        self.bytes += other.bytes
        self.writers |= other.writers


class Delta(msgspec.Struct):
    """What one snapshot added and removed in one manifest. `touched`: per partition data files added, removed."""

    added_data_files: int = 0
    added_delete_files: int = 0
    added_records: int = 0
    added_bytes: int = 0
    added_delete_bytes: int = 0
    removed_data_files: int = 0
    removed_delete_files: int = 0
    removed_records: int = 0
    removed_bytes: int = 0
    removed_delete_bytes: int = 0
    touched: dict[PartitionKey, list[int]] = msgspec.field(default_factory=dict)

    def add(self, other: Delta) -> None:
        """Add the same snapshot's delta of another manifest."""
        for name in _DELTA_NUMBERS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for key, (added, removed) in other.touched.items():
            mine = self.touched.setdefault(key, [0, 0])
            mine[0] += added
            mine[1] += removed


_DELTA_NUMBERS = tuple(name for name in Delta.__struct_fields__ if name != "touched")


class ManifestSum(msgspec.Struct):
    """What the entries of one manifest add up to. Live = status is not deleted. Immutable once built."""

    data_files: int = 0
    records: int = 0
    bytes: int = 0
    small_files: int = 0
    delete_files: int = 0
    delete_bytes: int = 0
    position_deletes: int = 0
    equality_deletes: int = 0
    dvs: int = 0
    histogram: list[int] = msgspec.field(default_factory=lambda: [0] * (len(HISTOGRAM_EDGES) + 1))
    deltas: dict[int, Delta] = msgspec.field(default_factory=dict)
    partitions: dict[PartitionKey, PartitionSum] = msgspec.field(default_factory=dict)

    def add_totals(self, other: ManifestSum) -> None:
        """Add another manifest's live numbers; partitions and deltas stay out."""
        for name in _TOTALS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.histogram = [a + b for a, b in zip(self.histogram, other.histogram, strict=True)]


_TOTALS = tuple(name for name in ManifestSum.__struct_fields__ if name not in {"histogram", "deltas", "partitions"})


def size_bin(size_bytes: int) -> int:
    """Bin of a file size in the histogram; an edge belongs to the bin above it."""
    return bisect_right(HISTOGRAM_EDGES, size_bytes)


def is_small(size_bytes: int, target_bytes: int | None) -> bool:
    """Whether a data file is small against the target; never when the target is not known."""
    return target_bytes is not None and size_bytes * SMALL_DENOMINATOR < target_bytes * SMALL_NUMERATOR


def histogram_percentile(histogram: list[int], share: float) -> int | None:
    """Size (bytes) below which `share` of the files lie, interpolated in its bin; None without files."""
    files = sum(histogram)
    if not files:
        return None
    rank = share * files
    seen = 0
    for index, count in enumerate(histogram):
        if count and seen + count >= rank:
            low: int = HISTOGRAM_EDGES[index - 1] if index else 0
            high: int = HISTOGRAM_EDGES[index] if index < len(HISTOGRAM_EDGES) else 2 * low
            return round(low + (high - low) * (rank - seen) / count)
        seen += count
    return int(HISTOGRAM_EDGES[-1])
