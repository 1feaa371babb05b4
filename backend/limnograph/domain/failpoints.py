"""Named places where the pipeline may be made to die: before and after each durable step. Off unless asked for.

`LIMNOGRAPH_FAILPOINT=NAME:NTH:kill|raise` acts the NTH time NAME is passed in this process.
"""

from __future__ import annotations

import os
import signal
from collections import Counter

from limnograph.domain.errors import LimnographError, SettingsError

FAILPOINT_ENV = "LIMNOGRAPH_FAILPOINT"
PASS_STEPS = ("create_tables", "append_first_seen", "append_snapshots", "append_changes", "finish_pass")
INBOX_STEPS = ("append_inbox", "mark_inbox", "purge_inbox")
REPAIR_STEPS = ("replace_rows",)
UPKEEP_STEPS = (
    "merge_hours",
    "merge_days",
    "mark_rolled",
    "compact",
    "rewrite_manifests",
    "expire",
    "remove_orphans",
    "raise_floor",
    "delete_raw",
    "delete_hours",
    "append_maintenance",
)
STEPS = (*PASS_STEPS, *INBOX_STEPS, *REPAIR_STEPS, *UPKEEP_STEPS)


def around(steps: tuple[str, ...]) -> tuple[str, ...]:
    """Names of the failpoints before and after each of some steps."""
    return tuple(f"{when}_{step}" for step in steps for when in ("before", "after"))


FAILPOINTS = around(STEPS)
ACTIONS = ("kill", "raise")


class FailpointReached(LimnographError):
    """Raised on purpose by a failpoint with action `raise`."""


class Failpoints:
    """Counts how often each name is passed. Without a setting it does nothing."""

    def __init__(self, setting: str = "") -> None:
        self._passed: Counter[str] = Counter()
        self._name, self._nth, self._action = _parse(setting) if setting else ("", 0, "")

    def reach(self, name: str) -> None:
        """Pass the failpoint `name`; may not return."""
        if name not in FAILPOINTS:
            raise ValueError(name)
        self._passed[name] += 1
        if name != self._name or self._passed[name] != self._nth:
            return
        if self._action == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        raise FailpointReached(f"failpoint {name} was reached for the {self._nth}. time")


def _parse(setting: str) -> tuple[str, int, str]:
    parts = setting.split(":")
    if len(parts) != 3 or parts[0] not in FAILPOINTS or not parts[1].isdecimal() or parts[2] not in ACTIONS:
        raise SettingsError(
            FAILPOINT_ENV, f"{setting!r} is not NAME:NTH:kill|raise; `limnograph failpoints` prints the names"
        )
    return parts[0], int(parts[1]), parts[2]
