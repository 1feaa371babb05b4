"""Policies of maintenance: what an executor may do with which table, as its own file says (ADR 51)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from limnograph.domain.ids import Patterns

MaintenanceMode = Literal["off", "advise", "approve", "auto"]
MODES: tuple[MaintenanceMode, ...] = ("off", "advise", "approve", "auto")
"""From the strictest to the most permissive."""
DAY_US = 86_400_000_000
LEAST_RETENTION_US, LEAST_KEPT = DAY_US, 2
LEAST_ORPHAN_AGE_US, DEFAULT_ORPHAN_AGE_US = 3 * DAY_US, 7 * DAY_US


class DailyWindow(NamedTuple):
    """A part of each day in UTC, in minutes from midnight; `from_minute` > `to_minute`: over midnight."""

    from_minute: int
    to_minute: int


class RetainedSnapshots(NamedTuple):
    """Least age and number of snapshots that an expiry keeps."""

    age_us: int
    last: int


class PolicyReader(NamedTuple):
    """A job that reads snapshots up to `lag_us` after their commit."""

    job: str
    lag_us: int


class OrphanRule(NamedTuple):
    """From which age unreferenced files may be removed, and in which mode."""

    age_us: int = DEFAULT_ORPHAN_AGE_US
    mode: MaintenanceMode = "approve"


class LeastWorth(NamedTuple):
    """From which saving on an action is due. None: the rule's own threshold.

    saved_files   files that a rewrite saves
    freed_bytes   bytes that an expiry or a removal of unreferenced files frees
    paying        whether an action must pay for itself
    """

    saved_files: int | None = None
    freed_bytes: int | None = None
    paying: bool = True


class PolicyRule(NamedTuple):
    """What holds for the tables that match. `name`: how decisions name it; None values: the default of `[maintenance]`.

    actions            rules or procedures that may run; None: all
    partitions_older_us  only partitions whose last commit is at least so old; None: the quiet time
    quiet_us           partitions written within it are left out; None: the rule's own quiet time
    max_rewrite_ratio  bytes rewritten in seven days per live byte
    hold               legal hold: nothing is deleted
    hold_out           share of due tables that wait for one period, as a control group
    """

    name: str
    tables: Patterns
    actions: frozenset[str] | None = None
    mode: MaintenanceMode | None = None
    windows: tuple[DailyWindow, ...] | None = None
    partitions_older_us: int | None = None
    quiet_us: int | None = None
    min_payback_days: float | None = None
    retain: RetainedSnapshots | None = None
    readers: tuple[PolicyReader, ...] = ()
    orphans: OrphanRule | None = None
    max_rewrite_ratio: float = 2.0
    hold: bool = False
    hold_out: float = 0.0
    worth: LeastWorth = LeastWorth()


class MaintenancePolicy(NamedTuple):
    """The whole policy. `rules`: the last match applies; a table that matches none has mode `mode` and no action other
    than advice.

    concurrent        actions at the same time, over all tables
    bytes_per_day, max_cost_per_day  budget of a UTC day; None: unlimited
    two_people        whether the approver must be another person than the proposer
    conflict_after_us, expires_after_us  first delay after a conflict; when an undecided plan expires
    """

    mode: MaintenanceMode = "advise"
    windows: tuple[DailyWindow, ...] = ()
    concurrent: int = 1
    bytes_per_day: int | None = None
    max_cost_per_day: float | None = None
    two_people: bool = False
    rules: Sequence[PolicyRule] = ()
    conflict_after_us: int = 900_000_000
    expires_after_us: int = 7 * DAY_US
