"""One request, all lanes of a table: metadata and metrics are fetched concurrently, and each lane fails separately."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec

from limnograph.domain.answers.lane_specs import empty_lane
from limnograph.domain.answers.timeline import ComparedPeriod, EventsLane, Lane, LaneStatus, Range, Timeline
from limnograph.domain.errors import InvalidInput, SourceError, SourceUnavailable
from limnograph.domain.ids import TableName
from limnograph.domain.time import MICROS_PER_SECOND, MS_PER_SECOND, TimeRange, to_micros, to_millis
from limnograph.ports.clock import Clock
from limnograph.services.alerts.registry import AlertRegistry
from limnograph.services.jobs import lanes as job_lanes
from limnograph.services.jobs import median as job_median
from limnograph.services.jobs import signals as job_signals
from limnograph.services.jobs.discovery import Jobs
from limnograph.services.lake.history import History
from limnograph.services.lake.store import HotStore, LakeView
from limnograph.services.plans.actions import ActionLog
from limnograph.services.sources.metrics import Metrics, page_budget
from limnograph.services.sources.page_metrics import PageMetrics
from limnograph.services.table.reads.page import ReadPages
from limnograph.services.timeline import alerts as alert_lane
from limnograph.services.timeline import attempts as attempt_lane
from limnograph.services.timeline import lanes
from limnograph.services.timeline import long_range as tier_lanes
from limnograph.services.timeline import maintenance as maintenance_lane
from limnograph.services.timeline import pending as alert_pending
from limnograph.services.timeline import reads as read_lanes
from limnograph.services.timeline import stream_lag as stream_lane
from limnograph.services.timeline.tier_reader import RolledHistory, TierReader

MAX_COMPARE_S = 731 * 86_400
"""Two years: the comparison of a whole year reaches this far back."""
JOB_LANES = frozenset({"job_duration", "job_runs", *job_signals.LANES})
DRAWN_LANES = frozenset(
    {
        "alerts",
        *JOB_LANES,
        *lanes.META_LANES,
        *read_lanes.VALUES,
        attempt_lane.LANE,
        stream_lane.LANE,
        maintenance_lane.LANE,
    }
)
_ANSWERED = {"ok", "partial", "stale"}


class _Meta(NamedTuple):
    history: History | None
    state: lanes.MetaState
    rolled: RolledHistory | None = None


class TimelineService:
    """Lanes of one table on one time axis. Immutable after construction."""

    def __init__(
        self,
        store: HotStore,
        jobs: Jobs,
        clock: Clock,
        meta: str = "limnograph",
        *,
        tiers: TierReader | None = None,
        viewed: Callable[[TableName], None] = lambda _name: None,
        alerts: AlertRegistry | None = None,
        metrics: Metrics | None = None,
        fresh_within_s: Callable[[TableName], float | None] = lambda _name: None,
        reads: ReadPages | None = None,
        actions: ActionLog | None = None,
    ) -> None:
        self._store, self._jobs, self._clock, self._named = store, jobs, clock, meta
        self._tiers, self._viewed, self._alerts, self._metrics = tiers, viewed, alerts, metrics
        self._fresh_within_s, self._reads, self._actions = fresh_within_s, reads, actions

    async def answer(
        self,
        name: TableName,
        span: TimeRange,
        asked: tuple[str, ...],
        job: str | None,
        compare_s: int | None,
        *,
        ref: str | None = None,
        other: TableName | None = None,
    ) -> Timeline:
        """Lanes in the requested order. `other`: the table to compare with, instead of a period. Raises NotFound,
        InvalidInput; SourceError if no lane is available.
        """
        if compare_s is not None and other is not None:
            raise InvalidInput("cmp_table", "cannot be combined with `cmp`; omit one of them")
        before = _earlier(span, compare_s) if compare_s is not None else span if other is not None else None
        reading = self._store.reading
        if reading.error is None or reading.lake.histories:
            reading.lake.find(name)  # an unknown table is an error of the request, not of a lane
        with self._store.reads.page():
            async with asyncio.TaskGroup() as group:
                now = group.create_task(self._lanes(name, span, asked, job, ref))
                compared = (name, job) if other is None else (other, None)
                then = group.create_task(self._lanes(compared[0], before, asked, compared[1])) if before else None
        ordered = now.result()
        _raise_if_nothing(ordered)
        watermark = self._store.known_until(name)
        return Timeline(
            range=Range(start=span.start, end=span.end, step=span.step_s),
            watermark=to_millis(watermark),
            t=list(span.instants()),
            lanes=ordered,
            cmp=ComparedPeriod(
                seconds=(span.start - before.start) // MS_PER_SECOND,
                lanes=then.result(),
                table=None if other is None else ".".join(other.plain),
            )
            if before and then
            else None,
        )

    async def _lanes(
        self, name: TableName, span: TimeRange, asked: tuple[str, ...], job: str | None, ref: str | None = None
    ) -> list[Lane]:
        """Lanes in the requested order; a failed source is a lane with a problem."""
        wanted = [lane for lane in asked if lane in lanes.META_LANES]
        async with asyncio.TaskGroup() as group:
            page = group.create_task(self._page(name, span, asked, job))
            meta = group.create_task(self._meta(name, span, wanted, ref))
            measured = group.create_task(self._measured(name, span, asked, job, page))
            alerted = group.create_task(self._alerted(name, span, asked, page))
            read = group.create_task(read_lanes.draw(self._reads, self._store, name, span, asked))
            attempts = group.create_task(attempt_lane.draw(self._reads, self._store, name, span, asked))
            acted = group.create_task(maintenance_lane.draw(self._actions, self._store, name, span, asked))
            lag = group.create_task(self._lag(name, span, asked))
        tasks = (meta, measured, alerted, read, attempts, lag, acted)
        found: dict[str, Lane] = {lane.id: lane for task in tasks for lane in task.result()}
        return [found[lane] for lane in asked]

    async def _page(
        self, name: TableName, span: TimeRange, asked: tuple[str, ...], job: str | None
    ) -> PageMetrics | None:
        """The queries of the job lanes, joined with those of the lane of alerts."""
        if not JOB_LANES.intersection(asked):
            return None
        at = min(span.end, to_millis(self._clock.now()))
        also = (alert_pending.selection(name),) if "alerts" in asked else ()
        with page_budget():
            return await self._jobs.page(name, job, span, at, also)

    async def _lag(self, name: TableName, span: TimeRange, asked: tuple[str, ...]) -> Sequence[Lane]:
        with page_budget():
            return await stream_lane.draw(self._jobs, name, span, asked)

    async def _alerted(
        self, name: TableName, span: TimeRange, asked: tuple[str, ...], page: asyncio.Task[PageMetrics | None]
    ) -> list[Lane]:
        if "alerts" not in asked:
            return []
        now_ms = to_millis(self._clock.now())
        return [await alert_lane.draw(self._alerts, self._metrics, name, span, now_ms, page=page)]

    async def _meta(self, name: TableName, span: TimeRange, wanted: list[str], ref: str | None) -> list[Lane]:
        if not wanted:
            return []
        found = await self._history(name, span)
        meta = found._replace(state=found.state._replace(ref=ref))
        if meta.history is None:
            return [empty_lane(lane, len(span.instants()), meta.state.status, meta.state.problem) for lane in wanted]
        if meta.rolled is None:
            return [_drawn(lanes.draw(lane, meta.history, span, meta.state), span) for lane in wanted]
        return [tier_lanes.draw(lane, meta.rolled, meta.history, span, meta.state) for lane in wanted]

    async def _history(self, name: TableName, span: TimeRange) -> _Meta:
        hot = self._store.reading
        state = self._state(hot, name)
        if state.status == "error":
            return _Meta(None, state)
        known = hot.lake.find(name)
        if known is None:
            return _Meta(None, state._replace(status="absent"))
        start = to_micros(span.start)
        self._store.asked(known.uuid)
        self._viewed(name)
        if hot.lake.reaches(start, known.uuid):
            return _Meta(known, state)
        try:
            reading, rolled = await self._store.reads.ask(self._long, known.uuid, span)
        except SourceError as error:
            reading, rolled = hot._replace(error=error, partial=True), None
        return _Meta(reading.lake.histories.get(known.uuid, known), self._state(reading, name), rolled)

    def _long(self, table_uuid: str, span: TimeRange) -> tuple[LakeView, RolledHistory | None]:
        """Roll-ups and the raw rows after their edge; raw rows only for short steps. Blocks. Raises SourceError."""
        lake = self._store.reading.lake
        floor = lake.edges.get(table_uuid, lake.floor)
        rolled = self._tiers.read(table_uuid, span, floor, self._clock.now()) if self._tiers else None
        start = rolled.edge if rolled else to_micros(span.start)
        return self._store.since(start, (table_uuid,)), rolled

    def _state(self, reading: LakeView, name: TableName) -> lanes.MetaState:
        now, watermark = self._clock.now(), self._store.known_until(name)
        known_until = now if watermark is None else min(now, watermark)
        age = None if watermark is None else max(0.0, (now - watermark) / MICROS_PER_SECOND)
        problem = job_lanes.problem_of(reading.error) if reading.error else None
        status: LaneStatus = "ok"
        if reading.error:
            status = "error" if not reading.lake.histories else "partial" if reading.partial else "stale"
        promised = self._fresh_within_s(name)
        return lanes.MetaState(status, age, problem, known_until, self._named, fresh_within_s=promised)

    async def _measured(
        self,
        name: TableName,
        span: TimeRange,
        asked: tuple[str, ...],
        job: str | None,
        asking: asyncio.Task[PageMetrics | None],
    ) -> list[Lane]:
        if not JOB_LANES.intersection(asked):
            return []
        at = min(span.end, to_millis(self._clock.now()))
        with page_budget():
            page = await asking
            chosen = job_lanes.choose(await self._jobs.of_table(name, at, page), job)
            async with asyncio.TaskGroup() as group:
                duration = group.create_task(job_lanes.duration(self._jobs, name, chosen, span, page))
                runs = group.create_task(job_lanes.runs(self._jobs, name, chosen, span, page))
                signals = group.create_task(job_signals.lanes(self._jobs, name, chosen, span, asked))
        return [job_median.beside(duration.result(), runs.result(), span), runs.result(), *signals.result()]


def _earlier(span: TimeRange, seconds: int) -> TimeRange:
    """The range this many seconds earlier, in whole steps. Raises InvalidInput."""
    if not 1 <= seconds <= MAX_COMPARE_S:
        raise InvalidInput("cmp", f"must be between 1 and {MAX_COMPARE_S} seconds")
    shift_ms = -(-seconds // span.step_s) * span.step_s * MS_PER_SECOND
    if span.start < shift_ms:
        raise InvalidInput("cmp", "must not reach back before 1970")
    return TimeRange(span.start - shift_ms, span.end - shift_ms, span.step_s)


def _drawn(lane: Lane, span: TimeRange) -> Lane:
    """The lane with at most as many marks as points."""
    if isinstance(lane, EventsLane):
        return msgspec.structs.replace(lane, events=tier_lanes.thinned(lane.events, span))
    return lane


def _raise_if_nothing(found: list[Lane]) -> None:
    """503 only if a source failed and no lane has data."""
    failed = [lane for lane in found if lane.status == "error"]
    if failed and not any(lane.status in _ANSWERED for lane in found):
        problem = failed[0].problem
        raise SourceUnavailable(failed[0].source, problem.detail if problem else "no lane is available")
