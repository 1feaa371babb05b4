"""The origin of a table's columns, beside its schema: from runs in memory, and from the meta table where these do not
name the origin of every column.
"""

from __future__ import annotations

from limnograph.analysis.schema.field_trees import TreeField, tree_of
from limnograph.domain.answers.schemas import LineagePage
from limnograph.domain.answers.structure import Note
from limnograph.domain.errors import LimnographError
from limnograph.domain.ids import TableName
from limnograph.domain.time import MICROS_PER_SECOND, Micros, to_millis
from limnograph.ports.clock import Clock
from limnograph.ports.query_engine import QueryEngine
from limnograph.services.jobs.runs import RunRegistry
from limnograph.services.lake.history import History
from limnograph.services.lake.store import HotStore
from limnograph.services.lake.table_changes import ChangeLog, told
from limnograph.services.table.histories import TableHistories
from limnograph.services.table.schema.lineage import reported_lineage
from limnograph.services.table.schema.page import versions_of

REACH = Micros(8 * 86_400 * MICROS_PER_SECOND)
"""How old a run may be: a weekly one and a day."""


class LineagePages:
    """The origin of the columns of one table. Immutable after construction."""

    def __init__(self, store: HotStore, engine: QueryEngine, runs: RunRegistry, clock: Clock) -> None:
        self._store, self._engine, self._runs, self._clock = store, engine, runs, clock
        self._tables = TableHistories(store, clock)

    async def page(self, name: TableName) -> tuple[LineagePage, bool]:
        """The page, and whether the meta tables could not be read. Raises NotFound, or SourceError if the table is
        unknown.
        """
        with self._store.reads.page():
            history, found = await self._store.reads.ask(self._schemas, name)
            fields = _columns(found)
            notes = [*found.notes] if fields else [*found.notes, _SCHEMA_UNKNOWN]
            since, failed = Micros(self._clock.now() - REACH), found.failed
            lineage = reported_lineage(name, fields, self._runs.writing(name))
            if not lineage.is_complete:
                try:
                    lineage = reported_lineage(name, fields, await self._runs.writing_since(name, since))
                except LimnographError:
                    failed = True
                    notes.append(_OLDER_UNREAD)
        page = LineagePage(
            **self._tables.head(name, history, notes),
            since=to_millis(since),
            columns=lineage.columns,
            runs=lineage.runs,
        )
        return page, failed

    def _schemas(self, name: TableName) -> tuple[History, ChangeLog]:
        history = self._tables.now(name)
        return history, told(self._engine, history, ("schema",))


def _columns(found: ChangeLog) -> list[TreeField]:
    """Top-level columns of the current schema; empty if it is not known."""
    current = versions_of(found.changes)[1].schema
    tree = tree_of(current.detail) if current else None
    return [field for field in (tree or {}).values() if field.parent is None]


_SCHEMA_UNKNOWN = Note(
    code="schema_unknown", sentence="The current schema has not been read, so its columns are unknown."
)
_OLDER_UNREAD = Note(
    code="older_runs_unread",
    sentence="The meta tables could not be read: only runs in memory are considered; older ones may be missing.",
)
