"""The meta tables as things that can be lost and made again, whatever they hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from limnograph.domain.facts.meta_tables import MetaTable
from limnograph.domain.time import Micros


class MetaTables(Protocol):
    """Tables of one namespace. All methods raise SourceError."""

    def lost(self) -> list[MetaTable]:
        """Tables that were there and are gone, whose metadata is gone, or that a rebuild left unfinished. None of a
        namespace in which no table stands: there everything begins.
        """
        ...

    def recreate(self, tables: Sequence[MetaTable], properties: Mapping[str, Mapping[str, str]]) -> None:
        """Drop what is left of the tables and create them empty, with properties by table name. Until `finish` they
        count as lost, and nobody else writes into them.
        """
        ...

    def reopen(self, tables: Sequence[MetaTable], since: Micros) -> None:
        """Roll-ups of `since` (microseconds) and later give way to any that is made from now on, whatever the sequence
        numbers that they were made from: those of a table that was made again begin anew.
        """
        ...

    def finish(self, tables: Sequence[MetaTable]) -> None:
        """The tables hold what only a rebuild can give; from here on they are like all others."""
        ...
