"""The known state of one catalog: its names, last pointers, and why something is stale. Pure; threads are elsewhere.
While a catalog is down, its last state is kept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from limnograph.domain.errors import SourceError, SourceRejected
from limnograph.domain.ids import TableName
from limnograph.ports.catalog import CatalogNames, ProbeResult, TablePointer
from limnograph.services.watcher.schedule import ProbeSchedule

FIRST_AGAIN_S, LAST_AGAIN_S = 1.0, 60.0
"""A failed catalog is retried after a second, with exponential back-off."""
DOUBT_S = 5.0
"""After a probe without an answer names are listed again, unless they were just now."""
IN_A_ROW = 3
"""Tables that fail one after another with no answer in between: it is the catalog."""
TOLD = 20
"""Of the tables that fail, as many are named one by one."""
_UNLOADED = "is listed, but the catalog cannot load it as an Iceberg table (404)"


class CatalogSnapshot(NamedTuple):
    """`version` changes when names, pointers or sentences do. `fresh`: all names were listed since they were requested.
    `answers`: the catalog responds; `failed`: sentences about it, about parts of it and about single tables.
    """

    version: int
    names: tuple[TableName, ...]
    pointers: tuple[TablePointer, ...]
    fresh: bool
    answers: bool
    failed: tuple[str, ...]


class CatalogState:
    """`wanted`: the tables whose pointers are requested. Seconds come from the caller."""

    def __init__(self, name: str, wanted: Callable[[TableName], bool], rate: float) -> None:
        self.name, self._wanted = name, wanted
        self.schedule = ProbeSchedule(rate)
        self.listed_at = self.again_at = float("-inf")
        """When the published listing began; when a failed catalog may be retried."""
        self.reason = ""
        """Why the catalog is stale; empty: it is not."""
        self.relist = True
        """Names are to be listed."""
        self._names: CatalogNames | None = None
        self._listed: tuple[TableName, ...] = ()
        self._pointers: tuple[TablePointer, ...] | None = ()
        self._reasons: dict[TableName, str] = {}
        self._lost: set[TableName] = set()
        self._row: list[TableName] = []
        self._doubted: set[TableName] = set()
        self._failures = 0
        self._version = 0

    def standing(self, asked_at: float) -> CatalogSnapshot:
        """The complete known state, for a request made at that time."""
        if self._pointers is None:
            self._pointers = tuple(self.schedule.pointers())
        parts = self._names.troubles if self._names else ()
        fresh = self.listed_at >= asked_at and not self.reason and not parts
        failed = (self.reason,) if self.reason else (*parts, *self._told())
        return CatalogSnapshot(self._version, self._listed, self._pointers, fresh, not self.reason, failed)

    def knows(self, name: TableName) -> bool:
        """Whether it was listed, or is not requested."""
        return self.schedule.knows(name) or not self._wanted(name)

    def listed(self, names: CatalogNames, began: float, *, probed: bool = True) -> None:
        """The catalog listed its tables. `probed`: that they are, one by one, besides."""
        self.listed_at, self.relist = began, False
        self.again_at, self._failures, self._row = float("-inf"), 0, []
        if self.reason:
            self.reason = ""
            self._version += 1
        if names is not self._names:
            self._take_over(names, began, probed=probed)
        for name in self._lost & names.tables.keys():
            self._because(name, f"{name}: {_UNLOADED}")
        self._lost.clear()

    def found(self, name: TableName, found: ProbeResult, now: float) -> None:
        """The catalog answered for one table."""
        self._row = []
        self._doubted.discard(name)
        self._moved(changed=self.schedule.found(name, found, now))
        if found.pointer is not None:
            self._because(name, None)
        elif name not in self._reasons and self.schedule.knows(name):
            # Dropped since it was listed, or never loadable: names tell, and whoever reads them.
            self._lost.add(name)
            self.relist = True

    def failed(self, name: TableName, error: SourceError, now: float) -> None:
        """The catalog did not answer for one table; when that is so for several in a row, it is the catalog."""
        self.schedule.failed(name, now)
        self._because(name, str(error) if str(name) in str(error) else f"{name}: {error}")
        if isinstance(error, SourceRejected):
            self._row = []
            return
        self._row.append(name)
        self._doubted.add(name)
        # Is it the table or the catalog? Its names tell; where they are denied too, it is opened again.
        self.relist = self.relist or now - self.listed_at >= DOUBT_S
        if len(self._row) >= IN_A_ROW:
            self.down(str(error), now)

    def down(self, reason: str, now: float) -> None:
        """The whole catalog does not answer."""
        self._failures += 1
        for name in self._doubted:
            self._because(name, None)
            self.schedule.again(name, now)
        self._doubted, self._row, self.relist = set(), [], True
        self.again_at = now + min(LAST_AGAIN_S, FIRST_AGAIN_S * 2 ** min(self._failures - 1, 10))
        if reason != self.reason:
            self.reason = reason
            self._version += 1

    def _take_over(self, names: CatalogNames, began: float, *, probed: bool) -> None:
        before, self._names = self._names, names
        listed = tuple(names.tables)
        if names.troubles:
            # What could not be listed may still be there.
            listed = tuple(dict.fromkeys((*listed, *self._listed)))
        if before is None or listed != self._listed or before.troubles != names.troubles:
            self._listed = listed
            self._version += 1
        wanted = [name for name in names.tables if self._wanted(name)]
        self._moved(changed=self.schedule.listed(names, wanted, began, probed=probed))
        for name in [name for name in self._reasons if not self.schedule.knows(name)]:
            self._because(name, None)

    def _moved(self, *, changed: bool) -> None:
        if changed:
            self._pointers = None
            self._version += 1

    def _because(self, name: TableName, reason: str | None) -> None:
        if self._reasons.get(name) == reason:
            return
        self._version += 1
        if reason is None:
            del self._reasons[name]
        else:
            self._reasons[name] = reason

    def _told(self) -> list[str]:
        found = sorted(self._reasons.values())
        more = [f"catalog {self.name}: {len(found) - TOLD} more tables did not respond"] if len(found) > TOLD else []
        return found[:TOLD] + more
