"""`reader_at_risk`: a reader needs a snapshot that the table's own retention removes before its next read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from limnograph.analysis.advice.own_retention import OwnRetention, expired_at
from limnograph.analysis.advice.readers import (
    DeclaredReader,
    ReaderNeed,
    RetainedRef,
    RetainedSnapshot,
    TableRead,
    needs_of,
)
from limnograph.analysis.findings.events import Detail
from limnograph.analysis.findings.observed.subject_levels import SubjectLevel
from limnograph.domain.finding_codes import CODES
from limnograph.domain.finding_limits import DAY
from limnograph.domain.time import Micros, to_millis


def at_risk_levels(
    reads: Iterable[TableRead],
    snapshots: Sequence[RetainedSnapshot],
    refs: Sequence[RetainedRef],
    rule: OwnRetention | None,
    declared: Sequence[DeclaredReader] = (),
    *,
    now: Micros,
) -> list[SubjectLevel]:
    """One level per reader that the retention hits. `rule`: None: nothing expires the table's snapshots, as far as is
    known, and no reader is at risk. A declared lag beyond the retention is a risk wherever the reader is now.
    """
    if rule is None or not snapshots:
        return []
    found: dict[str, SubjectLevel] = {}
    for need in needs_of(reads, snapshots, refs, declared, now=now):
        gone = expired_at(snapshots, refs, rule, need.needed_until)
        lost = next((each for each in need.snapshot_ids if each in gone), None)
        if lost is not None:
            found.setdefault(need.reader, _level(need, lost, rule))
        elif need.because == "declared" and need.lag_us > rule.age_us and len(snapshots) > rule.least:
            found.setdefault(need.reader, _level(need, None, rule))
    return [found[reader] for reader in sorted(found)]


def _level(need: ReaderNeed, lost: int | None, rule: OwnRetention) -> SubjectLevel:
    evidence: dict[str, Detail] = {
        "snapshot": None if lost is None else str(lost),
        "reason": need.because,
        "last_seen": to_millis(need.last_seen),
        "needed_until": to_millis(need.needed_until),
        "retention_days": round(rule.age_us / DAY, 2),
    }
    return SubjectLevel("reader_at_risk", need.reader, 1, 1, CODES["reader_at_risk"].severity, evidence)
