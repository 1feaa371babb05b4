"""Delete files that delete nothing any more: a rewrite applied them, but they stay in the table's metadata.

Iceberg removes them only in a later commit, or by `rewrite_position_delete_files`. Counted as deletes, they would make
a rewrite look due again that has just been done.
"""

from __future__ import annotations

import numpy as np

from limnograph.adapters.iceberg.manifests.entries import DATA
from limnograph.adapters.iceberg.planning.live_entries import LiveEntries
from limnograph.analysis.debt import Flags, Longs
from limnograph.domain.metadata.table import TableMetadata

_LATEST = np.iinfo(np.int64).max


def dangling(metadata: TableMetadata, files: LiveEntries) -> Flags:
    """Per live file, whether it is a delete file that applies to no live data file.

    One that is scoped to a data file: the file is gone. Another one: all data files of its partition were added after
    it. Where the commit that added a file has expired, the file counts as old, and a delete file as applied. O(files).
    """
    data = files.content == DATA
    sequences = {each.snapshot_id: each.sequence_number for each in metadata.snapshots.values()}
    sequence = _looked_up(files.writer, sequences)
    oldest = np.full(len(files.partitions) + 1, _LATEST, np.int64)
    np.minimum.at(oldest, files.place[data], sequence[data])
    everywhere = int(oldest.min())
    for place, (spec_id, _) in enumerate(files.partitions):
        if not metadata.specs.get(spec_id, {}).get("fields"):
            oldest[place] = everywhere  # equality deletes without a partition apply to all
    unscoped = (sequence > 0) & (oldest[files.place] > sequence)
    idle: Flags = np.where(files.target != 0, ~np.isin(files.target, files.path[data]), unscoped)
    found: Flags = ~data & idle
    return found


def _looked_up(writer: Longs, sequences: dict[int, int | None]) -> Longs:
    """Sequence number of each file's commit; 0: unknown."""
    writers, inverse = np.unique(writer, return_inverse=True)
    found = [sequences.get(each) or 0 for each in writers.tolist()]
    return np.array(found, np.int64)[inverse] if found else np.zeros(0, np.int64)
