"""Builds the server: adapters -> services -> the routes' backend. Starts no task and opens no connection;
`wiring/server_runtime.py` does that.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from limnograph.domain.answers.alerts import AlertStreamEvent
from limnograph.ports.query_engine import QueryEngine
from limnograph.services.advice.cost_findings import CostFindings
from limnograph.services.advice.evaluator import AdviceEvaluator
from limnograph.services.advice.held_findings import HeldFindings
from limnograph.services.alerts.context import AlertContext
from limnograph.services.alerts.episode import AlertEpisode
from limnograph.services.alerts.pages import AlertPages
from limnograph.services.alerts.registry import AlertRegistry
from limnograph.services.alerts.staleness import AlertStaleness
from limnograph.services.alerts.views import view
from limnograph.services.effects.cases import EffectCases
from limnograph.services.effects.ledger import EffectLedger
from limnograph.services.effects.measuring import EffectMeasurer
from limnograph.services.effects.owners import TableOwners
from limnograph.services.effects.records import EffectRecords
from limnograph.services.events.event_rate import EventRate
from limnograph.services.events.intake import EventIntake
from limnograph.services.events.naming import TableResolver, known_tables, name_table
from limnograph.services.events.reported_commits import ReportedCommits
from limnograph.services.explain.labels import Labels
from limnograph.services.explain.page import ExplainContext, ExplainPages
from limnograph.services.find.finder import Finder, FindSources
from limnograph.services.findings.critical_alerts import CriticalAlerts
from limnograph.services.findings.effects import FindingEffects
from limnograph.services.findings.evaluator import FindingsEvaluator
from limnograph.services.findings.job_findings import JobFindings
from limnograph.services.findings.job_history import JobHistory
from limnograph.services.findings.of_alerts import AlertFindings
from limnograph.services.findings.pages import FindingPages
from limnograph.services.findings.records import FindingRecords
from limnograph.services.findings.team_memory import TeamMemory
from limnograph.services.fleet.gauges import TableGauges
from limnograph.services.fleet.page import FleetService
from limnograph.services.forecasts.pages import ForecastContext, ForecastPages
from limnograph.services.forecasts.records import ForecastRecords
from limnograph.services.jobs.directory import JobDirectory
from limnograph.services.jobs.discovery import Jobs
from limnograph.services.jobs.late_names import LateNaming
from limnograph.services.jobs.runs import RunRegistry
from limnograph.services.lake.store import HotStore
from limnograph.services.notes.owners import OwnerDirectory
from limnograph.services.notes.registry import NoteRegistry
from limnograph.services.pipeline.pass_marks import InboxState
from limnograph.services.plans.actions import ActionLog
from limnograph.services.plans.measured import MeasuredPlans
from limnograph.services.plans.plan_records import PlanRecords
from limnograph.services.plans.watch import PlanWatch
from limnograph.services.reads.attempts import AttemptSource
from limnograph.services.reads.commit_users import CommitUsers
from limnograph.services.reads.log import ReadLog
from limnograph.services.reads.source import ReadSource
from limnograph.services.server.backend import Backend
from limnograph.services.server.live import Live
from limnograph.services.server.status import StatusService
from limnograph.services.server.versions import LakeVersions
from limnograph.services.sources.cold_reads import ColdReads
from limnograph.services.sources.metrics import Metrics
from limnograph.services.table.columns.page import ColumnPages
from limnograph.services.table.commit import CommitDetails
from limnograph.services.table.commit_effects import CommitEffects
from limnograph.services.table.commit_list import CommitLists
from limnograph.services.table.overview import TableService
from limnograph.services.table.partitions.page import PartitionPages
from limnograph.services.table.reads.page import ReadPages
from limnograph.services.table.refs.page import RefPages
from limnograph.services.table.runbook import TableRunbooks
from limnograph.services.table.schema.lineage_page import LineagePages
from limnograph.services.table.schema.page import SchemaPages
from limnograph.services.table.storage.page import StoragePages
from limnograph.services.timeline.tier_reader import TierReader
from limnograph.services.timeline.timeline import TimelineService
from limnograph.services.watcher.viewed import ViewedTables
from limnograph.wiring.notes import note_pages
from limnograph.wiring.observers import Observers, ObserverSources, observers_of
from limnograph.wiring.server_options import ServerOptions
from limnograph.wiring.watcher_link import Readiness, WatcherLink


@dataclass(frozen=True)
class SharedServices:
    """Services that other services are built from. Immutable after construction."""

    store: HotStore
    """The newest rows of the meta tables in memory."""
    naming: TableResolver
    """Tables by the names that engines have for them."""
    runs: RunRegistry
    """Accepted job runs."""
    metrics: Metrics | None
    """All metrics sources; None if there are none."""
    jobs: Jobs
    """Jobs by table, and their signals."""
    job_directory: JobDirectory
    """All known jobs by table."""
    alerts: AlertRegistry
    """Accepted alerts."""
    staleness: AlertStaleness
    """Compares open alerts with their sources."""
    watcher: WatcherLink
    """The watcher process, if there is one."""
    readiness: Readiness
    """State of the first reads other than that of the meta tables."""
    live: Live
    """The hub of the live streams."""
    inbox_state: InboxState
    """The last known state of the inbox."""
    read_log: ReadLog
    """Reads that engines reported lately."""
    reported: ReportedCommits
    """Counts of commits that engines reported."""
    trino_rate: EventRate
    """How many events Trino may send, and how many were dropped."""
    cases: EffectCases
    """Collects what the effect of a commit on a job is measured by."""
    effect_records: EffectRecords
    """Measured effects."""
    measurer: EffectMeasurer
    """Measures the effects of maintenance operations."""
    finding_records: FindingRecords
    """Recorded transitions of findings."""
    actions: ActionLog
    """When executors worked on tables."""
    notes: NoteRegistry
    """Notes of the team."""
    team: TeamMemory
    """What the team wrote on findings."""
    evaluator: FindingsEvaluator
    """Evaluates what is wrong with each table."""
    job_findings: JobFindings
    """Evaluates the jobs that read tables."""
    observers: Observers
    """Evaluates what does not follow from commits and runs."""
    finding_effects: FindingEffects
    """Measures what the causes of findings did to jobs."""
    forecasts: ForecastRecords
    """The newest forecasts of all tables."""


@dataclass(frozen=True)
class ServerServices(SharedServices):
    """All services of one server. Immutable after construction."""

    options: ServerOptions
    """The options that the services were built from."""
    backend: Backend
    """The services that routes call."""
    gauges: TableGauges
    """Gauges and counters of the tables for `/metrics`."""
    advisor: AdviceEvaluator | None = None
    """Advises on tables; None: the server cannot read them."""
    held: HeldFindings | None = None
    costs: CostFindings | None = None
    """Findings of bytes that old snapshots hold; None: as `advisor`."""
    measured: MeasuredPlans | None = None
    """Lets plans become measured; None: as `advisor`."""
    plans: PlanWatch | None = None
    """Follows the transitions of plans; None: as `advisor`."""


def build_services(options: ServerOptions) -> ServerServices:
    """Services over the given adapters. Opens no connection and starts no task."""
    shared = _shared(options)
    return ServerServices(
        **vars(shared),
        options=options,
        backend=_backend(options, shared),
        gauges=TableGauges(shared.store, options.counters),
    )


def _shared(options: ServerOptions) -> SharedServices:
    engine, inbox, clock = options.engine, options.inbox, options.clock
    reads, live = ColdReads(options.cold_within_s), Live(options.caps)
    store = HotStore(engine, clock, cold=options.cold, fresh=options.fresh, most_bytes=options.hot_bytes, reads=reads)
    naming = TableResolver(options.catalogs, lambda: known_tables(store), lambda: store.reading)
    late = LateNaming(partial(name_table, naming=naming), lambda: store.reading)
    runs = RunRegistry(inbox, engine, clock, reads=reads, naming=late)
    metrics = Metrics(options.sources, clock) if options.sources else None
    alerts = AlertRegistry(inbox, engine, clock, reads=reads, tell=lambda episode: _publish(live, episode))
    watcher = WatcherLink(options.watch_command, store)
    jobs, old = Jobs(options.configured, runs, metrics, options.graphs), options.cold or engine
    cases, records = EffectCases(store, jobs), EffectRecords(inbox, old)
    finding_records, log = FindingRecords(inbox, engine), ReadLog(inbox, engine, clock)
    directory = JobDirectory(options.configured)
    forecasts = ForecastRecords(engine, clock)
    sources = ObserverSources(
        *(store, log, jobs, engine, old, watcher.sighted, forecasts),
        private=options.private_columns,
        objectives=options.promised,
        readers=options.readers,
    )
    evaluator = FindingsEvaluator(
        store,
        finding_records,
        clock,
        limits=options.limits,
        alerts=CriticalAlerts(alerts).now,
        objectives=options.promised,
    )
    notes = NoteRegistry(inbox, engine, clock)
    owners = OwnerDirectory(notes, TableOwners(store, engine).by_table, options.owners)
    return SharedServices(
        store=store,
        naming=naming,
        runs=runs,
        metrics=metrics,
        jobs=jobs,
        job_directory=directory,
        alerts=alerts,
        staleness=AlertStaleness(alerts, clock, metrics, options.active),
        watcher=watcher,
        readiness=Readiness(watcher),
        live=live,
        inbox_state=InboxState(inbox),
        read_log=log,
        reported=ReportedCommits(),
        trino_rate=EventRate(),
        cases=cases,
        effect_records=records,
        measurer=EffectMeasurer(store, cases, records, clock, engine=old),
        finding_records=finding_records,
        actions=ActionLog(inbox, old),
        notes=notes,
        team=TeamMemory(notes, owners, finding_records, clock),
        evaluator=evaluator,
        job_findings=JobFindings(
            store,
            JobHistory(jobs, clock),
            cases,
            clock,
            limits=options.limits,
            objectives=options.promised,
            directory=directory,
        ),
        observers=observers_of(sources, clock, options.limits),
        finding_effects=FindingEffects(evaluator, cases, clock),
        forecasts=forecasts,
    )


def _backend(options: ServerOptions, shared: SharedServices) -> Backend:
    store, clock, jobs, old = shared.store, options.clock, shared.jobs, options.cold or options.engine
    findings = FindingPages(store, shared.evaluator, shared.finding_records, shared.team)
    fleet = FleetService(
        store,
        jobs,
        clock,
        alerts=shared.alerts,
        sighted=shared.watcher.sighted,
        catalogs=tuple(options.catalogs),
        findings=findings,
        linked=shared.job_directory.linked,
        recent=lambda: shared.observers.recent.numbers,
    )
    users = CommitUsers(shared.read_log, old, clock)
    commits = CommitLists(store, users)
    context = AlertContext(
        tables=lambda: [known.name for known in known_tables(store)],
        commits=commits.page,
        finding_of=AlertFindings(lambda: findings.board, findings.shown).of,
        earlier=findings.earlier.before_alert,
        notes=shared.notes,
    )
    attempts = AttemptSource(shared.read_log, old, clock)
    reads = ReadPages(store, ReadSource(shared.read_log, old, clock), attempts, clock)
    effects = CommitEffects(shared.cases, clock)
    details = CommitDetails(store, old, jobs, effects, findings, attempts=attempts, users=users)
    alerts = _alert_pages(options, shared, context)
    return Backend(
        fleet=fleet,
        tables=TableService(store, jobs, clock, findings),
        timelines=_timelines(options, shared, old, reads),
        commits=commits,
        commit_details=details,
        runbooks=TableRunbooks(store, details, options.trino_catalogs, clock),
        partitions=PartitionPages(store, old, clock),
        schemas=SchemaPages(store, old, clock),
        lineage=LineagePages(store, old, shared.runs, clock),
        refs=RefPages(store, old, clock),
        reads=reads,
        columns=ColumnPages(store, old, clock, options.private_columns),
        storage=StoragePages(store, old, clock),
        explanations=ExplainPages(
            store, jobs, clock, ExplainContext(Labels(options.inbox, old, clock), findings, options.meta)
        ),
        effects=EffectLedger(
            *(store, shared.effect_records, shared.team.owners, shared.measurer),
            confirmed=PlanRecords(options.inbox, old).confirmed,
        ),
        findings=findings,
        forecasts=ForecastPages(
            store,
            shared.forecasts,
            ForecastContext(
                shared.team.owners,
                lambda: shared.evaluator.board,
                shared.job_findings.readers_of,
                options.prices,
                options.forecast_budget,
            ),
        ),
        finder=Finder(FindSources(store, fleet, shared.alerts, findings, shared.job_directory, old), clock),
        runs=shared.runs,
        events=_events(options, shared),
        alerts=alerts,
        notes=note_pages(shared.notes, store, (findings, details, alerts), clock, shared.live),
        status=_status(options, shared, fleet, alerts, findings),
        clock=clock,
        versions=LakeVersions(
            store,
            shared.runs,
            shared.metrics,
            shared.alerts,
            findings=lambda: shared.evaluator.board,
            team=shared.team.version,
            reads=lambda: shared.observers.recent.numbers.version,
            users=shared.read_log.users_named,
        ),
        live=shared.live,
        named=store.named,
        resolved=store.resolved,
    )


def _timelines(options: ServerOptions, shared: SharedServices, old: QueryEngine, reads: ReadPages) -> TimelineService:
    return TimelineService(
        shared.store,
        shared.jobs,
        options.clock,
        options.meta,
        tiers=TierReader(old, options.hourly_days),
        viewed=ViewedTables(shared.watcher.wake, options.clock),
        alerts=shared.alerts,
        metrics=shared.metrics,
        fresh_within_s=options.objectives,
        reads=reads,
        actions=shared.actions,
    )


def _events(options: ServerOptions, shared: SharedServices) -> EventIntake:
    sinks = (shared.runs, shared.naming, options.clock, shared.watcher.wake, shared.reported)
    return EventIntake(*sinks, trino_catalogs=options.trino_catalogs, trino_rate=shared.trino_rate)


def _alert_pages(options: ServerOptions, shared: SharedServices, context: AlertContext) -> AlertPages:
    metrics, manager = shared.metrics, options.alertmanager
    return AlertPages(
        shared.alerts, context, options.clock, metrics=metrics, active=options.active, alertmanager=manager
    )


def _status(
    options: ServerOptions, shared: SharedServices, fleet: FleetService, alerts: AlertPages, findings: FindingPages
) -> StatusService:
    return StatusService(
        shared.store,
        fleet,
        shared.metrics,
        options.clock,
        watch=shared.watcher.state,
        sighted=shared.watcher.sighted,
        inbox_error=lambda: shared.runs.error,
        cold=options.cold,
        also_waiting=shared.readiness.waiting_for,
        hourly_days=options.hourly_days,
        alertmanager=shared.staleness,
        last_pass=lambda: shared.inbox_state.last_pass,
        jobs=lambda: shared.job_directory.count,
        trino_events=shared.trino_rate,
        firing=alerts.firing,
        open_findings=findings.count_open,
    )


def _publish(live: Live, episode: AlertEpisode) -> None:
    live.publish("alert", AlertStreamEvent(alert=view(episode)))
