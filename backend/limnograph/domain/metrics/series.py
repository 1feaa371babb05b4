"""Values exchanged with a metrics source, in Prometheus' terms: labels, samples, matrix, range query."""

from __future__ import annotations

import msgspec

from limnograph.domain.time import Millis


class RangeQuery(msgspec.Struct, frozen=True):
    """A PromQL range query. `start` and `end` are epoch milliseconds, both inclusive; `step_s` is a whole number of
    seconds.
    """

    promql: str
    start: Millis
    end: Millis
    step_s: int


class Series(msgspec.Struct, frozen=True):
    """Samples of one label set: `times` in ascending epoch milliseconds, `values` of the same length."""

    labels: dict[str, str]
    times: list[Millis]
    values: list[float]


class Matrix(msgspec.Struct, frozen=True):
    """Result of a range query. `truncated`: the source had more series than the limit."""

    series: list[Series]
    truncated: bool = False
