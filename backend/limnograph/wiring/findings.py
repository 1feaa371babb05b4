"""Evaluates findings from the meta tables, for the command line."""

from __future__ import annotations

from typing import NamedTuple

from limnograph.adapters.inbox.store import SqlInbox
from limnograph.adapters.system_clock import SystemClock
from limnograph.domain.answers.findings import Finding
from limnograph.domain.ids import TableName
from limnograph.domain.time import Micros, Millis, to_micros
from limnograph.ports.inbox import PASS_MARK
from limnograph.services.effects.owners import owners_in
from limnograph.services.findings.board import FindingsBoard, key_of
from limnograph.services.findings.records import FindingRecords
from limnograph.services.findings.replay import FindingsReplay
from limnograph.services.findings.team_memory import TeamMemory
from limnograph.services.notes.owners import OwnerDirectory
from limnograph.services.notes.registry import NoteRegistry
from limnograph.settings import Settings
from limnograph.wiring.watching import embedded_engine


def findings_at(settings: Settings, at: Millis | None, name: TableName | None) -> list[Finding]:
    """Findings that are open at an instant (default: when the pipeline last read the lake), the most severe first.
    Raises NotFound, SourceError.
    """
    engine = embedded_engine(settings)
    inbox = SqlInbox(settings.inbox_url)
    records = FindingRecords(inbox, engine)
    instant = to_micros(at) if at is not None else _last_pass(engine.head().written_at, inbox.newest(PASS_MARK))
    board = FindingsBoard(FindingsReplay(engine, records, fresh=engine).at(instant, name))
    clock = _At(instant)
    notes = NoteRegistry(inbox, engine, clock)
    notes.catch_up()
    notes = notes.as_of(instant)
    configured = tuple((each.tables, each.owner) for each in settings.owners)
    owners = OwnerDirectory(notes, lambda: owners_in(engine, Micros(instant + 1)), configured)
    owners.refresh()
    team = TeamMemory(notes, owners, records, clock)
    team.catch_up()
    return [team.shown(fact, board.by_table[key_of(fact)]) for fact in board.open]


class _At(NamedTuple):
    """A clock at one instant."""

    instant: Micros

    def now(self) -> Micros:
        return self.instant


def _last_pass(*known: Micros | None) -> Micros:
    """Nothing is known after the last pass; without one, nothing is found anyway."""
    return max((at for at in known if at is not None), default=SystemClock().now())
