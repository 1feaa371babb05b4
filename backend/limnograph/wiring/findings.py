"""Evaluates findings from the meta tables, for the command line."""

from __future__ import annotations

from typing import NamedTuple

from limnograph.adapters.inbox.store import SqlInbox
from limnograph.adapters.system_clock import SystemClock
from limnograph.domain.answers.findings import Finding
from limnograph.domain.ids import TableName
from limnograph.domain.time import Micros, Millis, to_micros
from limnograph.ports.inbox import PASS_MARK, Inbox
from limnograph.ports.query_engine import QueryEngine
from limnograph.services.alerts.registry import AlertRegistry
from limnograph.services.effects.owners import owners_in
from limnograph.services.findings.board import FindingsBoard, key_of
from limnograph.services.findings.critical_alerts import CriticalAlerts
from limnograph.services.findings.records import FindingRecords
from limnograph.services.findings.replay import FindingsReplay
from limnograph.services.findings.team_memory import TeamMemory
from limnograph.services.notes.owners import OwnerDirectory
from limnograph.services.notes.registry import NoteRegistry
from limnograph.settings import Settings
from limnograph.wiring.finding_limits import limits_of, objectives_of
from limnograph.wiring.watching import embedded_engine


def findings_at(settings: Settings, at: Millis | None, name: TableName | None) -> list[Finding]:
    """Findings that are open at an instant (default: when the pipeline last read the lake), the most severe first.
    Raises NotFound, SourceError.
    """
    engine = embedded_engine(settings)
    inbox = SqlInbox(settings.inbox_url)
    records = FindingRecords(inbox, engine)
    instant = to_micros(at) if at is not None else _last_pass(engine.head().written_at, inbox.newest(PASS_MARK))
    clock = _At(instant)
    alerts = AlertRegistry(inbox, engine, SystemClock())
    alerts.catch_up()
    replay = FindingsReplay(
        engine,
        records,
        fresh=engine,
        alerts=CriticalAlerts(alerts).at,
        limits=limits_of(settings.findings),
        objectives=objectives_of(settings),
    )
    board = FindingsBoard(replay.at(instant, name))
    team = _team(settings, _TeamSources(inbox, engine, records), clock)
    return [team.shown(fact, board.by_table[key_of(fact)]) for fact in board.open]


def _team(settings: Settings, sources: _TeamSources, clock: _At) -> TeamMemory:
    """What the team had written by an instant."""
    notes = NoteRegistry(sources.inbox, sources.engine, clock)
    notes.catch_up()
    notes = notes.as_of(clock.instant)
    configured = tuple((each.tables, each.owner) for each in settings.owners)
    owners = OwnerDirectory(notes, lambda: owners_in(sources.engine, Micros(clock.instant + 1)), configured)
    owners.refresh()
    team = TeamMemory(notes, owners, sources.records, clock)
    team.catch_up()
    return team


class _TeamSources(NamedTuple):
    """Where notes and acknowledged findings are read."""

    inbox: Inbox
    engine: QueryEngine
    records: FindingRecords


class _At(NamedTuple):
    """A clock at one instant."""

    instant: Micros

    def now(self) -> Micros:
        return self.instant


def _last_pass(*known: Micros | None) -> Micros:
    """Nothing is known after the last pass; without one, nothing is found anyway."""
    return max((at for at in known if at is not None), default=SystemClock().now())
