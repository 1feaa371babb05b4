"""`job_slower` from a measured effect: the estimator's lower bound decides, not how slow the job looks. Pure."""

from __future__ import annotations

import numpy as np

from limnograph.analysis.findings.episodes import Episode
from limnograph.analysis.findings.jobs import RunHistory
from limnograph.analysis.findings.slowdown import LATEST
from limnograph.analysis.findings.stretch import Stretch
from limnograph.domain.answers.effects import Effect
from limnograph.domain.finding_codes import CODES
from limnograph.domain.finding_limits import FindingLimits
from limnograph.domain.time import MICROS_PER_SECOND, Micros, to_millis

HARM = 1.25
"""Lower bound of the ratio of a job's duration above which a finding is critical (docs/findings.md)."""


def slower_episode(
    runs: RunHistory, onset: int, began: Micros, effect: Effect, *, now: Micros, limits: FindingLimits
) -> Episode | None:
    """The episode of a slowdown that began with run `onset`; None: the estimator does not confirm it, or its level has
    become the usual one.
    """
    low, high, size = effect.low, effect.high, effect.estimate
    if effect.verdict != "worse" or size is None or low is None or low.ratio <= limits.slower:
        return None
    if now - began > limits.usual_after:
        return None
    usual, level = (float(np.nanmedian(part)) for part in (runs.seconds[:onset], runs.seconds[onset:]))
    evidence = {
        "ratio": round(size.ratio, 4),
        "ratio_low": round(low.ratio, 4),
        "ratio_high": None if high is None else round(high.ratio, 4),
        "usual_seconds": round(usual, 3),
        "seconds": round(level, 3),
        "runs": len(runs.ends) - onset,
        "since": to_millis(began),
        "threshold": limits.slower,
    }
    opened = Micros(int(runs.ends[min(onset + LATEST, len(runs.ends)) - 1]))
    severity = "critical" if low.ratio > HARM else CODES["job_slower"].severity
    return Episode("job_slower", runs.job, Stretch(began, opened), severity, None, dict(evidence))


def began_at(runs: RunHistory, onset: int) -> Micros:
    """Start of the first slow run; its end if its duration is unknown."""
    seconds = float(runs.seconds[onset])
    return Micros(int(runs.ends[onset]) - (0 if np.isnan(seconds) else round(seconds * MICROS_PER_SECOND)))


def is_back(effect: Effect, limits: FindingLimits) -> bool:
    """Whether the job is certainly no slower any more."""
    return effect.high is not None and effect.high.ratio < limits.slower_back
