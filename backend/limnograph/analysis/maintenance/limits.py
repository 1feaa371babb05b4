"""Which policy applies to a table, and how it narrows what the rules of advice plan."""

from __future__ import annotations

from limnograph.analysis.advice.facts import PlanLimits
from limnograph.analysis.advice.retention import retention_rule
from limnograph.domain.ids import TableName
from limnograph.domain.maintenance.policy import (
    LEAST_KEPT,
    LEAST_ORPHAN_AGE_US,
    LEAST_RETENTION_US,
    MODES,
    MaintenanceMode,
    MaintenancePolicy,
    OrphanRule,
    PolicyRule,
    RetainedSnapshots,
)
from limnograph.domain.time import MICROS_PER_MS

RUNS_LENGTHS = 3
"""Unreferenced files are at least this many times as old as the longest run of a writer."""


def rule_of(policy: MaintenancePolicy, name: TableName) -> PolicyRule | None:
    """The last rule that matches; None: no policy names the table."""
    return next((rule for rule in reversed(policy.rules) if rule.tables.match_table(str(name))), None)


def stricter(*modes: MaintenanceMode) -> MaintenanceMode:
    """The strictest of some modes."""
    return min(modes, key=MODES.index)


def mode_of(policy: MaintenancePolicy, rule: PolicyRule | None, action: str) -> MaintenanceMode:
    """The mode of an action on a table. A table that no policy names is never changed; unreferenced files need a
    section of their own.
    """
    if rule is None:
        return stricter(policy.mode, "advise")
    # `off` stops everything, also policies with a mode of their own.
    own = "off" if policy.mode == "off" else rule.mode or policy.mode
    if action != "remove_orphan_files":
        return own
    return stricter(own, "advise" if rule.orphans is None else rule.orphans.mode)


def limits_of(_policy: MaintenancePolicy, rule: PolicyRule | None) -> PlanLimits:
    """Limits of the plans of a table, not below the floors; the rules' own without a policy."""
    if rule is None:
        return PlanLimits()
    retain = retain_of(rule)
    quiet = [each for each in (rule.quiet_us, rule.partitions_older_us) if each is not None]
    return PlanLimits(
        quiet_ms=_ms(max(quiet)) if quiet else None,
        retention=None if retain is None else retention_rule(retain),
        orphan_age_ms=None if rule.orphans is None else _ms(_orphan_age_us(rule.orphans)),
        saved_files=rule.worth.saved_files,
        freed_bytes=rule.worth.freed_bytes,
        payback_days=rule.min_payback_days,
        paying=rule.worth.paying,
    )


def _orphan_age_us(orphans: OrphanRule) -> int:
    """A writer that has not committed yet has files that no snapshot references (H6)."""
    return max(orphans.age_us, LEAST_ORPHAN_AGE_US, RUNS_LENGTHS * (orphans.longest_run_us or 0))


def retain_of(rule: PolicyRule | None) -> RetainedSnapshots | None:
    """Floor by age, number and readers: a job that may be behind finds the snapshots of its lag. None: the table's own
    retention alone.
    """
    if rule is None:
        return None
    lags = [reader.lag_us for reader in rule.readers]
    if rule.retain is None and not lags:
        return None
    age_us = max(LEAST_RETENTION_US, rule.retain.age_us if rule.retain else 0, *lags)
    return RetainedSnapshots(age_us, max(LEAST_KEPT, rule.retain.last if rule.retain else 0))


def _ms(duration_us: int) -> int:
    """Rounded up: a limit never becomes shorter."""
    return -(-duration_us // MICROS_PER_MS)
