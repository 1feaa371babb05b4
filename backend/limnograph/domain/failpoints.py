"""Failpoints: named places, before and after each durable step, at which the pipeline or the executor can be made to
fail. Off by default.

`LIMNOGRAPH_FAILPOINT=NAME:NTH:kill|raise` acts the NTH time NAME is passed in this process.
"""

from __future__ import annotations

import os
import signal
from collections import Counter

from limnograph.domain.errors import LimnographError, SettingsError

FAILPOINT_ENV = "LIMNOGRAPH_FAILPOINT"
PASS_STEPS = (
    *("create_tables", "append_first_seen", "append_columns", "append_snapshots", "append_changes"),
    "finish_pass",
)
INBOX_STEPS = ("append_inbox", "mark_inbox", "purge_inbox")
REPAIR_STEPS = ("replace_rows",)
UPKEEP_STEPS = (
    "merge_hours",
    "merge_days",
    "mark_rolled",
    "merge_reads",
    "mark_reads",
    "append_forecasts",
    "compact",
    "rewrite_manifests",
    "expire",
    "remove_orphans",
    "raise_floor",
    "delete_raw",
    "delete_hours",
    "clear_literals",
    "close_reports",
    "delete_reports",
    "merge_columns",
    "delete_columns",
    "append_maintenance",
)
WHEN = {
    "create_tables": "each pass, at its start",
    "append_first_seen": "a table is seen for the first time, or commits expired before they were read (a gap)",
    "append_columns": "a new snapshot added data files whose statistics of columns are known, once a minute and table",
    "append_snapshots": "a table has a new snapshot",
    "append_changes": "main moved, or a name, schema, spec, property, branch or a table's health changed",
    "finish_pass": "each pass, at its end",
    "append_inbox": "the inbox has a run, alert, report or label",
    "mark_inbox": "after append_inbox",
    "purge_inbox": "each drain of the inbox",
    "replace_rows": "a row is `partial` or `unreadable`, its files are readable again, and the last attempt was a day "
    "ago",
    "merge_hours": "snapshots or moves of main are newer than the last roll-up, which is 10 minutes ago",
    "merge_days": "after merge_hours",
    "mark_rolled": "after merge_days",
    "merge_reads": "a scan or query is newer than the last roll-up of reads, which is 10 minutes ago",
    "mark_reads": "after merge_reads",
    "append_forecasts": "a table has commits of an earlier day of the last eight, and the last forecasts are a day old",
    "compact": "the current day or month has 6 files, or closed ones have more than one",
    "rewrite_manifests": "a meta table has 100 manifests",
    "expire": "a meta table has snapshots older than an hour beyond its latest 10",
    "remove_orphans": "a meta table's folder contains a 3-day-old file that no snapshot references; after the first "
    "day",
    "raise_floor": "a raw row older than `[retention] raw_days` left its table's metadata, on a later day than before",
    "delete_raw": "a raw row older than `[retention] raw_days` left its table's metadata",
    "delete_hours": "a month of hours is older than `[retention] hourly_days`",
    "clear_literals": "the meta table `reports` has rows of a version that stored filters",
    "close_reports": "a report is older than 7 days",
    "delete_reports": "after close_reports",
    "merge_columns": "a row of the meta table `column_stats` is older than 7 days",
    "delete_columns": "after merge_columns",
    "append_maintenance": "a housekeeping step changed something",
}
"""Durable step -> when `pipeline --once` passes it; `tests/support/crash_lake.py` makes every step due."""
STEPS = (*PASS_STEPS, *INBOX_STEPS, *REPAIR_STEPS, *UPKEEP_STEPS)


def around(steps: tuple[str, ...]) -> tuple[str, ...]:
    """Names of the failpoints before and after each of the steps."""
    return tuple(f"{when}_{step}" for step in steps for when in ("before", "after"))


FAILPOINTS = around(STEPS)
"""Of the pipeline."""
MAINTAIN_WHEN = {
    "maintain.leased": "the executor holds a table's lease, and has recorded it",
    "maintain.planned": "it has planned again under the lease, and the plan is the approved one",
    "maintain.outputs-written": "the action has written its files, and has not committed",
    "maintain.committed": "the table contains the action's commit, which is not recorded yet",
    "maintain.files-deleted": "an expiry, a removal of unreferenced files or a vacuum has deleted its files",
    "maintain.verified": "the verification passed, and is not recorded yet",
    "maintain.measured": "the result is recorded, and the lease is still held",
}
"""Failpoint of `limnograph maintain` -> when it is passed."""
MAINTAIN_FAILPOINTS = tuple(MAINTAIN_WHEN)
ACTIONS = ("kill", "raise")


class FailpointReached(LimnographError):
    """Raised by a failpoint with action `raise`."""


class Failpoints:
    """Counts how often each name is passed. Does nothing unless the environment names a failpoint."""

    def __init__(self, setting: str = "") -> None:
        self._passed: Counter[str] = Counter()
        self._name, self._nth, self._action = _parse(setting) if setting else ("", 0, "")

    def reach(self, name: str) -> None:
        """Pass the failpoint `name`. May not return."""
        if name not in FAILPOINTS and name not in MAINTAIN_WHEN:
            raise ValueError(name)
        self._passed[name] += 1
        if name != self._name or self._passed[name] != self._nth:
            return
        if self._action == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        raise FailpointReached(f"failpoint {name} was reached for the {self._nth}. time")


def _parse(setting: str) -> tuple[str, int, str]:
    parts = setting.split(":")
    known = parts[0] in FAILPOINTS or parts[0] in MAINTAIN_WHEN
    if len(parts) != 3 or not known or not parts[1].isdecimal() or parts[2] not in ACTIONS:
        raise SettingsError(
            FAILPOINT_ENV, f"{setting!r} is not NAME:NTH:kill|raise; `limnograph failpoints` lists the names"
        )
    return parts[0], int(parts[1]), parts[2]
