"""Background tasks of the server. A failure is logged, shown in the status of its source, and ends no task."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Sequence

from limnograph.domain.answers.stream import ResetStreamEvent
from limnograph.domain.errors import LimnographError, SourceError
from limnograph.domain.facts.notes import NoteFact
from limnograph.domain.time import to_millis
from limnograph.ports.clock import Clock
from limnograph.ports.inbox import KEEP, Inbox
from limnograph.services.advice.cost_findings import CostFindings
from limnograph.services.advice.evaluator import AdviceEvaluator
from limnograph.services.advice.held_findings import HeldFindings
from limnograph.services.alerts.registry import AlertRegistry
from limnograph.services.alerts.staleness import AlertStaleness
from limnograph.services.effects.measuring import EffectMeasurer
from limnograph.services.findings.effects import FindingEffects
from limnograph.services.findings.evaluator import FindingsEvaluator
from limnograph.services.findings.job_findings import JobFindings
from limnograph.services.findings.team_memory import TeamMemory
from limnograph.services.findings.views import stream_event
from limnograph.services.jobs.runs import RunRegistry
from limnograph.services.lake.store import HotStore
from limnograph.services.notes.pages import NotePages
from limnograph.services.notes.registry import NoteRegistry
from limnograph.services.pipeline.pass_marks import InboxState
from limnograph.services.plans.actions import ActionLog
from limnograph.services.plans.measured import MeasuredPlans
from limnograph.services.plans.views import plan_stream_event
from limnograph.services.plans.watch import PlanWatch
from limnograph.services.reads.log import ReadLog
from limnograph.services.server.live import Live
from limnograph.services.sources.cold_reads import WITHIN_S
from limnograph.services.sources.metrics import Metrics
from limnograph.wiring.observers import Observers

REFRESH_S = 2.0
PROBE_SOURCES_S = 30.0
INBOX_S = 10.0
MOST_NOTES = 100
"""Events of notes that are published at once."""
CHECK_ALERTS_S = 30.0
MEASURE_S = 20.0
ACTIONS_S = 5.0
MARK_PLANS_S = 120.0
EVALUATE_S = 1.0
OBSERVE_JOBS_S = 15.0
OBSERVE_S = 15.0
ADVISE_S = 5.0
ADVISE_RESTS = 4
PLANS_S = 2.0
MOST_PLANS = 100
MOST_FINDINGS = 100
"""Transitions that are published one by one; after more, readers reload."""
FIRST_TABLES_S = 0.2
"""Interval at which `log_first_tables` polls, seconds."""
_log = logging.getLogger("limnograph.server")


async def keep_refreshing(store: HotStore, runs: RunRegistry) -> None:
    """Refresh the hot index from the meta tables."""
    await asyncio.to_thread(_log_failure, runs.restore)
    while True:
        await asyncio.to_thread(store.refresh)
        await asyncio.sleep(REFRESH_S)


async def read_first_alerts(alerts: AlertRegistry, ended: Callable[[], None]) -> None:
    """Read the stored alerts while the hot index is read for the first time. `ended` is called when the read has ended
    or takes too long, so that it does not delay readiness further.
    """
    reading = asyncio.ensure_future(asyncio.to_thread(_log_failure, alerts.catch_up))
    await asyncio.wait([reading], timeout=WITHIN_S)
    ended()
    await reading


async def log_first_tables(store: HotStore, watcher_cpu_s: Callable[[], float]) -> None:
    """Log the CPU time until the first tables are available. Unlike wall-clock time, it hardly depends on the machine's
    load.
    """
    while not (tables := len(store.reading.lake.listed)):  # noqa: ASYNC110  # the store has no event
        await asyncio.sleep(FIRST_TABLES_S)
    own, watcher = time.process_time(), watcher_cpu_s()
    _log.info(
        "first tables: %d after %.1f CPU s (server %.1f, watcher and its parsers %.1f)",
        *(tables, own + watcher, own, watcher),
    )


async def keep_reading_inbox(
    inbox: Inbox,
    runs: RunRegistry,
    alerts: AlertRegistry,
    clock: Clock,
    count_commits: Callable[[], None],
    *,
    state: InboxState,
) -> None:
    """Check the backlog of the inbox, read items that other servers accepted, and delete items that were committed more
    than an hour ago, even if no pipeline runs.
    """
    while True:
        await asyncio.to_thread(_log_failure, state.look)
        await asyncio.sleep(INBOX_S)
        await asyncio.to_thread(_log_failure, runs.catch_up)
        await asyncio.to_thread(_log_failure, alerts.catch_up)
        await asyncio.to_thread(count_commits)
        await asyncio.to_thread(_log_failure, lambda: inbox.purge(clock.now() - KEEP))


async def keep_reading_reports(reads: ReadLog) -> None:
    """Read reports of reads of the meta table and those that any server accepted."""
    while True:
        await asyncio.to_thread(_log_failure, reads.catch_up)
        await asyncio.sleep(INBOX_S)


async def keep_reading_notes(notes: NoteRegistry, team: TeamMemory, pages: NotePages) -> None:
    """Read notes of the meta table and those that other servers accepted, publish the latter, and read the owners of
    tables.
    """
    published = False
    while True:
        new = await asyncio.to_thread(_new_notes, notes)
        for fact in new[-MOST_NOTES:] if published else ():
            pages.publish(fact)
        published = notes.complete
        await asyncio.to_thread(_log_failure, team.catch_up)
        await asyncio.to_thread(_log_failure, team.owners.refresh)
        await asyncio.sleep(INBOX_S)


def _new_notes(notes: NoteRegistry) -> list[NoteFact]:
    try:
        return notes.catch_up()
    except LimnographError as error:
        _log.warning("%s", error)
        return []


async def keep_measuring_effects(measurer: EffectMeasurer, store: HotStore) -> None:
    """Measure the effects of maintenance operations, once the meta tables have been read."""
    while True:
        await asyncio.sleep(MEASURE_S)
        if not store.attempted:
            continue
        try:
            await measurer.measure_due()
        except LimnographError as error:
            _log.warning("effects: %s", error)
        except Exception:  # noqa: BLE001  # the next call starts from the same state
            _log.exception("effects could not be measured")


async def keep_marking_plans(measured: MeasuredPlans, store: HotStore) -> None:
    """Let verified plans become measured."""
    while True:
        await asyncio.sleep(MARK_PLANS_S)
        if store.attempted:
            await asyncio.to_thread(_log_failure, measured.mark)


async def keep_finding(evaluator: FindingsEvaluator, team: TeamMemory, store: HotStore, live: Live) -> None:
    """Evaluate findings as facts arrive, and publish their transitions, once the meta tables have been read."""
    while True:
        await asyncio.sleep(EVALUATE_S)
        if not store.attempted:
            continue
        try:
            recorded = await asyncio.to_thread(evaluator.evaluate)
            team.observe(evaluator.board)
            if len(recorded) > MOST_FINDINGS:
                live.publish("reset", ResetStreamEvent(reason="too-much"))
            for fact in recorded[:MOST_FINDINGS]:
                live.publish("finding", stream_event(fact))
        except LimnographError as error:
            _log.warning("findings: %s", error)
        except Exception:  # noqa: BLE001  # the next call starts from the same state
            _log.exception("findings could not be evaluated")


async def keep_measuring_findings(effects: FindingEffects, store: HotStore) -> None:
    """Measure the effects of findings. A task of its own: a finding does not wait for the effects of others to open."""
    while True:
        await asyncio.sleep(EVALUATE_S)
        if not store.attempted:
            continue
        try:
            await effects.measure_due()
        except LimnographError as error:
            _log.warning("effects of findings: %s", error)
        except Exception:  # noqa: BLE001  # the next call starts from the same state
            _log.exception("effects of findings could not be measured")


async def keep_observing_jobs(jobs: JobFindings, evaluator: FindingsEvaluator, store: HotStore) -> None:
    """Evaluate the runs of all jobs, once the meta tables have been read."""
    while True:
        await asyncio.sleep(OBSERVE_JOBS_S if store.attempted else EVALUATE_S)
        if not store.attempted:
            continue
        try:
            await jobs.observe(evaluator)
        except Exception:  # noqa: BLE001  # the next call starts from the same state
            _log.exception("jobs could not be evaluated")


async def keep_observing(observers: Observers, evaluator: FindingsEvaluator, store: HotStore) -> None:
    """Evaluate what does not follow from commits and runs, once the meta tables have been read."""
    while True:
        await asyncio.sleep(OBSERVE_S if store.attempted else EVALUATE_S)
        if not store.attempted:
            continue
        try:
            await observers.observe(evaluator)
        except Exception:  # noqa: BLE001  # the next call starts from the same state
            _log.exception("reads, reported commits, columns or pointers could not be evaluated")


async def keep_advising(
    advisor: AdviceEvaluator,
    observers: Sequence[HeldFindings | CostFindings | None],
    evaluator: FindingsEvaluator,
    store: HotStore,
) -> None:
    """Evaluate recommended maintenance, once the meta tables have been read. It may use a fifth of one core: after each
    table it rests four times as long as that took.
    """
    observed_at = float("-inf")
    while True:
        await asyncio.sleep(ADVISE_S)
        busy = store.attempted
        while busy:
            began = time.monotonic()
            try:
                busy = await asyncio.to_thread(advisor.evaluate_next)
                if began - observed_at >= OBSERVE_S:  # O(tables), and one table was read
                    observed_at = began
                    for each in [each for each in observers if each is not None]:
                        await asyncio.to_thread(each.observe, evaluator)
            except Exception:  # noqa: BLE001  # the next call continues with another table
                _log.exception("advice could not be evaluated")
            await asyncio.sleep(ADVISE_RESTS * (time.monotonic() - began))


async def keep_watching_plans(watch: PlanWatch, live: Live) -> None:
    """Publish the transitions of plans that other servers, commands and executors recorded. See PlanWatch for costs."""
    while True:
        try:
            new = await asyncio.to_thread(watch.catch_up)
            if len(new) > MOST_PLANS:
                live.publish("reset", ResetStreamEvent(reason="too-much"))
            for fact in new[:MOST_PLANS]:
                live.publish("plan", plan_stream_event(fact))
        except LimnographError as error:
            _log.warning("plans: %s", error)
        except Exception:  # noqa: BLE001  # the next call starts from the same state
            _log.exception("plans could not be followed")
        await asyncio.sleep(PLANS_S)


async def keep_knowing_actions(actions: ActionLog, store: HotStore) -> None:
    """Read recorded actions of executors, so that no page has to ask an engine for them."""
    while True:
        await asyncio.sleep(ACTIONS_S)
        if store.attempted:
            await asyncio.to_thread(_log_failure, actions.keep_up)


async def keep_checking_alerts(staleness: AlertStaleness) -> None:
    """Compare open alerts with their sources, because an alert may end without a notification."""
    while True:
        await asyncio.sleep(CHECK_ALERTS_S)
        with contextlib.suppress(LimnographError):
            await staleness.check()


async def keep_probing_sources(metrics: Metrics, clock: Clock) -> None:
    """Send a trivial query to every metrics source, so that the status shows whether it responds."""
    while True:
        with contextlib.suppress(SourceError):
            await metrics.instant("vector(1)", to_millis(clock.now()))
        await asyncio.sleep(PROBE_SOURCES_S)


def _log_failure(act: Callable[[], object]) -> None:
    try:
        act()
    except LimnographError as error:
        _log.warning("%s", error)
