"""Findings of columns: a null share, a range of values or a number of distinct values that leaves what is usual.

What is usual is what the same writer's last commits added. Reads commits in the order of time; memory per writer and
column is that of a few commits.
"""

from __future__ import annotations

import math
import statistics
from collections import defaultdict, deque
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from limnograph.analysis.column_values import bound_number, is_instant
from limnograph.analysis.findings.episodes import Cause, Episode
from limnograph.analysis.findings.events import Detail
from limnograph.analysis.findings.stretch import Stretch
from limnograph.domain.facts.column_stats import ColumnStat
from limnograph.domain.finding_codes import CODES, FindingCode
from limnograph.domain.finding_limits import FindingLimits
from limnograph.domain.time import MICROS_PER_SECOND, Micros

Evidence = dict[str, Detail]


class ColumnCommit(NamedTuple):
    """Statistics of the files that a commit added."""

    at: Micros
    snapshot_id: int
    writer: str | None
    stats: Sequence[ColumnStat]


class _Jump:
    """One measure: whether it is out of the usual, since when, and how it ended before."""

    def __init__(self) -> None:
        self.open: tuple[Stretch, str | None, Evidence] | None = None
        self.past: tuple[tuple[Stretch, str | None, Evidence], ...] = ()
        self._calm = 0

    def judge(self, commit: ColumnCommit, evidence: Evidence | None, limits: FindingLimits) -> None:
        """Take a commit. `evidence`: what is unusual about it; None: nothing."""
        if evidence is not None:
            self._calm = 0
            if self.open is None:
                self.open = (Stretch(commit.at, commit.at, commit.snapshot_id), commit.writer, evidence)
        elif self.open is not None:
            self._calm += 1
            if self._calm >= limits.column_back:
                self.close(commit.at, str(commit.snapshot_id))

    def close(self, at: Micros, by: str) -> None:
        """End what is open."""
        if self.open is not None:
            stretch, writer, evidence = self.open
            kept = self.past[-7:]
            self.past, self.open, self._calm = (
                (*kept, (stretch._replace(closed=at, closed_by=by), writer, evidence)),
                None,
                0,
            )

    def expires(self, limits: FindingLimits) -> Micros | None:
        """When what is open becomes the usual."""
        return None if self.open is None else Micros(self.open[0].opened + limits.expires_after)


class _Series:
    """A column as one writer fills it."""

    def __init__(self, limits: FindingLimits) -> None:
        self._limits = limits
        self._usual: deque[ColumnStat] = deque(maxlen=limits.column_commits)
        self.jumps: dict[FindingCode, _Jump] = {"null_share_jump": _Jump(), "bounds_jump": _Jump()}
        self.name = ""

    def take(self, commit: ColumnCommit, stat: ColumnStat) -> None:
        self.name = stat.name
        for jump in self.jumps.values():
            end = jump.expires(self._limits)
            if end is not None and end <= commit.at:
                jump.close(end, "expired")
                self._usual.clear()
        if len(self._usual) < self._limits.column_commits:
            self._usual.append(stat)
            return
        nulls = _null_jump(self._usual, stat, self._limits)
        bounds = _bounds_jump(self._usual, stat, commit.at, self._limits)
        self.jumps["null_share_jump"].judge(commit, nulls, self._limits)
        self.jumps["bounds_jump"].judge(commit, bounds, self._limits)
        if nulls is None and bounds is None:
            self._usual.append(stat)


class _Distinct:
    """Distinct values of a column, each estimate once."""

    def __init__(self, limits: FindingLimits) -> None:
        self._limits, self._last = limits, -1
        self._usual: deque[int] = deque(maxlen=limits.distinct_seen)
        self.jump, self.name = _Jump(), ""

    def take(self, commit: ColumnCommit, stat: ColumnStat) -> None:
        self.name = stat.name
        if stat.ndv is None:
            return
        end = self.jump.expires(self._limits)
        if end is not None and end <= commit.at:
            self.jump.close(end, "expired")
            self._usual.clear()
        found: Evidence | None = None
        if len(self._usual) == self._limits.distinct_seen:
            usual, ratio = statistics.median(self._usual), self._limits.distinct_ratio
            if not usual / ratio <= stat.ndv <= usual * ratio:
                found = {"distinct": stat.ndv, "usual_distinct": usual}
        self.jump.judge(commit, found, self._limits)
        if found is None and stat.ndv != self._last:
            self._usual.append(stat.ndv)
            self._last = stat.ndv


