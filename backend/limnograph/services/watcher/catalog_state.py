"""The known state of one catalog: its names, last pointers, and why something is stale. Pure; threads are elsewhere.
While a catalog is down, its last state is kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from limnograph.domain.errors import SourceError, SourceRejected
from limnograph.domain.ids import TableName
from limnograph.ports.catalog import CatalogNames, ProbeResult, TablePointer
from limnograph.services.watcher.request_log import RequestLog, RequestNumbers
from limnograph.services.watcher.schedule import ProbeSchedule

FIRST_AGAIN_S, LAST_AGAIN_S = 1.0, 60.0
"""A catalog that failed is retried after a second, then with exponential back-off up to a minute."""
DOUBT_S = 5.0
"""After a failed probe names are listed again, unless a listing is more recent than this."""
IN_A_ROW = 3
"""With this many consecutive tables without a response the catalog itself counts as failed."""
NAMED = 20
"""Most failing tables that are named one by one."""
FULLEST = 20
"""Namespaces whose tables are counted for others: those with most tables."""
_UNLOADED = "is listed, but the catalog cannot load it as an Iceberg table (404)"


class CatalogSnapshot(NamedTuple):
    """The known state of a catalog at one moment."""

    version: int
    """Changes with names, pointers or sentences."""
    names: tuple[TableName, ...]
    """All listed tables, wanted or not."""
    pointers: tuple[TablePointer, ...]
    """Last known pointers of the wanted tables."""
    fresh: bool
    """All names were listed since the request."""
    answers: bool
    """The catalog responds."""
    failed: tuple[str, ...]
    """Sentences about the catalog, about parts of it and about single tables."""
    listing_s: float | None = None
    """Seconds that the newest listing of names took; None before the first."""
    requests: RequestNumbers = RequestNumbers()
    """How requests of the last quarter of an hour ended."""
    fullest: Mapping[str, int] = MappingProxyType({})
    """Listed tables of the namespaces that have most, wanted or not."""


class CatalogState:
    """The state of one catalog. `wanted`: whether a table's pointer is wanted; `rate`: most probes per second. Callers
    pass all times, in seconds of the monotonic clock. Guarded by the lock of the catalog's watch.
    """

    def __init__(self, name: str, wanted: Callable[[TableName], bool], rate: float) -> None:
        self.name = name
        self._wanted = wanted
        self.schedule, self.requests = ProbeSchedule(rate), RequestLog()
        self._fullest: Mapping[str, int] = {}
        self.listed_at = float("-inf")
        """When the request was made that the newest listing serves."""
        self.again_at = float("-inf")
        """When a failed catalog may be retried."""
        self.reason = ""
        """Why the catalog is stale; empty if it is not."""
        self.listing_s: float | None = None
        """Seconds that the newest listing took."""
        self.relist = True
        """Names must be listed."""
        self._names: CatalogNames | None = None
        """The newest listing as returned by the catalog."""
        self._listed: tuple[TableName, ...] = ()
        """Its tables, and those of parts that could not be listed."""
        self._pointers: tuple[TablePointer, ...] | None = ()
        """Pointers of the schedule; None: they changed."""
        self._reasons: dict[TableName, str] = {}
        """Why single tables are stale."""
        self._missing: set[TableName] = set()
        """Tables that the catalog cannot load; the next listing shows whether they were dropped."""
        self._failed_in_a_row: list[TableName] = []
        """Consecutive tables without a response."""
        self._doubted: set[TableName] = set()
        """Tables without a response, possibly because of the catalog."""
        self._failures = 0
        """Failures of the catalog since the last listing."""
        self._version = 0

    def snapshot(self, requested_s: float, now_s: float) -> CatalogSnapshot:
        """All that is known, for a request made at `requested_s`."""
        if self._pointers is None:
            self._pointers = tuple(self.schedule.pointers())
        parts = self._names.troubles if self._names else ()
        fresh = self.listed_at >= requested_s and not self.reason and not parts
        failed = (self.reason,) if self.reason else (*parts, *self._sentences())
        return CatalogSnapshot(
            *(self._version, self._listed, self._pointers, fresh, not self.reason, failed, self.listing_s),
            requests=self.requests.numbers(now_s),
            fullest=self._fullest,
        )

    def knows(self, name: TableName) -> bool:
        """Whether the table was listed or is not wanted."""
        return self.schedule.knows(name) or not self._wanted(name)

    def listed(self, names: CatalogNames, began_s: float, *, probed: bool = True) -> None:
        """The catalog listed its tables, for a request made at `began_s`. `probed`: they are also probed one by one."""
        self.listed_at, self.relist = began_s, False
        self.again_at, self._failures, self._failed_in_a_row = float("-inf"), 0, []
        if self.reason:
            self.reason = ""
            self._version += 1
        if names is not self._names:
            self._take_over(names, began_s, probed=probed)
        for name in self._missing & names.tables.keys():
            self._note_reason(name, f"{name}: {_UNLOADED}")
        self._missing.clear()

    def found(self, name: TableName, found: ProbeResult, now_s: float) -> None:
        """The catalog responded for one table."""
        self._failed_in_a_row = []
        self._doubted.discard(name)
        self._note_pointers(changed=self.schedule.found(name, found, now_s))
        if found.pointer is not None:
            self._note_reason(name, None)
        elif name not in self._reasons and self.schedule.knows(name):
            # Dropped since it was listed, or never loadable: the next listing shows which.
            self._missing.add(name)
            self.relist = True

    def failed(self, name: TableName, error: SourceError, now_s: float) -> None:
        """The catalog did not respond for one table; after several in a row the catalog itself counts as failed."""
        self.schedule.failed(name, now_s)
        self._note_reason(name, str(error) if str(name) in str(error) else f"{name}: {error}")
        if isinstance(error, SourceRejected):
            self._failed_in_a_row = []
            return
        self._failed_in_a_row.append(name)
        self._doubted.add(name)
        # A listing shows whether the table or the catalog failed; if the listing fails too, the catalog is opened
        # again.
        self.relist = self.relist or now_s - self.listed_at >= DOUBT_S
        if len(self._failed_in_a_row) >= IN_A_ROW:
            self.down(str(error), now_s)

    def down(self, reason: str, now_s: float) -> None:
        """The whole catalog does not respond."""
        self._failures += 1
        for name in self._doubted:
            self._note_reason(name, None)
            self.schedule.again(name, now_s)
        self._doubted, self._failed_in_a_row, self.relist = set(), [], True
        self.again_at = now_s + min(LAST_AGAIN_S, FIRST_AGAIN_S * 2 ** min(self._failures - 1, 10))
        if reason != self.reason:
            self.reason = reason
            self._version += 1

    def _take_over(self, names: CatalogNames, began_s: float, *, probed: bool) -> None:
        before, self._names = self._names, names
        listed = tuple(names.tables)
        if names.troubles:
            # Parts that could not be listed may still exist.
            listed = tuple(dict.fromkeys((*listed, *self._listed)))
        if before is None or listed != self._listed or before.troubles != names.troubles:
            self._listed = listed
            self._fullest = dict(Counter(name.namespace for name in listed).most_common(FULLEST))
            self._version += 1
        wanted = [name for name in names.tables if self._wanted(name)]
        self._note_pointers(changed=self.schedule.listed(names, wanted, began_s, probed=probed))
        for name in [name for name in self._reasons if not self.schedule.knows(name)]:
            self._note_reason(name, None)

    def _note_pointers(self, *, changed: bool) -> None:
        if changed:
            self._pointers = None
            self._version += 1

    def _note_reason(self, name: TableName, reason: str | None) -> None:
        if self._reasons.get(name) == reason:
            return
        self._version += 1
        if reason is None:
            del self._reasons[name]
        else:
            self._reasons[name] = reason

    def _sentences(self) -> list[str]:
        found = sorted(self._reasons.values())
        more = [f"catalog {self.name}: {len(found) - NAMED} more tables did not respond"] if len(found) > NAMED else []
        return found[:NAMED] + more
