"""`stale_reader`: a reader repeatedly reads snapshots that main left long before. It closes a day after the last such
read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from limnograph.analysis.behind import BEHIND_SECONDS, Behind
from limnograph.analysis.findings.episodes import Episode
from limnograph.analysis.findings.events import Detail
from limnograph.analysis.findings.stretch import Stretch
from limnograph.domain.finding_codes import CODES
from limnograph.domain.finding_limits import DAY, HOUR, FindingLimits
from limnograph.domain.time import Micros

QUIET = DAY


class LateRead(NamedTuple):
    """A read of a snapshot that main had left. `reader`: its job, else its engine."""

    at: Micros
    reader: str
    engine: str | None
    snapshot_id: int
    behind: Behind


def stale_readers(
    reads: Sequence[LateRead],
    known: Mapping[str, Micros],
    *,
    since: Micros,
    until: Micros,
    limits: FindingLimits,
) -> list[Episode]:
    """Episodes of a table's readers until an instant. `reads`: those that are stale, in time order; all of them since
    `since`. `known`: by reader, when the open finding opened. O(reads).
    """
    by_reader: dict[str, list[LateRead]] = defaultdict(list)
    for read in reads:
        by_reader[read.reader].append(read)
    found: list[Episode] = []
    for reader in sorted({*by_reader, *known}):
        found += _of_reader(reader, by_reader[reader], known.get(reader), (since, until), limits)
    return found


def _of_reader(
    reader: str, reads: Sequence[LateRead], known: Micros | None, span: tuple[Micros, Micros], limits: FindingLimits
) -> list[Episode]:
    since, until = span
    found, first, opened = [], 0, None
    last = since
    for place, read in enumerate(reads):
        if opened is not None and read.at - last >= QUIET:
            found.append(_episode(reads[first:place], opened._replace(closed=Micros(last + QUIET))))
            opened = None
        if opened is None and known is not None and known <= read.at:
            first, opened, known = place, Stretch(known, known, truncated=True), None
        elif opened is None:
            while reads[first].at <= read.at - HOUR:
                first += 1
            if place - first + 1 >= limits.stale_reads:
                opened = Stretch(reads[first].at, read.at, truncated=reads[first].at < since + HOUR)
        last = read.at
    if opened is None and known is not None:
        first, opened, last = len(reads), Stretch(known, known, truncated=True), max(since, known)
    if opened is not None:
        ended = until - last >= QUIET
        found.append(_episode(reads[first:], opened._replace(closed=Micros(last + QUIET)) if ended else opened, reader))
    return found


def _episode(reads: Sequence[LateRead], stretch: Stretch, reader: str = "") -> Episode:
    evidence: dict[str, Detail] = {"threshold_seconds": BEHIND_SECONDS}
    if reads:
        last = reads[-1]
        evidence |= {
            "reads": len(reads),
            "behind_seconds": round(last.behind.seconds),
            "behind_commits": last.behind.commits,
            "snapshot": str(last.snapshot_id),
            "engine": last.engine,
        }
        reader = last.reader
    return Episode("stale_reader", reader, stretch, CODES["stale_reader"].severity, None, evidence)
