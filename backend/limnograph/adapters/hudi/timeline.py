"""The active timeline: which instants a table completed, in which order, and which are still pending.

Layout 1 (table versions below 8): `.hoodie/<instant>.<action>[.<state>]`, ordered by instant. Layout 2:
`.hoodie/timeline/<requested>_<completed>.<action>`, ordered by completion. Reads names only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import NamedTuple

from limnograph.domain.time import Millis
from limnograph.ports.storage import ListedFile

SNAPSHOT_ACTIONS = ("commit", "deltacommit", "replacecommit")
"""Actions that change the table's content when completed; compaction, log compaction and clustering end as these."""
WRITE_ACTIONS = frozenset((*SNAPSHOT_ACTIONS, "compaction", "logcompaction", "clustering"))

_INSTANT = r"(?P<requested>\d{17}|\d{14})"
_ACTION = r"(?P<action>[a-z]+)"
_COMPLETED = {1: rf"{_INSTANT}\.{_ACTION}", 2: rf"{_INSTANT}_(?P<completed>\d{{17}}|\d{{14}})\.{_ACTION}"}
_PENDING = re.compile(rf"{_INSTANT}(?:\.{_ACTION})?\.(?:requested|inflight)", re.ASCII)


class HudiInstant(NamedTuple):
    """One completed instant. Times as the table wrote them; `completed` only in layout 2. `size` bytes."""

    requested: str
    completed: str | None
    action: str
    name: str
    size: int

    @property
    def order(self) -> tuple[str, str]:
        """Place in the table's history; texts of 14 and of 17 digits compare as Hudi compares them."""
        return (self.completed or self.requested, self.requested)

    @property
    def timestamp_ms(self) -> Millis | None:
        """Completion time if the timeline has it, else the instant itself."""
        return instant_ms(self.completed or self.requested)


class HudiTimeline(NamedTuple):
    """`snapshots` and `others` (clean, rollback, savepoint, …) are completed, in order. `pending`: instants of writes
    that never completed, or have not yet. `folder`: location of the files.
    """

    layout: int
    folder: str
    snapshots: tuple[HudiInstant, ...]
    others: tuple[HudiInstant, ...]
    pending: frozenset[str]

    def until(self, newest: HudiInstant | None) -> HudiTimeline:
        """What had completed when `newest` was the newest."""
        if newest is None:
            return self
        return self._replace(
            snapshots=tuple(i for i in self.snapshots if i.order <= newest.order),
            others=tuple(i for i in self.others if i.order <= newest.order),
        )

    @property
    def newest(self) -> HudiInstant | None:
        """The newest completed instant of any action."""
        return max((*self.snapshots[-1:], *self.others[-1:]), key=lambda instant: instant.order, default=None)

    @property
    def starts(self) -> str:
        """What was requested before this instant and is not pending is archived, and therefore had completed.

        Empty: nothing was.
        """
        return min((i.requested for i in self.snapshots), default="")


def parse_timeline(files: Iterable[ListedFile], layout: int, folder: str) -> HudiTimeline:
    """Timeline of the names in its folder; every other name is no instant."""
    done: dict[str, HudiInstant] = {}
    others: list[HudiInstant] = []
    open_writes: set[str] = set()
    for file in files:
        instant = parse_instant(file.name, layout, file.size)
        if instant and instant.action in SNAPSHOT_ACTIONS:
            kept = done.get(instant.requested)
            done[instant.requested] = min(kept or instant, instant, key=lambda i: i.order)
        elif instant and instant.action not in WRITE_ACTIONS:
            others.append(instant)
        elif (match := _PENDING.fullmatch(file.name)) and (match["action"] or "commit") in WRITE_ACTIONS:
            open_writes.add(match["requested"])
    return HudiTimeline(
        layout=layout,
        folder=folder,
        snapshots=tuple(sorted(done.values(), key=lambda instant: instant.order)),
        others=tuple(sorted(others, key=lambda instant: instant.order)),
        pending=frozenset(open_writes - done.keys()),
    )


def parse_instant(name: str, layout: int, size: int = 0) -> HudiInstant | None:
    """A completed instant by the name of its file; None for anything else."""
    match = re.fullmatch(_COMPLETED[layout], name, re.ASCII)
    if match is None or match["action"] in {"requested", "inflight"}:
        return None
    return HudiInstant(match["requested"], match["completed"] if layout == 2 else None, match["action"], name, size)


def instant_ms(instant: str) -> Millis | None:
    """Epoch milliseconds of `yyyyMMddHHmmss[SSS]`; None when it is no date (Hudi's bootstrap instants are none).

    Read as UTC, also where the table's timezone is LOCAL: no file says what that was, and a guess that changed
    between two passes would move commits to other days (ADR 0013).
    """
    parts = [int(instant[a:b]) for a, b in ((0, 4), (4, 6), (6, 8), (8, 10), (10, 12), (12, 14))]
    try:
        seconds = datetime(*parts, tzinfo=UTC)  # type: ignore[arg-type, misc]
    except ValueError:
        return None
    return Millis(int(seconds.timestamp()) * 1000 + (int(instant[14:17]) if len(instant) == 17 else 0))
