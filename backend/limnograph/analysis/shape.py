"""When to compute a snapshot's shape, and the shape of a table whose files are packed within their partitions, as in
Delta and Hudi. Iceberg's planner groups by spec and tracks deletes of single files: its adapter computes its own.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from limnograph.analysis.debt import Debt, debt
from limnograph.analysis.skew import Skew, skew
from limnograph.domain.metadata.content import Shape
from limnograph.domain.metadata.targets import Targets

Longs = npt.NDArray[np.int64]
SHAPE_SHARE = 10
"""The shape is recomputed if a snapshot changed one in this many of the live files or manifests."""


def wrote_much(moved: int, live: int) -> bool:
    """Whether a snapshot changed so many of the live files (or wrote so many of the live manifests) that its shape is
    computed.
    """
    return moved > 0 and moved * SHAPE_SHARE >= live


def packed_shape(partition: Longs, size: Longs, held: list[int], targets: Targets | None) -> Shape:
    """Debt and skew.

    partition, size  number of the partition and bytes of every live data file, in any order
    held             bytes of the partitions with a live file; empty for an unpartitioned table

    Overlap is not computed: these formats keep bounds in the statistics of single files, which no state retains.
    """
    order = np.lexsort((size, partition))
    owed = None if targets is None else debt(partition[order], size[order], targets)
    most = int(np.bincount(partition).max()) if held and len(partition) else None
    return shape_of(owed, skew(np.array(held, np.int64)), most)


def shape_of(owed: Debt | None = None, uneven: Skew | None = None, most_files: int | None = None) -> Shape:
    """The shape from a debt, a skew and the most files of a partition; None: unknown."""
    return Shape(
        debt_files=owed.files if owed else None,
        debt_bytes=owed.bytes if owed else None,
        debt_groups=owed.groups if owed else None,
        debt_outputs=owed.outputs if owed else None,
        debt_saved_files=owed.saved if owed else None,
        skew_max_over_median=uneven.max_over_median if uneven else None,
        skew_cv=uneven.cv if uneven else None,
        skew_gini=uneven.gini if uneven else None,
        skew_top1_share=uneven.top1_share if uneven else None,
        partition_files_max=most_files,
    )
