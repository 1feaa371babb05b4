"""The observed lake: which tables are listed now and how each one's metadata is read."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from limnograph.ports.catalog import TablePointer
from limnograph.ports.tables import Tables


class Listing(NamedTuple):
    """`pointers`: observed tables. `listed`: names of all tables, observed or not, of the catalogs that answered
    (`complete`). `failed`: one sentence per catalog that did not.
    """

    pointers: tuple[TablePointer, ...]
    listed: frozenset[str]
    complete: frozenset[str]
    failed: tuple[str, ...] = ()


class Lake(Protocol):
    """Never raises for one catalog: what failed is told in the listing."""

    def listing(self) -> Listing:
        """All catalogs and paths, probed now."""
        ...

    @property
    def tables(self) -> Tables:
        """Its tables, read with the credentials of their catalogs."""
        ...
