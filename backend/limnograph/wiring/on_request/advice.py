"""Lets the server advise on observed tables: it reads them one by one in a child process that ends when it is idle."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import msgspec

from limnograph.adapters.sandbox.idle import IdlePool
from limnograph.adapters.sandbox.messages import AdviseTable
from limnograph.domain.advice.prices import Prices
from limnograph.domain.advice.reading import AdviceReading
from limnograph.domain.facts.plans import PlanFact
from limnograph.domain.maintenance.policy import RetainedSnapshots
from limnograph.domain.metadata.due import DueTable
from limnograph.domain.time import Millis
from limnograph.ports.advice_source import AdviceSource
from limnograph.ports.plan_states import PlanStates
from limnograph.services.advice.cost_findings import CostFindings
from limnograph.services.advice.evaluator import AdviceEvaluator
from limnograph.services.advice.held_findings import HeldFindings
from limnograph.services.advice.judging import AdviceInputs, TableJudge
from limnograph.services.advice.loads import recent_load
from limnograph.services.advice.pages import MaintenancePages
from limnograph.services.advice.plan_pages import PlanPages, PlanSources
from limnograph.services.advice.plan_queue import PlanQueue
from limnograph.services.advice.saved_times import MeasuredSavings
from limnograph.services.advice.writing_jobs import writing_job
from limnograph.services.plans.desk import PlanDesk
from limnograph.services.plans.history import PlanHistory
from limnograph.services.plans.measured import MeasuredPlans
from limnograph.services.plans.plan_log import PlanLog
from limnograph.services.plans.plan_records import PlanRecords
from limnograph.services.plans.views import plan_stream_event
from limnograph.services.plans.watch import PlanWatch
from limnograph.services.server.live import Live
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

    def read(self, due: DueTable, now: Millis, retain: RetainedSnapshots | None = None) -> AdviceReading:
        # Credentials may have been rotated since the last table.
        access = access_of(self._settings.with_catalogs(reread_catalogs(self._settings)))
        (body,) = self._pool.ask(access, AdviseTable(due, now, retain), min(access.deadline_seconds, DEADLINE_S))
        return _DECODE(bytes(body))


def with_advice(services: ServerServices, source: AdviceSource, prices: Prices, states: PlanStates) -> ServerServices:
    """The same services with recommended maintenance and decisions on it."""
    options = services.options
    records = PlanRecords(options.inbox, options.cold or options.engine)
    desk = PlanDesk(states, lambda: records.newest().values())
    plans = PlanLog(desk)
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
    watch = PlanWatch(desk, options.inbox)
    queue = PlanQueue(watch, desk)
    pages = MaintenancePages(services.store, advisor, plans, services.team.owners, options.clock, queue=queue)
    held = HeldFindings(lambda: advisor.board, options.clock, options.limits)

    def named(uuid: str) -> str | None:
        table = services.store.reading.lake.tables.get(uuid)
        return str(table.name) if table is not None and table.name is not None else None

    history = PlanHistory(options.inbox, options.cold or options.engine)
    publish = partial(publish_plan, services.live)
    decisions = PlanPages(PlanSources(desk, history, lambda: advisor.board, watch, named, publish))
    backend = services.backend._replace(maintenance=pages, plans=decisions)
    measured = MeasuredPlans(desk, services.effect_records)
    costs = CostFindings(lambda: advisor.board, options.promised, options.clock, options.limits)
    return replace(services, advisor=advisor, held=held, costs=costs, plans=watch, measured=measured, backend=backend)


def publish_plan(live: Live, fact: PlanFact) -> None:
    """Report a transition on the live stream."""
    live.publish("plan", plan_stream_event(fact))
