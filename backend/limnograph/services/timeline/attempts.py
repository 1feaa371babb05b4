"""The lane of attempts: those that did not become a commit, by span. A span without a report that states them has no
value: engines other than Iceberg's own clients report refused commits only.
"""

from __future__ import annotations

from collections import defaultdict

from limnograph.analysis.alignment import Value
from limnograph.domain.answers.lane_specs import empty_lane, head_of
from limnograph.domain.answers.timeline import Lane, LineLane
from limnograph.domain.errors import SourceError
from limnograph.domain.ids import TableName
from limnograph.domain.time import TimeRange, to_micros
from limnograph.services.jobs.lanes import problem_of
from limnograph.services.lake.store import HotStore
from limnograph.services.table.reads.page import ReadPages
from limnograph.services.timeline.reads import width_of

LANE = "attempts"


async def draw(
    pages: ReadPages | None, store: HotStore, name: TableName, span: TimeRange, asked: tuple[str, ...]
) -> list[Lane]:
    """The lane, if it is requested."""
    if LANE not in asked:
        return []
    points = len(span.instants())
    if pages is None:
        return [empty_lane(LANE, points, "absent")]
    try:
        found = await store.reads.ask(pages.attempts, name, to_micros(span.start), to_micros(span.end))
    except SourceError as error:
        return [empty_lane(LANE, points, "error", problem_of(error))]
    width_us = width_of(span, exact=True)
    lost: dict[int, int] = defaultdict(int)
    for attempt in found.attempts:
        if attempt.retries is not None:
            lost[attempt.at // width_us * width_us] += attempt.retries
    begins = (to_micros(at) // width_us * width_us for at in span.instants())
    values: list[Value] = [lost.get(begin) for begin in begins]
    return [LineLane(**head_of(LANE), status="ok" if lost else "absent", resolution="raw", v=values)]
