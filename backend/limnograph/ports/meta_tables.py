"""The meta tables as things that can be lost and made again, whatever they hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from limnograph.domain.facts.meta_tables import MetaTable
from limnograph.domain.time import Micros


class MetaTables(Protocol):
    """Tables of one namespace. All methods raise SourceError."""

    def lost(self) -> list[MetaTable]:
        """Tables that were lost, whose metadata was lost, or that a rebuild left unfinished. None for a namespace
        without tables, which is a new installation.
        """
        ...

    def recreate(self, tables: Sequence[MetaTable], properties: Mapping[str, Mapping[str, str]]) -> None:
        """Drop the remains of the tables and create them empty, with properties by table name. Until `finish` they
        count as lost, and no other process writes to them.
        """
        ...

    def reopen(self, tables: Sequence[MetaTable], since: Micros) -> None:
        """Roll-ups of `since` (microseconds) and later are replaced by any later one, regardless of the sequence
        numbers that they were computed from, which restart in a rebuilt table.
        """
        ...

    def finish(self, tables: Sequence[MetaTable]) -> None:
        """The tables contain what only a rebuild can restore; they are now like any others."""
        ...
