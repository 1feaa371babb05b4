"""Sums over the entries of one manifest, as arrays: everything that later snapshots need of the manifest."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from limnograph.adapters.iceberg.manifests.entries import (
    ADDED,
    DATA,
    DELETED,
    EQUALITY_DELETES,
    LIVE_EXISTING,
    NO_SNAPSHOT,
    Entries,
)
from limnograph.domain.errors import MetadataError
from limnograph.domain.facts.meta_tables import HISTOGRAM_EDGES

Longs = npt.NDArray[np.int64]

TOTALS = (
    *("data_files", "records", "bytes", "small_files"),
    *("delete_files", "delete_bytes", "position_deletes", "equality_deletes", "dvs"),
)
"""First columns of `ManifestSums.totals`, followed by the bins of the histogram and CHECKS."""
CHECKS = ("added", "existing", "deleted", "length")
"""Entries by status, and bytes of the manifest: the values that its line in a manifest list also states."""
HISTOGRAM = slice(len(TOTALS), len(TOTALS) + len(HISTOGRAM_EDGES) + 1)
WIDTH = HISTOGRAM.stop + len(CHECKS)
LIVE = ("data_files", "delete_files", "small_files", "records", "bytes", "delete_bytes")
"""Columns of `Live.numbers`."""
DELTA = tuple(
    f"{way}_{what}" for way in ("added", "removed") for what in ("data_files", "delete_files", "records", "bytes")
)
"""Columns of `Deltas.numbers`."""
MAX_SUM = 2.0**62
"""Maximum sum, well below 64 bits: sizes of one file reach 2^50."""
_EDGES = np.array(HISTOGRAM_EDGES, np.int64)


class GroupedSums(NamedTuple):
    """One row per (partition, writer).

    numbers    one row per column of LIVE or DELTA
    partition  index into the manifest's partitions
    writer     snapshot that added (live) or added and removed (deltas) the files
    """

    partition: Longs
    writer: Longs
    numbers: Longs


class ManifestSums(NamedTuple):
    """Sums of one manifest.

    totals      TOTALS, the histogram over live files, CHECKS
    live        live files by partition and writer
    deltas      changes of each snapshot in this manifest
    partitions  texts of the partitions, of spec `spec_id`
    """

    totals: Longs
    live: GroupedSums
    deltas: GroupedSums
    partitions: list[str]
    spec_id: int


def sum_entries(entries: Entries, small_below: int, spec_id: int = 0, length: int = 0) -> ManifestSums:
    """Sum up one manifest of a partition spec and `length` bytes. Data files below `small_below` bytes are small.

    Raises MetadataError (`manifest_implausible`) if a sum exceeds 64 bits.
    """
    if max(entries.size.sum(dtype=np.float64), entries.records.sum(dtype=np.float64)) > MAX_SUM:
        raise MetadataError("manifest_implausible", "sizes or counts of its files add up to more than 64 bits")
    is_data = entries.content == DATA
    live = entries.status != DELETED
    small = is_data & (entries.size < small_below)
    changed = ((entries.status == ADDED) | (entries.status == DELETED)) & (entries.snapshot != NO_SNAPSHOT)
    return ManifestSums(
        totals=np.append(_totals(entries, live & is_data, live & ~is_data, small), _checks(entries, length)),
        live=_live(entries, live, is_data, small),
        deltas=_deltas(entries, changed, is_data),
        partitions=entries.partitions,
        spec_id=spec_id,
    )


def _checks(entries: Entries, length: int) -> Longs:
    by_status = np.bincount(entries.status, minlength=DELETED + 1)
    return np.array([*by_status[[ADDED, LIVE_EXISTING, DELETED]], length], np.int64)


def _totals(
    entries: Entries, data: npt.NDArray[np.bool_], deletes: npt.NDArray[np.bool_], small: npt.NDArray[np.bool_]
) -> Longs:
    sizes = entries.size[data]
    equality = deletes & (entries.content == EQUALITY_DELETES)
    position = deletes & ~equality
    histogram = np.bincount(np.searchsorted(_EDGES, sizes, side="right"), minlength=len(_EDGES) + 1)
    numbers = (
        *(sizes.size, entries.records[data].sum(), sizes.sum(), np.count_nonzero(small & data)),
        *(np.count_nonzero(deletes), entries.size[deletes].sum()),
        *(entries.records[position].sum(), entries.records[equality].sum()),
        np.count_nonzero(position & entries.is_dv),
    )
    return np.concatenate([np.array(numbers, np.int64), histogram.astype(np.int64)])


def _live(
    entries: Entries, live: npt.NDArray[np.bool_], is_data: npt.NDArray[np.bool_], small: npt.NDArray[np.bool_]
) -> GroupedSums:
    data = is_data.astype(np.int64)
    deletes = 1 - data
    columns = np.stack(
        [data, deletes, small.astype(np.int64), entries.records * data, entries.size * data, entries.size * deletes]
    )
    return _grouped(entries, live, columns)


def _deltas(entries: Entries, changed: npt.NDArray[np.bool_], is_data: npt.NDArray[np.bool_]) -> GroupedSums:
    data, added = is_data.astype(np.int64), (entries.status == ADDED).astype(np.int64)
    counted = np.stack([data, 1 - data, entries.records * data, entries.size * data])
    return _grouped(entries, changed, np.concatenate([counted * added, counted * (1 - added)]))


def _grouped(entries: Entries, rows: npt.NDArray[np.bool_], columns: Longs) -> GroupedSums:
    """Sum `columns` over the chosen rows by partition and writer."""
    partition, writer, columns = entries.partition[rows].astype(np.int64), entries.snapshot[rows], columns[:, rows]
    if not partition.size:
        return GroupedSums(partition, writer, columns)
    order = np.lexsort((writer, partition))
    partition, writer = partition[order], writer[order]
    first = np.ones(order.size, np.bool_)
    first[1:] = (partition[1:] != partition[:-1]) | (writer[1:] != writer[:-1])
    starts = np.flatnonzero(first)
    return GroupedSums(partition[starts], writer[starts], np.add.reduceat(columns[:, order], starts, axis=1))
