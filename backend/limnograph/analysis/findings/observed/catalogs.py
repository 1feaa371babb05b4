"""`catalog_near_limit`: a namespace with nearly as many tables as it can have, or a catalog that is slow or fails."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from limnograph.analysis.findings.events import Detail
from limnograph.analysis.findings.observed.subject_levels import SubjectLevel
from limnograph.domain.finding_codes import CODES
from limnograph.domain.finding_limits import FindingLimits
from limnograph.domain.time import MICROS_PER_SECOND

FEW = 20
"""Requests before a share or a percentile says something."""


class CatalogHealth(NamedTuple):
    """A catalog over the last 15 minutes. `tables`: by namespace; `requests`: number; `failed`: of them; `p95_s`: their
    duration, None: unknown.
    """

    tables: Mapping[str, int]
    requests: int = 0
    failed: int = 0
    p95_s: float | None = None


def catalog_levels(health: CatalogHealth, limits: FindingLimits) -> list[SubjectLevel]:
    """A level per namespace, and one each for errors and slowness. A catalog that fails is not slow too."""
    severity = CODES["catalog_near_limit"].severity
    found = []
    for namespace, tables in sorted(health.tables.items()):
        evidence: dict[str, Detail] = {"tables": tables, "limit": limits.catalog_tables}
        least = limits.catalog_share * limits.catalog_tables
        found.append(SubjectLevel("catalog_near_limit", namespace, tables, least, severity, evidence))
    if health.requests < FEW:
        return found
    share = health.failed / health.requests
    failing = SubjectLevel(
        "catalog_near_limit", "errors", share, limits.catalog_errors, severity, {"error_share": round(share, 4)}
    )
    found.append(failing)
    if health.p95_s is not None and not failing.is_over:
        slow = limits.catalog_slow / MICROS_PER_SECOND
        evidence = {"p95_seconds": round(health.p95_s, 3), "threshold_seconds": slow}
        found.append(SubjectLevel("catalog_near_limit", "latency", health.p95_s, slow, severity, evidence))
    return found
