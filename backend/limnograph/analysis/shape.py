"""When to compute a snapshot's shape, and the shape of a table whose files are packed within their partitions, as in
Delta and Hudi. Iceberg's planner groups by spec and tracks deletes of single files: its adapter computes its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from limnograph.analysis.debt import Debt, debt
from limnograph.analysis.hot_partition import PartitionSize, hottest
from limnograph.analysis.skew import skew
from limnograph.domain.metadata.content import Shape
from limnograph.domain.metadata.targets import Targets
from limnograph.domain.time import Micros

Longs = npt.NDArray[np.int64]
SHAPE_SHARE = 10
"""The shape is recomputed if a snapshot changed one in this many of the live files or manifests."""


def wrote_much(moved: int, live: int) -> bool:
    """Whether a snapshot changed so many of the live files (or wrote so many of the live manifests) that its shape is
    computed.
    """
    return moved > 0 and moved * SHAPE_SHARE >= live


def packed_shape(
    partition: Longs, size: Longs, held: Sequence[PartitionSize], targets: Targets | None, at: Micros | None
) -> Shape:
    """Debt, and sizes of partitions.

    partition, size  number of the partition and bytes of every live data file, in any order
    held             the partitions with a live file; empty for an unpartitioned table
    at               time of the commit

    Overlap is not computed: these formats keep bounds in the statistics of single files, which no state retains.
    """
    order = np.lexsort((size, partition))
    owed = None if targets is None else debt(partition[order], size[order], targets)
    return replace(shape_of(owed), **partition_shape(held, at))


def partition_shape(held: Sequence[PartitionSize], at: Micros | None) -> dict[str, Any]:
    """The part of the shape that follows from the partitions with a live file; empty without any. `at`: time of the
    commit.
    """
    if not held:
        return {}
    uneven = skew(np.array([each.bytes for each in held], np.int64))
    hot = None if at is None else hottest(held, at)
    return {f"skew_{name}": value for name, value in uneven._asdict().items()} | {
        "partition_files_max": max(each.files for each in held),
        "hot_partition": hot.text if hot else None,
        "hot_partition_ratio": hot.ratio if hot else None,
    }


def shape_of(owed: Debt | None) -> Shape:
    """The shape from a debt; None: unknown."""
    return Shape(
        debt_files=owed.files if owed else None,
        debt_bytes=owed.bytes if owed else None,
        debt_groups=owed.groups if owed else None,
        debt_outputs=owed.outputs if owed else None,
        debt_saved_files=owed.saved if owed else None,
    )
