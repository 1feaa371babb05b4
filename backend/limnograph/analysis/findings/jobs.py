"""`job_silent` and `job_failing`: jobs that no longer run at their usual rhythm, or no longer succeed."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from limnograph.analysis.findings.episodes import Episode
from limnograph.analysis.findings.events import Detail
from limnograph.analysis.findings.facts import Flags, Floats, Ints
from limnograph.analysis.findings.level import NEVER
from limnograph.analysis.findings.objectives import missed, next_turn
from limnograph.analysis.findings.stretch import Stretch
from limnograph.domain.finding_codes import CODES
from limnograph.domain.finding_limits import DAY, HOUR, MINUTE, FindingLimits
from limnograph.domain.objectives import PromisedLimit
from limnograph.domain.time import MICROS_PER_MS, MICROS_PER_SECOND, Micros

WEEK = 7 * DAY
_UNHEARD = 5 * MINUTE
"""A source whose samples are further apart than this did not respond in between."""


class RunHistory(NamedTuple):
    """Ended runs of one job on one table, by their ends.

    ends      microseconds, ascending
    seconds   duration; NaN if unknown
    failed    whether the run failed
    answered  when their source last responded
    heard     instants at which the source had samples of any kind, ascending; None if it does not show that
    """

    job: str
    ends: Ints
    seconds: Floats
    failed: Flags
    answered: Micros
    heard: Ints | None = None


def job_episodes(runs: RunHistory, limits: FindingLimits, *, reads: bool = True) -> list[Episode]:
    """Episodes of one job until its source last responded. O(n log n) in runs. `reads`: whether it reads the table;
    a job that only writes it is never silent, because its table becomes stale.
    """
    return [*(_silences(runs, limits) if reads else ()), *_failures(runs, limits)]


def slow_runs(runs: RunHistory, promised: PromisedLimit) -> tuple[list[Episode], Micros]:
    """Episodes in which runs took longer than their objective, and when the last one changes although no run ends."""
    known = ~runs.failed & ~np.isnan(runs.seconds)
    over = (runs.seconds[known] * MICROS_PER_SECOND > promised.limit_us).tolist()
    ends = [Micros(end) for end in runs.ends[known].tolist()]
    state = missed(zip(ends, over, strict=True), runs.answered, promised)
    evidence: dict[str, Detail] = {"threshold_seconds": round(promised.limit_us / MICROS_PER_SECOND)}
    if ends:
        evidence["seconds"] = round(float(runs.seconds[known][-1]), 3)
    severity = CODES["objective_missed"].severity
    stretches = (*state.past, *([state.open] if state.open else []))
    found = [Episode("objective_missed", runs.job, each, severity, None, dict(evidence)) for each in stretches]
    return found, next_turn(state, promised)


def due(runs: RunHistory, limits: FindingLimits) -> Micros:
    """Until when the episodes of a job remain as they are while no run ends."""
    if len(runs.ends) < limits.silent_runs:
        return NEVER
    last = Micros(int(runs.ends[-1]))
    after = silent_after(np.diff(runs.ends), runs.ends[:-1], last, limits)
    return Micros(max(last + after, runs.answered + MINUTE))


def silent_after(gaps: Ints, starts: Ints, at: Micros, limits: FindingLimits) -> int:
    """Microseconds without a run after which a job is silent: 3 times its median gap, and 1.5 times the 95th percentile
    of the gaps that began in the same hour of the week; where fewer than three are known, of the day; else of all.
    """
    usual = gaps
    for period in (WEEK, DAY):
        near = np.abs((starts - at + period // 2) % period - period // 2) <= HOUR
        same = gaps[near & (at - starts > period // 2)]
        if len(same) >= limits.silent_gaps:
            usual = same
            break
    return max(
        round(limits.silent_median * float(np.median(gaps))),
        round(limits.silent_p95 * float(np.quantile(usual, 0.95))),
        limits.silent_least,
    )


def _silences(runs: RunHistory, limits: FindingLimits) -> Iterator[Episode]:
    ends = runs.ends
    if len(ends) < limits.silent_runs:
        return
    gaps = np.diff(ends)
    edges = np.append(ends[1:], runs.answered)
    medians = _medians_before(gaps)
    long = np.flatnonzero(edges - ends > np.maximum(limits.silent_least, limits.silent_median * medians - 1))
    for place in long[long >= limits.silent_runs - 1].tolist():
        last, until = Micros(ends[place]), Micros(edges[place])
        after = silent_after(gaps[:place], ends[:place], last, limits)
        silent = until - last - _unheard(runs.heard, last, until)
        if silent < after:
            continue
        stretch = Stretch(last, Micros(until - (silent - after)))
        if place + 1 < len(ends):
            stretch = stretch._replace(closed=until, closed_by="run")
        elif silent >= limits.silent_retired:
            stretch = stretch._replace(closed=Micros(last + limits.silent_retired), closed_by="retired")
        evidence = {
            "last_run": last // MICROS_PER_MS,
            "usual_gap_seconds": round(float(np.median(gaps[:place])) / MICROS_PER_SECOND),
            "runs": place + 1,
            "threshold_seconds": round(after / MICROS_PER_SECOND),
        }
        yield Episode("job_silent", runs.job, stretch, CODES["job_silent"].severity, None, dict(evidence))


def _medians_before(gaps: Ints) -> Floats:
    """The median of all gaps before each place, and before the end; 0 at the first. O(gaps · log gaps)."""
    found = np.zeros(len(gaps) + 1)
    known: list[int] = []
    for place, gap in enumerate(gaps.tolist(), 1):
        insort(known, gap)
        found[place] = (known[(place - 1) // 2] + known[place // 2]) / 2
    return found


def _unheard(heard: Ints | None, first: Micros, last: Micros) -> int:
    """Microseconds within an interval in which the source had no samples at all."""
    if heard is None:
        return 0
    inside = heard[(heard > first) & (heard < last)]
    pauses = np.diff(np.concatenate([[first], inside, [last]]))
    return int(pauses[pauses > _UNHEARD].sum())


def _failures(runs: RunHistory, limits: FindingLimits) -> Iterator[Episode]:
    failed = runs.failed
    if int(failed.sum()) < limits.failed_runs:
        return
    gap_us = float(np.median(np.diff(runs.ends))) if len(runs.ends) > 1 else 0.0
    began: int | None = None
    opened: Stretch | None = None
    row = 0
    for place, is_failed in enumerate(failed.tolist()):
        at = Micros(runs.ends[place])
        if not is_failed:
            if opened is not None:
                yield _failing(runs, opened._replace(closed=at, closed_by="run"), row, limits)
            began, opened, row = None, None, 0
            continue
        began = place if began is None else began
        row += 1
        if opened is None and (row >= limits.failed_runs or _mostly(runs, place, gap_us, limits)):
            opened = Stretch(Micros(runs.ends[began]), at)
    if opened is not None:
        yield _failing(runs, opened, row, limits)


def _mostly(runs: RunHistory, place: int, gap_us: float, limits: FindingLimits) -> bool:
    """Whether more than half of at least six runs within six usual gaps failed."""
    first = int(runs.ends.searchsorted(runs.ends[place] - limits.failed_within * gap_us))
    recent = runs.failed[first : place + 1]
    return len(recent) >= limits.failed_of and int(recent.sum()) * 2 > len(recent)


def _failing(runs: RunHistory, stretch: Stretch, failed: int, limits: FindingLimits) -> Episode:
    evidence = {"failed": failed, "runs": len(runs.ends), "threshold": limits.failed_runs}
    return Episode("job_failing", runs.job, stretch, CODES["job_failing"].severity, None, dict(evidence))
