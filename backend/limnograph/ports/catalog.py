"""A catalog of observed tables: its tables and the location of each one's latest metadata."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol

from limnograph.domain.ids import TableName


class TablePointer(NamedTuple):
    """One table of a catalog. `location` is the metadata file that the catalog points at, as spelled there."""

    name: TableName
    format: str
    location: str


class CatalogNames(NamedTuple):
    """Tables of a catalog, without views. The value is the pointer if the listing returns it, else None. `troubles`:
    one sentence per part of the catalog that could not be listed; tables in it may still exist.
    """

    tables: Mapping[TableName, TablePointer | None]
    troubles: tuple[str, ...] = ()


class ProbeResult(NamedTuple):
    """Result of a probe.

    pointer  None: the catalog has no such table, or it is a view or has another format
    quiet_s  seconds since its latest commit; None: unknown
    gap_s    usual seconds between its latest commits; None: unknown
    """

    pointer: TablePointer | None
    quiet_s: float | None = None
    gap_s: float | None = None


class Catalog(Protocol):
    """Thread-safe. Errors of all methods: SourceRejected concerns only the requested object, SourceUnavailable and
    SourceTimeout the catalog.
    """

    name: str

    @property
    def at_once(self) -> bool:
        """Whether `names` is one cheap query that returns all pointers, so that no table is probed separately."""
        ...

    def names(self, alive: Callable[[], None] = lambda: None) -> CatalogNames:
        """All tables; the same object again if it is known that nothing changed. `alive` is called after each part of a
        long listing.
        """
        ...

    def probe(self, name: TableName) -> ProbeResult:
        """Probe one table. Cheap if it has not moved since the last probe."""
        ...
