"""Runbooks for one table: statements with its own names, and conditions for the rows that a commit wrote."""

from __future__ import annotations

from collections.abc import Mapping

from limnograph.analysis.advice.statements.subject import StatementTable
from limnograph.analysis.advice.statements.template import FilledStatement, blocks_of, fill
from limnograph.domain.answers.runbooks import RunbookStatement, TableRunbook
from limnograph.domain.ids import NO_CATALOG, TableName, unescape_level
from limnograph.domain.time import to_millis
from limnograph.ports.clock import Clock
from limnograph.services.lake.store import HotStore
from limnograph.services.table.commit import CommitDetails
from limnograph.services.table.touched import ICEBERG

_OF_ICEBERG = frozenset({"sql", "trino", "python"})
_OTHER_FORMAT = "Iceberg statements do not run on tables of other formats."


class TableRunbooks:
    """`trino_catalogs`: names of observed catalogs by Trino's names. Immutable after construction."""

    def __init__(
        self, store: HotStore, commits: CommitDetails, trino_catalogs: Mapping[str, str], clock: Clock
    ) -> None:
        self._store, self._commits, self._clock = store, commits, clock
        self._in_trino = {ours: theirs for theirs, ours in trino_catalogs.items()}

    async def filled(self, runbook: str, text: str, name: TableName, snapshot_id: int | None) -> TableRunbook:
        """The runbook, for what a commit wrote if one is named. Raises NotFound, SourceError."""
        history = self._store.reading.lake.find(name)
        head = history.head if history else None
        touched = None if snapshot_id is None else await self._commits.touched(name, snapshot_id)
        table, now = self.subject(name), to_millis(self._clock.now())
        foreign = head is not None and head.format not in {None, ICEBERG}
        filled = (
            FilledStatement(None, _OTHER_FORMAT)
            if foreign and language in _OF_ICEBERG
            else fill(language, code, table, touched, now)
            for language, code in blocks_of(text)
        )
        statements = [RunbookStatement(code=each.code, note=each.note) for each in filled]
        return TableRunbook(name=runbook, statements=statements)

    def subject(self, name: TableName) -> StatementTable:
        """The table as statements address it."""
        levels = tuple(map(unescape_level, name.namespace.split("."))) if name.namespace else ()
        catalog = None if name.catalog == NO_CATALOG else name.catalog
        in_trino = self._in_trino.get(name.catalog)
        return StatementTable(catalog, levels, unescape_level(name.table), location="", trino_catalog=in_trino)
