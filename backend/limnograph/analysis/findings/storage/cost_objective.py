"""`objective_missed` of cost: a live GB of a table costs more in a month than is promised."""

from __future__ import annotations

from limnograph.analysis.advice.money import GB
from limnograph.analysis.findings.events import Detail
from limnograph.analysis.findings.observed.subject_levels import SubjectLevel
from limnograph.domain.advice.document import MonthlyCost, TableBytes
from limnograph.domain.finding_codes import CODES, COST


def cost_level(size: TableBytes | None, cost: MonthlyCost | None, limit: float, currency: str) -> SubjectLevel | None:
    """Missed or kept. None: not known, as a part of the cost is unknown and the others are within the limit. O(1)."""
    if size is None or cost is None or not size.live:
        return None
    known = [part for part in (cost.storage, cost.held, cost.requests) if part is not None]
    per_gb = sum(known) / (size.live / GB)
    if per_gb <= limit and cost.total is None:
        return None
    severity = CODES["objective_missed"].severity
    evidence: dict[str, Detail] = {"cost": round(per_gb, 4), "threshold": limit, "currency": currency}
    return SubjectLevel("objective_missed", COST, float(per_gb > limit), 1.0, severity, evidence)
