"""Metrics of executed maintenance that the server exposes on `/metrics`. All labels are from closed or bounded sets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from limnograph.domain.metrics.gauges import ServedMetric

ACTIONS = (
    "rewrite_data_files",
    "rewrite_position_delete_files",
    "rewrite_manifests",
    "expire_snapshots",
    "remove_orphan_files",
    "optimize",
    "vacuum",
)
"""Values of the label `action`; any other is `other`."""
OTHER = "other"
SECONDS = (1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 1_800.0, 3_600.0, 7_200.0, 14_400.0, 43_200.0)
"""Upper bounds of the buckets of DURATION, seconds."""
PLANS = ServedMetric(
    "limnograph_maintenance_plans_total",
    "counter",
    "Transitions of plans since the start of the server, by action and the state entered (docs/maintenance.md).",
    ("action", "state"),
)
DURATION = ServedMetric(
    "limnograph_maintenance_seconds",
    "histogram",
    "Durations of actions from lease to commit, by action, since the start of the server.",
    ("action",),
)
REWRITTEN = ServedMetric(
    "limnograph_maintenance_bytes_rewritten_total",
    "counter",
    "Bytes of the files that the commits of actions replaced, by action, since the start of the server.",
    ("action",),
)
BREAKER_OPEN = ServedMetric(
    "limnograph_maintenance_breaker_open",
    "gauge",
    "Open breakers of maintenance, by scope and code. Absent while there is none.",
    ("scope", "code"),
)
UNVERIFIED = ServedMetric(
    "limnograph_maintenance_verification_failures_total",
    "counter",
    "Plans whose result the table did not confirm, since the start of the server. The breaker stays open until a user "
    "closes it.",
    (),
)
MAINTENANCE_METRICS = (PLANS, DURATION, REWRITTEN, BREAKER_OPEN, UNVERIFIED)


class ActionDurations(NamedTuple):
    """`counts`: number of durations up to each bound of SECONDS, and above."""

    counts: tuple[int, ...] = (0,) * (len(SECONDS) + 1)
    total_s: float = 0.0


class MaintenanceNumbers(NamedTuple):
    """The numbers by their labels."""

    plans: Mapping[tuple[str, str], int]
    durations: Mapping[str, ActionDurations]
    rewritten: Mapping[str, int]
    breakers: Mapping[tuple[str, str], int]
    unverified: int
