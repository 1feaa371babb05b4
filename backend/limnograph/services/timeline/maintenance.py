"""The lane of maintenance: a bar for each action of an executor on the table, from its lease to its commit."""

from __future__ import annotations

from limnograph.domain.answers.lane_specs import empty_lane, head_of
from limnograph.domain.answers.timeline import Bar, BarsLane, Lane
from limnograph.domain.errors import SourceError
from limnograph.domain.ids import TableName
from limnograph.domain.time import TimeRange, to_micros, to_millis
from limnograph.services.jobs.lanes import problem_of
from limnograph.services.lake.store import HotStore
from limnograph.services.plans.actions import ActionLog, AttemptSpan

LANE = "maintenance"
MOST = 500
"""Most bars of one response; the newest ones."""
_FAILED = frozenset({"failed", "partly", "unknown", "conflicted"})


async def draw(
    log: ActionLog | None, store: HotStore, name: TableName, span: TimeRange, asked: tuple[str, ...]
) -> list[Lane]:
    """The lane, if it is requested. Absent without an action in the range."""
    if LANE not in asked:
        return []
    known = store.reading.lake.find(name) if store.reading.lake.histories else None
    if log is None or known is None:
        return [empty_lane(LANE, 0, "absent")]
    try:
        found = await store.reads.ask(log.of_table, known.uuid, to_micros(span.start), to_micros(span.end))
    except SourceError as error:
        return [empty_lane(LANE, 0, "error", problem_of(error))]
    bars = [_bar(each) for each in found[-MOST:]]
    return [BarsLane(**head_of(LANE), status="ok" if bars else "absent", resolution="raw", bars=bars)]


def _bar(action: AttemptSpan) -> Bar:
    state = "failed" if action.state in _FAILED else "running" if action.end is None else "ok"
    return Bar(
        start=to_millis(action.start),
        end=to_millis(action.end),
        label=action.action,
        state=state,
        detail=_detail(action),
    )


def _detail(action: AttemptSpan) -> str:
    if action.files_in is None or action.files_out is None:
        return action.state
    return f"{action.state}, {action.files_in:,} files became {action.files_out:,}"
