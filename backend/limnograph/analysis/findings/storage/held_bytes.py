"""`held_bytes`: storage that only the table's past needs: beyond its own retention, or by one branch or tag alone."""

from __future__ import annotations

from collections.abc import Sequence

from limnograph.analysis.advice.own_retention import OwnRetention
from limnograph.analysis.advice.readers import RetainedRef
from limnograph.analysis.findings.events import Detail
from limnograph.analysis.findings.observed.subject_levels import SubjectLevel
from limnograph.domain.advice.document import TableBytes
from limnograph.domain.finding_codes import CODES
from limnograph.domain.finding_limits import DAY, FindingLimits

MAIN = "main"


def held_levels(
    bytes_: TableBytes, retention: OwnRetention, refs: Sequence[RetainedRef], limits: FindingLimits
) -> list[SubjectLevel]:
    """What an expiry by the table's own retention frees (subject: empty), and what each branch or tag holds alone
    (subject: its name). A branch or tag with a maximum age is held on purpose: severity `info`. O(refs + ages).
    """
    limit = max(limits.held_bytes, limits.held_share * bytes_.live)
    by_name = {ref.name: ref for ref in refs}
    shared: dict[str, Detail] = {"live_bytes": bytes_.live, "held_bytes": bytes_.held, "threshold": round(limit)}
    freed = freed_beyond(bytes_, retention)
    severity = CODES["held_bytes"].severity
    found = [
        SubjectLevel(
            "held_bytes",
            "",
            freed,
            limit,
            severity,
            {**shared, "freed_bytes": freed, "retention_days": round(retention.age_us / DAY, 2)},
        )
    ]
    for name, size in sorted(bytes_.by_ref.items()):
        if name == MAIN:
            continue
        ref = by_name.get(name)
        kept = None if ref is None or ref.max_age is None else round(ref.max_age / DAY, 2)
        evidence: dict[str, Detail] = {**shared, "ref_bytes": size, "ref": "tag" if ref and ref.is_tag else "branch"}
        evidence |= {"kept_days": kept} if kept is not None else {}
        found.append(SubjectLevel("held_bytes", name, size, limit, severity if kept is None else "info", evidence))
    return found


def freed_beyond(bytes_: TableBytes, retention: OwnRetention) -> int:
    """Bytes that an expiry beyond the table's own retention frees: those of the first age listed that is not less; a
    lower bound between two ages, 0 beyond the last.
    """
    days = retention.age_us / DAY
    return max((size for age, size in bytes_.by_age if age >= days), default=0)
