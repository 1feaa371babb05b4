"""The hottest of a table's new partitions: how much larger it is than the same period usually is. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from statistics import median
from typing import NamedTuple

from limnograph.analysis.partition_periods import PartitionPeriod, period_of
from limnograph.domain.finding_limits import DAY
from limnograph.domain.time import Micros

YOUNG = 2 * DAY
"""A partition becomes hot within this time of the beginning of its period, microseconds."""
AHEAD = DAY
"""Clocks and time zones differ: a period may begin this long after the commit."""
PEERS, MOST_PEERS = 8, 24
"""Earlier partitions that are compared: at least, and at most."""
_DAYS = 7


class PartitionSize(NamedTuple):
    """A live partition. `text`: `domain/metadata/partition_text.py`."""

    text: str
    files: int
    bytes: int


class HotPartition(NamedTuple):
    """`ratio`: its bytes, or its data files if that is less, divided by the median of its peers."""

    text: str
    ratio: float


class _Held(NamedTuple):
    period: PartitionPeriod
    size: PartitionSize


def hottest(partitions: Iterable[PartitionSize], at: Micros) -> HotPartition | None:
    """Of the partitions of the period of a commit, and of the period before, the one that exceeds its peers by most.
    Peers are the earlier partitions with the same other values: those of the same weekday where eight weeks are known,
    otherwise the last ones. None without a partition that has eight peers. O(n log n).
    """
    groups: dict[str, list[_Held]] = defaultdict(list)
    for size in partitions:
        period = period_of(size.text)
        if period is not None and period.start <= at + AHEAD:
            groups[period.peers].append(_Held(period, size))
    found: HotPartition | None = None
    for held in groups.values():
        held.sort()
        for place in range(len(held) - 1, PEERS - 1, -1):
            if at >= held[place].period.next_end:
                break
            ratio = _ratio(held[place], held[:place])
            if ratio is not None and (found is None or ratio > found.ratio):
                found = HotPartition(held[place].size.text, ratio)
    return found


def _ratio(held: _Held, earlier: Sequence[_Held]) -> float | None:
    """Of a partition to its peers. `earlier`: in time order."""
    peers = earlier[-MOST_PEERS:]
    if held.period.is_day:
        same = [each for each in earlier if (held.period.start - each.period.start) % (_DAYS * DAY) == 0]
        peers = same[-PEERS:] if len(same) >= PEERS else peers
    files, size = median(each.size.files for each in peers), median(each.size.bytes for each in peers)
    return min(held.size.files / files, held.size.bytes / size) if files and size else None
