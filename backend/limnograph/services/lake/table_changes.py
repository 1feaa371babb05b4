"""All changes of one table: those in the meta tables, and those known only from the watcher."""

from __future__ import annotations

from typing import NamedTuple

from limnograph.domain.answers.structure import Note
from limnograph.domain.errors import LimnographError
from limnograph.domain.facts.meta_tables import ChangeFact
from limnograph.domain.metadata.table import MAIN
from limnograph.domain.time import Micros
from limnograph.ports.query_engine import MetaQuery, QueryEngine
from limnograph.services.lake.history import History
from limnograph.services.lake.loading import change_facts
from limnograph.services.lake.main_log import is_move


class ChangeLog(NamedTuple):
    """Changes in time order, each state once. `failed`: the meta tables could not be read, so only memory was used."""

    changes: list[ChangeFact]
    failed: bool

    @property
    def notes(self) -> list[Note]:
        """Notes on what is missing after a failed read."""
        said = "The meta tables could not be read: only changes in memory are shown; older ones may be missing."
        return [Note(code="meta_unread", sentence=said)] if self.failed else []


def told(engine: QueryEngine, history: History, kinds: tuple[str, ...]) -> ChangeLog:
    """Changes of these kinds. Blocks. Raises LimnographError if neither the meta tables nor memory has any."""
    known = [change for change in history.changes if change.kind in kinds]
    if "ref" in kinds:
        known += [_move(history, *move) for move in history.table.moves()]
    failed, durable = False, list[ChangeFact]()
    try:
        query = MetaQuery(table="changes", table_uuids=(history.uuid,), kinds=kinds)
        durable = change_facts(engine.select(query)) if history.uuid else []
    except LimnographError:
        if not known:
            raise
        failed = True
    united = {_identity(change): change for change in [*known, *durable]}
    return ChangeLog(_once(sorted(united.values(), key=lambda change: change.at)), failed)


def _once(changes: list[ChangeFact]) -> list[ChangeFact]:
    """Without rows that repeat the current state: watcher and pipeline each date the same state by when they saw it."""
    kept: list[ChangeFact] = []
    standing: dict[tuple[str, str | None], str | None] = {}
    for change in changes:
        state = change.kind, change.subject
        if is_move(change) or state not in standing or standing[state] != change.to_value:
            kept.append(change)
        standing[state] = change.to_value
    return kept


def _move(history: History, at: Micros, to: int, before: int | None) -> ChangeFact:
    return ChangeFact(
        table_uuid=history.uuid,
        catalog=history.name.catalog,
        namespace=history.name.namespace,
        table=history.name.table,
        kind="ref",
        subject=MAIN,
        from_value=None if before is None else str(before),
        to_value=str(to),
        at=at,
    )


def _identity(change: ChangeFact) -> tuple[object, ...]:
    """Names are left out: a renamed table has one history of its structure."""
    return change.kind, change.subject, change.to_value, change.at
