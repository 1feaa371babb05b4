"""One query per metrics server for all lanes of a page; its series are separated and combined here.

Templates that cannot be joined (a configured query, a step without a finer one) and joined queries that a server
rejects or truncates are sent one by one instead, so that one of them fails alone.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from limnograph.domain.errors import SourceRejected
from limnograph.domain.metrics.promql import Expression
from limnograph.domain.metrics.series import Matrix, RangeQuery, Series
from limnograph.domain.time import MS_PER_SECOND, Millis, TimeRange
from limnograph.services.sources import templates
from limnograph.services.sources.metrics import Answer, Metrics, first_with_series, united

LEAST_STEP_S = 15
"""Runs are searched at a usual scrape interval: finer steps find no more."""
RUN_POINTS = 2_000
_STATS = {templates.DURATION: ("last", "duration"), templates.FINISHED: ("finished",)}


class PageMetrics(NamedTuple):
    """Responses of the servers, by name. `matchers`: labels of every requested series."""

    answers: Mapping[str, Answer]
    matchers: Mapping[str, str]

    def covers(self, matchers: Mapping[str, str]) -> bool:
        """Whether all series that the matchers select were requested."""
        return all(matchers.get(label) == value for label, value in self.matchers.items())

    def known(self) -> Matrix:
        """As `templates.jobs_of_table`, from all servers. Raises SourceError if none responded."""
        return united([_part(answer, {}, {"runs", "seen"}) for answer in self.answers.values()])

    def band(self, matchers: Mapping[str, str], server: str | None) -> Matrix:
        """As `templates.duration_band`, from the first server that has any. Raises SourceError."""
        return first_with_series(self._parts(matchers, {"min", "last", "max"}, server))

    def runs(self, matchers: Mapping[str, str], server: str | None, *, everywhere: bool) -> Matrix:
        """As `templates.finished_runs`, from all servers or from the first that has any. Raises SourceError."""
        found = self._parts(matchers, {"finished", "duration"}, None if everywhere else server)
        return united(found) if everywhere else first_with_series(found)

    def named(self, names: Collection[str], until: Millis) -> Matrix:
        """Series of additionally queried metrics, from all servers, up to an instant. Raises SourceError."""
        return united([_named(answer, names, until) for answer in self.answers.values()])

    def _parts(self, matchers: Mapping[str, str], stats: set[str], server: str | None) -> list[Answer]:
        left = {label: value for label, value in matchers.items() if label not in self.matchers}
        asked = (answer for name, answer in self.answers.items() if server in {None, name})
        return [_part(answer, left, stats) for answer in asked]


async def ask(
    metrics: Metrics, matchers: Mapping[str, str], span: TimeRange, at_ms: Millis, also: Sequence[Expression] = ()
) -> PageMetrics | None:
    """Query each server once. `also`: further queries to join. None: these queries must be sent one by one."""
    fine_s = finer(span)
    if fine_s is None:
        return None
    answers = await metrics.each(question(matchers, span, at_ms, fine_s, also))
    if any(isinstance(answer, SourceRejected) or _cut(answer) for answer in answers.values()):
        return None
    return PageMetrics(answers, matchers)


def question(
    matchers: Mapping[str, str], span: TimeRange, at_ms: Millis, fine_s: int, also: Sequence[Expression] = ()
) -> RangeQuery:
    """All queries of a page as one. `at_ms`: the instant at which jobs are known."""
    at_s, end_s = templates.snapped(at_ms) // MS_PER_SECOND, span.end // MS_PER_SECOND
    promql = templates.of_page(matchers, at_s, end_s, fine_s, templates.window_s(span.step_s), also=also)
    return RangeQuery(promql, span.start, span.end, fine_s)


def finer(span: TimeRange) -> int | None:
    """Seconds that divide the step and are close to the interval at which runs are searched; None if there are none."""
    wanted = runs_step(span.start, span.end)
    if span.step_s <= wanted:
        return span.step_s
    small = [seconds for seconds in range(1, math.isqrt(span.step_s) + 1) if span.step_s % seconds == 0]
    divisors = [*small, *(span.step_s // seconds for seconds in small)]
    below = max(seconds for seconds in divisors if seconds <= wanted)
    above = min(seconds for seconds in divisors if seconds >= wanted)
    if 2 * below >= wanted:
        return below
    return above if above <= 2 * wanted else None


def runs_step(start_ms: Millis, end_ms: Millis) -> int:
    """Seconds between the instants at which runs are searched, at most RUN_POINTS."""
    return max(LEAST_STEP_S, -(-(end_ms - start_ms) // (RUN_POINTS * MS_PER_SECOND)))


def _named(answer: Answer, names: Collection[str], until: Millis) -> Answer:
    if not isinstance(answer, Matrix):
        return answer
    found = (series for series in answer.series if series.labels.get("__name__") in names)
    ends = ((series, bisect_right(series.times, until)) for series in found)
    return Matrix([Series(series.labels, series.times[:end], series.values[:end]) for series, end in ends])


def _cut(answer: Answer) -> bool:
    return isinstance(answer, Matrix) and answer.truncated


def _part(answer: Answer, matchers: Mapping[str, str], stats: set[str]) -> Answer:
    """The series of some statistics that a selector with the matchers would have selected."""
    if not isinstance(answer, Matrix):
        return answer
    return Matrix([series for found in answer.series if _selected(found, matchers) for series in _as(found, stats)])


def _selected(series: Series, matchers: Mapping[str, str]) -> bool:
    return all(series.labels.get(label, "") == value for label, value in matchers.items())


def _as(series: Series, stats: set[str]) -> Iterator[Series]:
    """The series under each of the requested statistics."""
    labelled = series.labels.get(templates.STAT)
    stands_for: Sequence[str] = _STATS.get(series.labels.get("__name__", ""), ()) if labelled is None else (labelled,)
    for stat in stats.intersection(stands_for):
        yield Series({**series.labels, templates.STAT: stat}, series.times, series.values)
