"""Compares a manifest list with its manifests: a file truncated between two blocks reads without error."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter

import numpy as np

from limnograph.adapters.iceberg.sums.sums import CHECKS
from limnograph.adapters.iceberg.sums.table_sums import Line, TableSums
from limnograph.domain.errors import MetadataError
from limnograph.domain.metadata.manifests import ManifestFile

DISAGREES = "manifest_list_disagrees"
"""Note: the list has other counts or another length. The reported numbers are from the manifests themselves."""
_said = attrgetter("added_files", "existing_files", "deleted_files", "length")
_LENGTH = CHECKS.index("length")


def compared(sums: TableSums, lines: Sequence[Line], manifests: Sequence[ManifestFile]) -> tuple[str, ...]:
    """Notes about lines that differ from their manifests.

    Raises MetadataError (`avro_damaged`) for a manifest shorter than its recorded length, unless the recorded counts
    match: writers that rewrite paths leave old lengths behind, but counts do not match by accident.
    """
    if not lines:
        return ()
    held, said = sums.checks(lines), list(map(_said, manifests))
    if said == list(zip(*held.tolist(), strict=True)):
        return ()
    # A missing value is NaN: equal to nothing and below nothing.
    listed = np.array(said, np.float64).T
    differs = (listed != held) & ~np.isnan(listed)
    confirmed = (listed[:_LENGTH] == held[:_LENGTH]).all(axis=0)
    cut = (held[_LENGTH] < listed[_LENGTH]) & ~confirmed
    if cut.any():
        first = int(np.flatnonzero(cut)[0])
        raise MetadataError(
            "avro_damaged",
            f"{manifests[first].path} has {held[_LENGTH, first]} bytes of {manifests[first].length}, and other entries "
            "than its list counts",
        )
    return (DISAGREES,) if differs.any() else ()
