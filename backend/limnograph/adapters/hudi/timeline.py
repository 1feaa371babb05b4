"""The active timeline: completed instants in order, and pending ones.

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
"""Actions that change the table's content; compaction, log compaction and clustering complete as one of these."""
WRITE_ACTIONS = frozenset((*SNAPSHOT_ACTIONS, "compaction", "logcompaction", "clustering"))

_INSTANT = r"(?P<requested>\d{17}|\d{14})"
_ACTION = r"(?P<action>[a-z]+)"
_COMPLETED = {1: rf"{_INSTANT}\.{_ACTION}", 2: rf"{_INSTANT}_(?P<completed>\d{{17}}|\d{{14}})\.{_ACTION}"}
_PENDING = re.compile(rf"{_INSTANT}(?:\.{_ACTION})?\.(?:requested|inflight)", re.ASCII)


class HudiInstant(NamedTuple):
    """One completed instant. Times are as the table wrote them; `completed` only in layout 2. `size` in bytes."""

    requested: str
    completed: str | None
    action: str
    name: str
    size: int

    @property
    def order(self) -> tuple[str, str]:
        """Sort key in the table's history; texts of 14 and 17 digits compare as in Hudi."""
        return (self.completed or self.requested, self.requested)

    @property
    def timestamp_ms(self) -> Millis | None:
        """Completion time if the timeline has it, else the instant itself."""
        return instant_ms(self.completed or self.requested)


class HudiTimeline(NamedTuple):
    """The instants of a table.

    snapshots, others  completed, in order; others are clean, rollback, savepoint, …
    pending            writes that have not completed yet, or never will
    folder             location of the files
    """

    layout: int
    folder: str
    snapshots: tuple[HudiInstant, ...]
    others: tuple[HudiInstant, ...]
    pending: frozenset[str]

    def until(self, newest: HudiInstant | None) -> HudiTimeline:
        """The timeline as of the time when `newest` was the latest instant."""
        if newest is None:
            return self
        return self._replace(
            snapshots=tuple(i for i in self.snapshots if i.order <= newest.order),
            others=tuple(i for i in self.others if i.order <= newest.order),
        )

    @property
    def newest(self) -> HudiInstant | None:
        """The latest completed instant of any action."""
        return max((*self.snapshots[-1:], *self.others[-1:]), key=lambda instant: instant.order, default=None)

    @property
    def starts(self) -> str:
        """The earliest retained snapshot. Anything requested before it that is not pending is archived, and so had
        completed. Empty without snapshots: nothing counts as archived.
        """
        return min((i.requested for i in self.snapshots), default="")


def parse_timeline(files: Iterable[ListedFile], layout: int, folder: str) -> HudiTimeline:
    """Timeline from the file names in its folder; names that are not instants are ignored."""
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
    """A completed instant from the name of its file; None for any other file."""
    match = re.fullmatch(_COMPLETED[layout], name, re.ASCII)
    if match is None or match["action"] in {"requested", "inflight"}:
        return None
    return HudiInstant(match["requested"], match["completed"] if layout == 2 else None, match["action"], name, size)


def instant_ms(instant: str) -> Millis | None:
    """Epoch milliseconds of `yyyyMMddHHmmss[SSS]`; None if it is not a date (Hudi's bootstrap instants are not).

    Interpreted as UTC even if the table's timezone is LOCAL: no file records that zone, and a guess that changed
    between two passes would move commits to other days (ADR 0013).
    """
    parts = [int(instant[a:b]) for a, b in ((0, 4), (4, 6), (6, 8), (8, 10), (10, 12), (12, 14))]
    try:
        seconds = datetime(*parts, tzinfo=UTC)  # type: ignore[arg-type, misc]
    except ValueError:
        return None
    return Millis(int(seconds.timestamp()) * 1000 + (int(instant[14:17]) if len(instant) == 17 else 0))
