"""Shape of a snapshot: numbers over all its live files that cannot be summed from manifest to manifest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from limnograph.adapters.iceberg.sums.file_columns import FileColumns, ScopedDeletes, comparable
from limnograph.analysis.debt import DELETE_RATIO, debt
from limnograph.analysis.overlap import overlap
from limnograph.analysis.shape import shape_of
from limnograph.domain.metadata.content import Shape
from limnograph.domain.metadata.manifests import PartitionKey
from limnograph.domain.metadata.partition_text import NULL
from limnograph.domain.metadata.table import TableMetadata

Longs = npt.NDArray[np.int64]

MAX_FILES = 1_000_000
"""Maximum live data files for which debt and overlap are computed."""
_ORDERED = ("identity", "year", "month", "day", "hour")
"""Transforms that keep the order of their source; `truncate[w]` does too."""


def overlap_field(metadata: TableMetadata) -> int | None:
    """Field id whose bounds define overlap: the source of the first field of the default sort order, else of the
    default partition spec, if its transform preserves order; None if there is no such field.
    """
    order = metadata.sort_orders.get(metadata.default_sort_order_id or 0, {})
    spec = metadata.specs.get(metadata.default_spec_id or 0, {})
    for fields in (order.get("fields"), spec.get("fields")):
        first = fields[0] if isinstance(fields, list) and fields else None
        if isinstance(first, Mapping) and (found := _source(first)) is not None:
            return found
    return None


def _source(field: Mapping[str, Any]) -> int | None:
    """Source column of a sort or partition field; v3 has a list for transforms of several columns."""
    transform, sources = field.get("transform"), field.get("source-ids")
    source = field.get("source-id")
    if source is None and isinstance(sources, list) and len(sources) == 1:
        source = sources[0]
    ordered = isinstance(transform, str) and (transform in _ORDERED or transform.startswith("truncate["))
    return source if ordered and isinstance(source, int) and not isinstance(source, bool) else None


class LiveFiles(NamedTuple):
    """All live files by manifest, in the order of the manifest list.

    spec_ids  partition spec of each manifest
    places    table-wide number of each file's partition
    deletes   scoped deletes of the delete manifests
    nulls     number of the default spec's partition of nulls; None if the table has none
    """

    columns: list[FileColumns]
    spec_ids: list[int]
    places: list[Longs]
    deletes: list[ScopedDeletes]
    nulls: int | None = None


def file_shape(metadata: TableMetadata, files: LiveFiles) -> Shape:
    """Debt and overlap of a snapshot's live data files."""
    size = _joined(np.int64, (part.size for part in files.columns))
    place = _joined(np.int64, files.places)
    specs = np.repeat(np.array(files.spec_ids, np.int64), [part.size.size for part in files.columns])
    bounded = _joined(np.bool_, (part.bounded for part in files.columns))
    lower, upper = comparable(files.columns)
    depth = overlap(place[bounded], lower, upper, int(np.count_nonzero(~bounded)))
    owed = None
    if metadata.targets is not None:
        owed = debt(planned_groups(metadata, specs, place, files.nulls), size, metadata.targets, much_deleted(files))
    return replace(
        shape_of(owed),
        overlap_depth_max=depth.depth_max,
        overlap_depth_mean=depth.depth_mean,
        overlap_unbounded=depth.left_out,
    )


def much_deleted(files: LiveFiles) -> npt.NDArray[np.bool_] | None:
    """Data files of whose rows their scoped deletes remove DELETE_RATIO or more; None if no delete is scoped."""
    target = _joined(np.uint64, (part.target for part in files.deletes))
    if not target.size:
        return None
    deleted = _joined(np.int64, (part.records for part in files.deletes))
    is_dv = _joined(np.bool_, (part.is_dv for part in files.deletes))
    path = _joined(np.uint64, (part.path for part in files.columns))
    records = _joined(np.int64, (part.records for part in files.columns))
    own = deleted_rows(ScopedDeletes(target, deleted, is_dv), path, records)
    share: npt.NDArray[np.float64] = own / np.maximum(records, 1)
    return share >= DELETE_RATIO


def deleted_rows(deletes: ScopedDeletes, path: npt.NDArray[np.uint64], records: Longs) -> Longs:
    """Rows of each data file that scoped deletes remove, at most all. If a file has a deletion vector, its older delete
    files do not count. `path`, `records`: of the data files.
    """
    target, is_dv = deletes.target, deletes.is_dv
    if not target.size:
        return np.zeros(path.size, np.int64)
    counts = is_dv | ~np.isin(target, target[is_dv])
    targets, inverse = np.unique(target[counts], return_inverse=True)
    rows = np.zeros(targets.size, np.int64)
    np.add.at(rows, inverse, deletes.records[counts])
    at = np.minimum(np.searchsorted(targets, path), targets.size - 1)
    own: Longs = np.where(targets[at] == path, np.minimum(rows[at], records), 0)
    return own


def _joined(dtype: Any, parts: Iterable[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    return np.concatenate([np.empty(0, dtype), *parts])


def planned_groups(
    metadata: TableMetadata, specs: npt.NDArray[np.int64], place: npt.NDArray[np.int64], nulls: int | None = None
) -> npt.NDArray[np.int64]:
    """Group of each file for the planner: its partition, or one group for all files of specs other than the default.

    The planner assigns old files to the default spec's partition of nulls, `nulls`; an unpartitioned table is one group
    for the same reason.
    """
    spec = metadata.specs.get(metadata.default_spec_id or 0, {})
    if not spec.get("fields"):
        return np.zeros(specs.size, np.int64)
    own = specs == (metadata.default_spec_id or 0)
    return np.where(own & (place != (-1 if nulls is None else nulls)), place + 1, 0)


def nulls_place(metadata: TableMetadata, keys: list[PartitionKey]) -> int | None:
    """Number of the default spec's partition in which all fields are null."""
    spec_id = metadata.default_spec_id or 0
    fields = metadata.specs.get(spec_id, {}).get("fields")
    names = [field.get("name") for field in fields if isinstance(field, Mapping)] if isinstance(fields, list) else []
    wanted = (spec_id, "/".join(f"{name}={NULL}" for name in names))
    return next((place for place, key in enumerate(keys) if key == wanted), None)
