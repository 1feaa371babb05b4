"""When a step of housekeeping is due: thresholds, and decisions based on the state of the meta tables. No side effects.

"Last" is when the step was last attempted, in microseconds; None: never.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from limnograph.domain.time import MICROS_PER_SECOND, Micros
from limnograph.ports.meta_upkeep import MetaTableState, PartitionFiles

ROLLUP_SECONDS = 600
HOUR_SECONDS = 3_600
DEEPEN_SECONDS = 20
DAY_SECONDS = 86_400
SNAPSHOT_SECONDS = 3_600
"""How long a snapshot of a meta table is kept: readers pin one for at most 10 minutes."""
SNAPSHOTS_KEPT = 10
MANY_SNAPSHOTS = 100
"""With more retained snapshots than this, expiry does not wait for the hour: the cost of a commit depends on their
number.
"""
MANY_MANIFESTS = 100
OPEN_FILES = 6
"""The number of files at which a partition that still grows is worth a rewrite."""
CLOSED_EXCESS = 10
"""The number of excess files in closed partitions that do not wait for the hour."""
TARGET_BYTES = 512 * 1024**2
BATCH_BYTES = 1024**3
BATCH_PARTS = 31
"""The most closed partitions, and bytes, that one step rewrites."""
ORPHAN_SECONDS = 3 * 86_400
RETRY_SECONDS = 300
SKEW_SECONDS = 300


def passed(last: Micros | None, now: Micros, seconds: int) -> bool:
    """Whether the last attempt was never, or at least `seconds` ago. A time further ahead than clocks differ is from
    before a jump of the clock and counts as never; otherwise the step would wait until that time.
    """
    ahead = SKEW_SECONDS * MICROS_PER_SECOND
    return last is None or last - now > ahead or now - last >= seconds * MICROS_PER_SECOND


def expirable(standing: MetaTableState, now: Micros) -> int:
    """The number of snapshots that may be expired."""
    border = now - SNAPSHOT_SECONDS * MICROS_PER_SECOND
    return sum(at < border for at in standing.committed[:-SNAPSHOTS_KEPT])


def expiry_due(standing: MetaTableState, last: Micros | None, now: Micros) -> bool:
    """Hourly, and sooner if many pile up."""
    many = len(standing.committed) >= MANY_SNAPSHOTS and expirable(standing, now) >= SNAPSHOTS_KEPT
    return many or (expirable(standing, now) > 0 and passed(last, now, HOUR_SECONDS))


def open_part_due(part: PartitionFiles, last: Micros | None, now: Micros) -> bool:
    """For a partition that still grows (today, this month, an unpartitioned table): hourly, if it is worth it."""
    growing = part.end is None or part.end > now
    return growing and part.files >= OPEN_FILES and excess(part) > 0 and passed(last, now, HOUR_SECONDS)


def excess(part: PartitionFiles) -> int:
    """The number of files that a rewrite would save; a large partition needs more than one."""
    return max(0, part.files - 1 - 2 * (part.bytes // TARGET_BYTES))


def closed_batch(standing: MetaTableState, last: Micros | None, now: Micros) -> PartitionFiles | None:
    """The newest closed partitions with excess files, as one part; None if there are none or they can wait."""
    closed = [p for p in standing.parts if p.start is not None and p.end is not None and p.end <= now and excess(p)]
    if not closed:
        return None
    if sum(map(excess, closed)) < CLOSED_EXCESS and not passed(last, now, HOUR_SECONDS):
        return None
    batch = list(_newest(closed))
    starts, ends = [p.start for p in batch if p.start is not None], [p.end for p in batch if p.end is not None]
    return PartitionFiles(min(starts), max(ends), sum(p.files for p in batch), sum(p.bytes for p in batch))


def _newest(closed: Sequence[PartitionFiles]) -> Iterator[PartitionFiles]:
    """Parts from the newest backwards until the batch is full; at least one."""
    size, newest = 0, sorted(closed, key=lambda p: -(p.start or 0))
    for part in newest[:BATCH_PARTS]:
        if size and size + part.bytes > BATCH_BYTES:
            return
        size += part.bytes
        yield part
