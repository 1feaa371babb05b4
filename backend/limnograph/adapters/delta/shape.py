"""Numbers over all live files of a version: compaction debt by Delta's rule, skew of bytes over partitions.

Overlap is not told: Delta keeps bounds as JSON of each file's statistics, which live files do not hold on to.
"""

from __future__ import annotations

import numpy as np

from limnograph.adapters.delta.replay import Moves
from limnograph.adapters.delta.state import LiveFiles
from limnograph.analysis.debt import debt
from limnograph.analysis.skew import skew
from limnograph.domain.content import Shape
from limnograph.domain.targets import Targets

_TENTH = 10


def wrote_much(live: LiveFiles, moves: Moves | None) -> bool:
    """Whether the version itself moved at least a tenth of the live files."""
    moved = moves.added.data_files + moves.removed.data_files if moves else 0
    return moved > 0 and moved * _TENTH >= len(live)


def shape_of(live: LiveFiles, targets: Targets | None) -> Shape:
    """Files of a partition are packed by size, as OPTIMIZE does; partitions only when the table has some."""
    partition, size = live.sizes()
    order = np.lexsort((size, partition))
    owed = None if targets is None else debt(partition[order], size[order], targets)
    held = [number for number, sums in enumerate(live.partitions) if sums.files]
    uneven = skew(np.array([live.partitions[number].bytes for number in held], np.int64))
    partitioned = any(live.values[number] for number in held)
    return Shape(
        debt_files=owed.files if owed else None,
        debt_bytes=owed.bytes if owed else None,
        debt_groups=owed.groups if owed else None,
        debt_outputs=owed.outputs if owed else None,
        skew_max_over_median=uneven.max_over_median if partitioned else None,
        skew_cv=uneven.cv if partitioned else None,
        skew_gini=uneven.gini if partitioned else None,
        skew_top1_share=uneven.top1_share if partitioned else None,
    )
