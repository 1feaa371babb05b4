"""Lets the server advise on observed tables: it reads them one by one in a child process that ends when it is idle."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from limnograph.adapters.sandbox.idle import IdlePool
from limnograph.adapters.sandbox.messages import AdviseTable
from limnograph.domain.advice.prices import Prices
from limnograph.domain.advice.reading import AdviceReading
from limnograph.domain.metadata.due import DueTable
from limnograph.domain.time import Millis
from limnograph.ports.advice_source import AdviceSource
from limnograph.services.advice.cost_findings import CostFindings
from limnograph.services.advice.evaluator import AdviceEvaluator
from limnograph.services.advice.held_findings import HeldFindings
from limnograph.services.advice.judging import AdviceInputs, TableJudge
from limnograph.services.advice.loads import recent_load
from limnograph.services.advice.pages import MaintenancePages
from limnograph.services.advice.plan_log import PlanLog
from limnograph.services.advice.plan_records import PlanRecords
from limnograph.services.advice.saved_times import MeasuredSavings
from limnograph.services.advice.writing_jobs import writing_job
from limnograph.settings import Settings, reread_catalogs
from limnograph.wiring.observe import access_of
from limnograph.wiring.server import ServerServices

DEADLINE_S = 60.0
"""Maximum own time of the child for one table."""
_DECODE = msgspec.json.Decoder(AdviceReading).decode


class AdvisedTables:
    """Port AdviceSource with the access of the settings. Immutable after construction."""

    def __init__(self, settings: Settings, pool: IdlePool | None = None) -> None:
        self._settings, self._pool = settings, pool or IdlePool()

    def read(self, due: DueTable, now: Millis) -> AdviceReading:
        # Credentials may have been rotated since the last table.
        access = access_of(self._settings.with_catalogs(reread_catalogs(self._settings)))
        (body,) = self._pool.ask(access, AdviseTable(due, now), min(access.deadline_seconds, DEADLINE_S))
        return _DECODE(bytes(body))


def with_advice(services: ServerServices, source: AdviceSource, prices: Prices) -> ServerServices:
    """The same services with recommended maintenance."""
    options = services.options
    records = PlanRecords(options.inbox, options.cold or options.engine)
    plans = PlanLog(records)
    trino = {ours: theirs for theirs, ours in options.trino_catalogs.items()}
    inputs = AdviceInputs(
        findings=lambda: services.evaluator.board,
        loads=lambda uuid, name: recent_load(
            services.observers.recent.numbers, services.runs, options.clock.now(), uuid, name
        ),
        saved=MeasuredSavings(services.effect_records, options.clock),
        readers=services.observers.risks.needs,
        jobs=lambda name, writer: writing_job(services.runs, name, writer, options.clock),
        prices=prices,
        trino=trino,
    )
    advisor = AdviceEvaluator(services.store, TableJudge(source, inputs, options.engine), plans, options.clock)
    pages = MaintenancePages(services.store, advisor, plans, services.team.owners, options.clock)
    held = HeldFindings(lambda: advisor.board, options.clock, options.limits)
    costs = CostFindings(lambda: advisor.board, options.promised, options.clock, options.limits)
    return replace(
        services, advisor=advisor, held=held, costs=costs, backend=services.backend._replace(maintenance=pages)
    )
