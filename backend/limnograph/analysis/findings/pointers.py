"""`two_pointers`: two names of one table point at different snapshots, so that their writers and readers part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from limnograph.analysis.findings.episodes import Episode
from limnograph.analysis.findings.events import Detail
from limnograph.analysis.findings.stretch import Stretch
from limnograph.domain.finding_codes import CODES
from limnograph.domain.finding_limits import FindingLimits
from limnograph.domain.time import Micros


class Pointer(NamedTuple):
    """A name and the snapshot that it points at; None: the table is empty there."""

    name: str
    snapshot_id: int | None


class ParallelPointers(NamedTuple):
    """The names of one table. `since`: since when they differ; `ended`: when they were equal again or one was dropped.
    `truncated`: they differed when first seen.
    """

    pointers: Sequence[Pointer]
    since: Micros
    ended: Micros | None = None
    truncated: bool = False


def two_pointers(name: str, parted: ParallelPointers, *, until: Micros, limits: FindingLimits) -> Episode | None:
    """The episode of the table under one of its names; None while the difference may be that between two probes."""
    last = until if parted.ended is None else parted.ended
    if last - parted.since < limits.confirmed_after:
        return None
    opened = Micros(parted.since + limits.confirmed_after)
    stretch = Stretch(parted.since, opened, closed=parted.ended, truncated=parted.truncated)
    others = [each for each in parted.pointers if each.name != name]
    evidence: dict[str, Detail] = {
        "names": len(parted.pointers),
        "pointers": "; ".join(f"{each.name} at {_said(each.snapshot_id)}" for each in parted.pointers),
        "threshold_seconds": limits.confirmed_after // 1_000_000,
    }
    subject = ", ".join(each.name for each in others)
    return Episode("two_pointers", subject, stretch, CODES["two_pointers"].severity, None, evidence)


def _said(snapshot_id: int | None) -> str:
    return "no snapshot" if snapshot_id is None else f"snapshot {snapshot_id}"
