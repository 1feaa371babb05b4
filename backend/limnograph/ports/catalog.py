"""A catalog of observed tables: which tables there are and where each one's newest metadata lies."""

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
    """Tables of a catalog, views left out. The value is the pointer if the listing returns it, else None. `troubles`: a
    sentence per part of the catalog that could not be listed; tables of it may still exist.
    """

    tables: Mapping[TableName, TablePointer | None]
    troubles: tuple[str, ...] = ()


class ProbeResult(NamedTuple):
    """Result of a probe. `pointer` None: the catalog has no such table, or it is of another format or a view.

    `quiet_s`: seconds since its newest commit; `gap_s`: usual seconds between its latest ones. None: unknown.
    """

    pointer: TablePointer | None
    quiet_s: float | None = None
    gap_s: float | None = None


class Catalog(Protocol):
    """Called from several threads. Errors of all methods: SourceRejected is about the requested object alone,
    SourceUnavailable and SourceTimeout are about the catalog.
    """

    name: str

    @property
    def at_once(self) -> bool:
        """Whether `names` is one cheap query that returns all pointers, so that no table is probed separately."""
        ...

    def names(self, alive: Callable[[], None] = lambda: None) -> CatalogNames:
        """All tables; the same object again when nothing changed, where that is known. `alive` is called whenever a
        part of a long listing is there.
        """
        ...

    def probe(self, name: TableName) -> ProbeResult:
        """One table. Cheap when it has not moved since the last probe."""
        ...
