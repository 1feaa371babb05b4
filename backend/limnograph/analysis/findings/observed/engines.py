"""`format_incompatible`: an engine that reads a table does not know a feature that the table has."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from limnograph.analysis.engine_support import TableFeatures, refusal
from limnograph.analysis.findings.events import Detail
from limnograph.analysis.findings.observed.subject_levels import SubjectLevel
from limnograph.domain.finding_codes import CODES
from limnograph.domain.finding_limits import DAY, FindingLimits
from limnograph.domain.time import Micros, to_millis


class SeenEngine(NamedTuple):
    """An engine that reported a read or commit of a table. `at`: the last time."""

    engine: str
    version: str | None
    at: Micros


def incompatible_levels(
    seen: Iterable[SeenEngine], features: TableFeatures, at: Micros, limits: FindingLimits
) -> list[SubjectLevel]:
    """One level per engine and version that was seen lately and refuses the table. An engine whose newer version was
    seen later has been updated.
    """
    newest: dict[str, SeenEngine] = {}
    for each in sorted(seen, key=lambda each: each.at):
        newest[each.engine.lower()] = each
    found = []
    for engine, last in sorted(newest.items()):
        row = refusal(engine, last.version, features)
        if row is None or last.at <= at - limits.engine_days * DAY:
            continue
        evidence: dict[str, Detail] = {
            "feature": row.feature,
            "readable_from": row.readable_from,
            "last_seen": to_millis(last.at),
            "source": row.source,
        }
        subject = f"{engine} {last.version}"
        found.append(
            SubjectLevel("format_incompatible", subject, 1, 1, CODES["format_incompatible"].severity, evidence)
        )
    return found
