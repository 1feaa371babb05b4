"""Evaluates findings from the meta tables, for the command line."""

from __future__ import annotations

from limnograph.adapters.inbox.store import SqlInbox
from limnograph.adapters.system_clock import SystemClock
from limnograph.domain.answers.findings import Finding
from limnograph.domain.ids import TableName
from limnograph.domain.time import Micros, Millis, to_micros
from limnograph.ports.inbox import PASS_MARK
from limnograph.services.alerts.registry import AlertRegistry
from limnograph.services.findings.board import FindingsBoard, key_of
from limnograph.services.findings.critical_alerts import CriticalAlerts
from limnograph.services.findings.records import FindingRecords
from limnograph.services.findings.replay import FindingsReplay
from limnograph.services.findings.views import view
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
    found = replay.at(instant, name)
    board = FindingsBoard(found)
    return [view(fact, board.by_table[key_of(fact)]) for fact in board.open]


def _last_pass(*known: Micros | None) -> Micros:
    """Nothing is known after the last pass; without one, nothing is found anyway."""
    return max((at for at in known if at is not None), default=SystemClock().now())
