"""Shape of a table whose files are packed within their partitions: what Delta and Hudi share. Iceberg's planner groups
by spec and knows deletes of single files, so its own adapter puts its shape together.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from limnograph.analysis.debt import debt
from limnograph.analysis.skew import skew
from limnograph.domain.content import Shape
from limnograph.domain.targets import Targets

Longs = npt.NDArray[np.int64]
SHAPE_SHARE = 10
"""The shape is computed anew where a snapshot moved one in this many of the live data files."""


def wrote_much(moved: int, live: int) -> bool:
    """Whether a snapshot added and removed so many data files that it has a shape of its own."""
    return moved > 0 and moved * SHAPE_SHARE >= live


def packed_shape(partition: Longs, size: Longs, held: list[int], targets: Targets | None) -> Shape:
    """Debt and skew. `partition`, `size`: number of the partition and bytes of every live data file, in any order.
    `held`: bytes of the partitions with a live file, empty for a table without partitions.

    Overlap is not told: these formats keep bounds in statistics of every single file, which no state holds on to.
    """
    order = np.lexsort((size, partition))
    owed = None if targets is None else debt(partition[order], size[order], targets)
    uneven = skew(np.array(held, np.int64))
    return Shape(
        debt_files=owed.files if owed else None,
        debt_bytes=owed.bytes if owed else None,
        debt_groups=owed.groups if owed else None,
        debt_outputs=owed.outputs if owed else None,
        skew_max_over_median=uneven.max_over_median,
        skew_cv=uneven.cv,
        skew_gini=uneven.gini,
        skew_top1_share=uneven.top1_share,
    )
