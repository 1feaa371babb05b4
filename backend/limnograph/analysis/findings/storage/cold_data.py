"""`cold_data`: most of a table lies in partitions that no one has written for months, and that no one reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from limnograph.analysis.findings.events import Detail
from limnograph.analysis.findings.observed.subject_levels import SubjectLevel
from limnograph.domain.finding_codes import CODES
from limnograph.domain.finding_limits import DAY, FindingLimits
from limnograph.domain.time import Micros, to_millis


class PartitionWrite(NamedTuple):
    """A live partition. `written`: its newest commit, or a later instant; None: unknown."""

    bytes: int
    written: Micros | None


class KnownReads(NamedTuple):
    """What is known of a table's reads. `since`: reads have been reported since then; None: never. `last`: the last
    reported one; None: none.
    """

    since: Micros | None = None
    last: Micros | None = None


def cold_levels(
    partitions: Sequence[PartitionWrite], total_bytes: int, reads: KnownReads, at: Micros, limits: FindingLimits
) -> list[SubjectLevel]:
    """The bytes in partitions without a write for `cold_days`, and their limit. None of them if the table was read in
    these days. A partition whose last write is unknown is not cold. O(p log p) for p partitions.
    """
    cold_for = limits.cold_days * DAY
    since = at - cold_for
    if reads.last is not None and reads.last > since:
        return []
    cold = [each for each in partitions if each.written is not None and each.written <= since]
    size = sum(each.bytes for each in cold)
    limit = max(limits.cold_bytes, limits.cold_share * total_bytes)
    evidence: dict[str, Detail] = {
        "cold_bytes": size,
        "cold_partitions": len(cold),
        "cold_share": round(size / total_bytes, 4) if total_bytes else None,
        "days": limits.cold_days,
        "reads_known": int(reads.since is not None and reads.since <= since),
        "last_seen": to_millis(reads.last),
    }
    began = _reached(
        [(Micros(each.written + cold_for), each.bytes) for each in cold if each.written is not None], limit
    )
    if began is not None and reads.last is not None:
        began = max(began, Micros(reads.last + cold_for))
    return [SubjectLevel("cold_data", "", size, limit, CODES["cold_data"].severity, evidence, began)]


def _reached(turned: Sequence[tuple[Micros, int]], limit: float) -> Micros | None:
    """When bytes that became cold one after the other, each at its instant, reached the limit; None: they did not."""
    size = 0
    for at, each in sorted(turned):
        size += each
        if size >= limit:
            return at
    return None
