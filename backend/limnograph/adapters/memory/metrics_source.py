"""MetricsSource over series in memory. Evaluates nothing: returns samples of a known query at the requested steps. A
step gets the sample at its time, else the latest one since the previous step.
"""

from __future__ import annotations

from bisect import bisect_right

from limnograph.domain.errors import SourceError
from limnograph.domain.metrics.series import Matrix, RangeQuery, Series
from limnograph.domain.time import Millis


class MemoryMetrics:
    """`answers`: query text -> series; an unknown query has no series. `failure` is raised instead, if set. For use on
    the event loop only.
    """

    def __init__(self, name: str, answers: dict[str, list[Series]], max_series: int = 1_000) -> None:
        self.name = name
        self._answers, self._max_series = answers, max_series
        self.failure: SourceError | None = None

    async def range(self, query: RangeQuery) -> Matrix:
        """Series at the requested steps, at most `max_series` of them."""
        if self.failure is not None:
            raise self.failure
        found = [_sampled(series, query) for series in self._answers.get(query.promql, [])]
        kept = [series for series in found if series.times]
        return Matrix(kept[: self._max_series], truncated=len(kept) > self._max_series)

    async def aclose(self) -> None:
        """Nothing to close."""


def _sampled(series: Series, query: RangeQuery) -> Series:
    width = query.step_s * 1000
    times: list[Millis] = []
    values = []
    for instant in map(Millis, range(query.start, query.end + 1, width)):
        index = bisect_right(series.times, instant) - 1
        if index >= 0 and series.times[index] > instant - width:
            times.append(instant)
            values.append(series.values[index])
    return Series(series.labels, times, values)
