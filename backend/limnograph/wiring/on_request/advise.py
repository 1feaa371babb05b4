"""`limnograph advise` on the tables of the settings: from the meta tables, and the tables' own files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from limnograph.adapters.inbox.store import SqlInbox
from limnograph.adapters.system_clock import SystemClock
from limnograph.domain.advice.document import Advice, AdvisedTable
from limnograph.domain.errors import LimnographError, NotFound
from limnograph.domain.finding_limits import DAY
from limnograph.domain.ids import TableName
from limnograph.domain.time import Micros, Millis, to_micros, to_millis
from limnograph.services.advice.findings import advised_findings
from limnograph.services.advice.judging import AdviceInputs, TableJudge
from limnograph.services.advice.loads import BY_RUNS, weekly_loads
from limnograph.services.advice.saved_times import MeasuredSavings
from limnograph.services.advice.table_advice import unreadable
from limnograph.services.effects.records import EffectRecords
from limnograph.services.findings.board import FindingsBoard
from limnograph.services.findings.records import FindingRecords
from limnograph.services.findings.replay import FindingsReplay
from limnograph.services.lake.history import History
from limnograph.services.lake.lake import Histories
from limnograph.services.lake.loading import load
from limnograph.settings import Settings
from limnograph.settings.prices import prices_of
from limnograph.wiring.finding_limits import limits_of, objectives_of
from limnograph.wiring.on_request.advice import AdvisedTables
from limnograph.wiring.watching import embedded_engine

SPAN = 2 * DAY
"""History of a table that is read: rules about the writer look at its last rewrites."""


class CatalogAdvice(NamedTuple):
    """The document, and by a table's name why it is unreadable, and what its reads per day are counted from."""

    advice: Advice
    problems: Mapping[str, str]
    notes: Mapping[str, str]


def advise_tables(
    settings: Settings, name: TableName | None, now: Millis | None, progress: Callable[[str], None]
) -> CatalogAdvice:
    """One table that cannot be read does not stop the others. Raises NotFound, SourceError."""
    clock, engine, prices = SystemClock(), embedded_engine(settings), prices_of(settings.prices)
    started = to_millis(clock.now())
    instant = clock.now() if now is None else to_micros(now)
    inbox = SqlInbox(settings.inbox_url)
    replay = FindingsReplay(
        engine,
        FindingRecords(inbox, engine),
        fresh=engine,
        limits=limits_of(settings.findings),
        objectives=objectives_of(settings),
    )
    board, loads = FindingsBoard(replay.at(instant, name)), weekly_loads(engine, instant)
    inputs = AdviceInputs(
        findings=lambda: board,
        loads=loads.of_table,
        saved=MeasuredSavings(EffectRecords(inbox, engine), clock),
        prices=prices,
        trino={ours: theirs for theirs, ours in settings.trino.catalogs.items()} if settings.trino else {},
    )
    judge = TableJudge(AdvisedTables(settings), inputs, engine)
    tables, problems, notes = list[AdvisedTable](), dict[str, str](), dict[str, str]()
    span = load(engine, Micros(instant - SPAN), end=Micros(instant + 1)).tables
    chosen = _chosen(Histories(span), name)
    for place, (found, history) in enumerate(chosen, 1):
        progress(f"{place} of {len(chosen)}: {found}")
        try:
            advice = judge.judge(history.uuid, found, history, instant).advice
            tables.append(advice.advised)
            notes |= {str(found): BY_RUNS} if advice.counts_runs else {}
        except LimnographError as error:
            problems[str(found)] = str(error)
            known = advised_findings(board.by_table.get(history.uuid, ()))
            tables.append(unreadable(history.head.format if history.head else None, prices, found, known))
    return CatalogAdvice(Advice(generated_at=started, evaluated_at=to_millis(instant), tables=tables), problems, notes)


def _chosen(histories: Histories, name: TableName | None) -> list[tuple[TableName, History]]:
    """Listed tables by name, or the one with this name. Raises NotFound."""
    every = [
        (history.table.name, history)
        for history in histories.values()
        if history.table.name is not None and not history.table.dropped
    ]
    found = sorted(
        (each for each in every if name is None or each[0].plain == name.plain), key=lambda each: str(each[0])
    )
    if name is not None and not found:
        raise NotFound(f"unknown table {name}")
    return found
