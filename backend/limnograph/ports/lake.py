"""The observed lake: its current tables, and access to each one's metadata."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from limnograph.domain.watch import CatalogSeen
from limnograph.ports.catalog import TablePointer
from limnograph.ports.tables import Tables


class LakeListing(NamedTuple):
    """The observed tables. While nothing changes, `pointers` and `listed` are the same objects.

    pointers  observed tables, as last probed
    listed    names of all known tables, observed or not
    complete  catalogs whose tables were all listed since this listing was requested: any other table does not exist
    failed    one sentence per catalog, part of a catalog or table that did not respond
    answered  catalogs that responded
    catalogs  each catalog, in the order of the settings
    unmatched settings that match no table: `observe.include[0] 'lake.slaes.**'`; none while a catalog is incomplete
    """

    pointers: tuple[TablePointer, ...]
    listed: frozenset[str]
    complete: frozenset[str]
    failed: tuple[str, ...] = ()
    answered: frozenset[str] = frozenset()
    catalogs: tuple[CatalogSeen, ...] = ()
    unmatched: tuple[str, ...] = ()


class ObservedLake(Protocol):
    """Never raises because of one catalog: failures are part of the listing."""

    def listing(self) -> LakeListing:
        """All catalogs and paths, probed now within their budget."""
        ...

    def newest(self, pointer: TablePointer) -> TablePointer | None:
        """Probe a table again, because its pointer names a missing file. None: it is no longer listed.

        Raises SourceError.
        """
        ...

    @property
    def tables(self) -> Tables:
        """The tables, read with the credentials of their catalogs."""
        ...
