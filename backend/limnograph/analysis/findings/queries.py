"""`objective_missed` of queries: the 95th percentile of an hour of them exceeded its limit for the window."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from limnograph.analysis.findings.episodes import Episode
from limnograph.analysis.findings.events import Detail
from limnograph.analysis.findings.facts import Floats, Ints
from limnograph.analysis.findings.objectives import missed
from limnograph.analysis.findings.stretch import Stretch
from limnograph.domain.finding_codes import CODES, QUERIES
from limnograph.domain.finding_limits import DAY, HOUR, MINUTE
from limnograph.domain.objectives import PromisedLimit
from limnograph.domain.time import MICROS_PER_SECOND, Micros

LOOK_BACK = 2 * DAY
LEAST_QUERIES = 5
"""Queries of an hour below which its percentile says nothing, so that the limit counts as kept."""


def slow_queries(times: Ints, seconds: Floats, until: Micros, promised: PromisedLimit) -> list[Episode]:
    """Episodes of a table's queries of the last two days. `times`: their ends, ascending; `seconds`: their durations.
    The hour before each minute counts in which a query ended or left it. O(minutes · log queries).
    """
    known = ~np.isnan(seconds) & (times > until - LOOK_BACK - HOUR)
    times, seconds = times[known], seconds[known]
    points = list(_points(times, seconds, until, promised.limit_us / MICROS_PER_SECOND))
    state = missed(points, until, promised)
    evidence: dict[str, Detail] = {"threshold_seconds": round(promised.limit_us / MICROS_PER_SECOND, 3)}
    last = seconds[int(np.searchsorted(times, until - HOUR, "right")) :]
    if last.size:
        evidence |= {"seconds": round(_p95(last), 3), "queries": int(last.size)}
    first = until - LOOK_BACK + HOUR
    stretches = (*state.past, *([state.open] if state.open else []))
    severity = CODES["objective_missed"].severity
    return [
        Episode("objective_missed", QUERIES, _of_queries(each, first), severity, None, dict(evidence))
        for each in stretches
    ]


def _of_queries(stretch: Stretch, first: Micros) -> Stretch:
    """A stretch that no single run ended; `first`: before this instant, it may have begun earlier."""
    return stretch._replace(closed_by=None, truncated=stretch.began < first)


def _points(times: Ints, seconds: Floats, until: Micros, limit: float) -> Iterator[tuple[Micros, bool]]:
    """Instants at which the percentile may change, and whether it then exceeds the limit."""
    turns = np.unique(-(-np.concatenate([times, times + HOUR]) // MINUTE) * MINUTE)
    turns = turns[(turns > until - LOOK_BACK) & (turns <= until)]
    begins, ends = times.searchsorted(turns - HOUR, "right"), times.searchsorted(turns, "right")
    for at, begin, end in zip(turns.tolist(), begins.tolist(), ends.tolist(), strict=True):
        yield Micros(at), end - begin >= LEAST_QUERIES and _p95(seconds[begin:end]) > limit


def _p95(seconds: Floats) -> float:
    """The smallest duration that at least 95 % of the queries do not exceed."""
    place = -(-95 * seconds.size // 100) - 1
    return float(np.partition(seconds, place)[place])