class ColumnWatch:
    """Columns of one table. Not thread-safe. Commits are taken in the order of time."""

    def __init__(self, limits: FindingLimits) -> None:
        self._limits = limits
        self._series: dict[tuple[str | None, int], _Series] = defaultdict(lambda: _Series(limits))
        self._distinct: dict[int, _Distinct] = defaultdict(lambda: _Distinct(limits))
        self.last: tuple[Micros, int] | None = None

    def take(self, commit: ColumnCommit) -> None:
        """Judge a commit. O(its columns)."""
        self.last = commit.at, commit.snapshot_id
        for stat in commit.stats:
            self._series[commit.writer, stat.id].take(commit, stat)
            self._distinct[stat.id].take(commit, stat)

    def episodes(self, until: Micros) -> list[Episode]:
        """What was unusual until an instant; of several writers of a column, one at a time."""
        found: dict[tuple[FindingCode, str], list[Episode]] = defaultdict(list)
        for code, subject, jump in self._jumps():
            found[code, subject] += _episodes(code, subject, jump, until, self._limits)
        return [each for episodes in found.values() for each in _apart(episodes)]

    def _jumps(self) -> Iterator[tuple[FindingCode, str, _Jump]]:
        for series in self._series.values():
            yield from ((code, series.name, jump) for code, jump in series.jumps.items())
        yield from (("cardinality_jump", distinct.name, distinct.jump) for distinct in self._distinct.values())


def _episodes(code: FindingCode, subject: str, jump: _Jump, until: Micros, limits: FindingLimits) -> Iterator[Episode]:
    for stretch, writer, evidence in (*jump.past, *([jump.open] if jump.open else ())):
        end = Micros(stretch.opened + limits.expires_after)
        if stretch.closed is None and end <= until:
            stretch = stretch._replace(closed=end, closed_by="expired")  # noqa: PLW2901
        cause = Cause((stretch.commit,) if stretch.commit is not None else (), writer, None)
        yield Episode(code, subject, stretch, CODES[code].severity, cause, evidence)


def _apart(episodes: Sequence[Episode]) -> list[Episode]:
    """Episodes that overlap are one, with the cause of the first: it ends when all of them have ended."""
    found: list[Episode] = []
    for each in sorted(episodes, key=lambda each: (each.stretch.opened, each.stretch.commit or 0)):
        last = found[-1].stretch if found else None
        if last is None or (last.closed is not None and last.closed < each.stretch.opened):
            found.append(each)
        elif last.closed is not None and (each.stretch.closed is None or each.stretch.closed > last.closed):
            joined = last._replace(closed=each.stretch.closed, closed_by=each.stretch.closed_by)
            found[-1] = found[-1]._replace(stretch=joined)
    return found


def _null_jump(usual: Collection[ColumnStat], stat: ColumnStat, limits: FindingLimits) -> Evidence | None:
    """A two-proportion test of the commit's nulls against those of the writer's last commits."""
    known = [(each.nulls, each.values) for each in usual if each.nulls is not None and each.values]
    if len(known) < limits.column_commits or stat.nulls is None or not stat.values:
        return None
    nulls, values = (sum(numbers) for numbers in zip(*known, strict=True))
    before, now = nulls / values, stat.nulls / stat.values
    pooled = (nulls + stat.nulls) / (values + stat.values)
    error = math.sqrt(pooled * (1 - pooled) * (1 / values + 1 / stat.values))
    change = abs(now - before)
    # The test's normal approximation does not hold for a handful of rows.
    if change < max(limits.null_points, limits.null_sigmas * error) or change * stat.values < limits.null_rows:
        return None
    return {"null_share": round(now, 6), "usual_share": round(before, 6), "nulls": stat.nulls, "values": stat.values}


def _bounds_jump(usual: Collection[ColumnStat], stat: ColumnStat, at: Micros, limits: FindingLimits) -> Evidence | None:
    """A range far wider than usual, unless the column grows; or an instant in the future."""
    lower, upper = bound_number(stat.type, stat.lower), bound_number(stat.type, stat.upper)
    if lower is None or upper is None:
        return None
    told: Evidence = {"lower": stat.lower, "upper": stat.upper}
    if is_instant(stat.type) and upper > (at + limits.bounds_future) / MICROS_PER_SECOND:
        return told | {"future": 1}
    bounds = [(bound_number(each.type, each.lower), bound_number(each.type, each.upper)) for each in usual]
    known = [(low, high) for low, high in bounds if low is not None and high is not None]
    if len(known) < limits.column_commits or _grows([low for low, _ in known]):
        return None
    width = max(high for _, high in known) - min(low for low, _ in known)
    if not width > 0 or upper - lower <= limits.bounds_ratio * width:
        return None
    return told | {"range_ratio": round((upper - lower) / width, 2)}


def _grows(lows: Sequence[float]) -> bool:
    """Whether a column grows from commit to commit, as ids and times of events do."""
    return lows[-1] > lows[0] and all(after >= before for before, after in pairwise(lows))
