"""Detection and recreation of lost meta tables, whatever their content."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from limnograph.domain.facts.meta_tables import MetaTable
from limnograph.domain.time import Micros


class MetaTables(Protocol):
    """Tables of one namespace. All methods raise SourceError."""

    def lost(self) -> list[MetaTable]:
        """Tables that were lost, whose metadata was lost, or that a rebuild left unfinished. Empty for a namespace
        without tables, which is a new installation.
        """
        ...

    def recreate(self, tables: Sequence[MetaTable], properties: Mapping[str, Mapping[str, str]]) -> None:
        """Drop the remains of the tables and create them empty, with properties by table name. Until `finish` they
        count as lost, and no other process writes to them.
        """
        ...

    def reopen(self, tables: Sequence[MetaTable], since: Micros) -> None:
        """Let any later roll-up replace those of `since` (microseconds) and later, regardless of the sequence numbers
        that they were computed from, which restart in a rebuilt table.
        """
        ...

    def finish(self, tables: Sequence[MetaTable]) -> None:
        """Mark the tables as complete: they contain everything that only a rebuild can restore."""
        ...
