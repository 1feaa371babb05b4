"""The observed lake: which tables are listed now and how each one's metadata is read."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from limnograph.ports.catalog import TablePointer
from limnograph.ports.tables import Tables


class LakeListing(NamedTuple):
    """`pointers`: observed tables, as last probed. `listed`: names of all tables, observed or not, that are known;
    `complete`: catalogs all of whose tables were listed since this listing was requested, so that a table that is not
    `listed` does not exist. `failed`: one sentence for each catalog, part of one or table that did not respond;
    `answered`: catalogs that did. While nothing changes, the first two are the same objects.
    """

    pointers: tuple[TablePointer, ...]
    listed: frozenset[str]
    complete: frozenset[str]
    failed: tuple[str, ...] = ()
    answered: frozenset[str] = frozenset()


class ObservedLake(Protocol):
    """Never raises for one catalog: failures are in the listing."""

    def listing(self) -> LakeListing:
        """All catalogs and paths, probed now as far as their budget allows."""
        ...

    def newest(self, pointer: TablePointer) -> TablePointer | None:
        """A table probed again by itself, because what its pointer names is not there. None: it is no longer listed.

        Raises SourceError.
        """
        ...

    @property
    def tables(self) -> Tables:
        """Its tables, read with the credentials of their catalogs."""
        ...
