"""Evidence for and against a suspect, as numbers and sentences: timing, magnitude, mechanism, recurrence."""

from __future__ import annotations

import math

import numpy as np

from limnograph.analysis.explain.attribution import Shares
from limnograph.analysis.explain.case import FEATURES, CaseCommits, CaseSeries
from limnograph.analysis.explain.lag import onset_mass
from limnograph.analysis.explain.structure import KNOTS, CommitStructure, top_features
from limnograph.domain.answers.explanations import Evidence, Hypothesis, Similar
from limnograph.domain.time import MS_PER_SECOND

UNITS = ("B", "kB", "MB", "GB", "TB", "PB")
NAMES = {name: name.replace("_", " ") for name in FEATURES}


def supporting(
    suspect: Hypothesis,
    *,
    job: CaseSeries,
    commits: CaseCommits,
    structure: CommitStructure,
    shares: Shares,
    commit: int,
) -> None:
    """Set the four scores (0 to 1) and the evidence for the suspect."""
    lag = suspect.lag_seconds or 0.0
    found = [Evidence("timing", "for", f"The change starts {_duration(lag)} after this commit.", lag)]
    if np.isfinite(commits.first_read_at[commit]):
        found.append(Evidence("timing", "for", "The first run that read this commit is known."))
    if commits.count[commit] > 1:
        many = int(commits.count[commit])
        text = f"It is the first of {many} commits of its kind in a row; their numbers are shown together."
        found.append(Evidence("mechanism", "for", text, float(many), 1.0))
    for name, deviation, typical in top_features(structure, commit):
        if deviation >= KNOTS[0]:
            value = float(commits.features[commit, FEATURES.index(name)])
            text = (
                f"{NAMES[name].capitalize()}: {amount(name, value)}, typically {amount(name, typical)} for this table."
            )
            found.append(Evidence("mechanism", "for", text, value, typical))
    if commits.schema_changed[commit]:
        found.append(Evidence("mechanism", "for", "It changed the table's schema."))
    if commits.spec_changed[commit]:
        found.append(Evidence("mechanism", "for", "It changed the table's partition spec."))
    again = float(shares.recurrence[commits.kind[commit]])
    if again > 2:
        found.append(Evidence("recurrence", "for", "Earlier commits of this kind were followed by changes.", again))
    suspect.evidence = found
    suspect.scores = {
        "timing": _timing(job, commits, commit, lag),
        "magnitude": round(shares.real, 4),
        "mechanism": _share(float(structure.ratio[commit])),
        "recurrence": _share(again),
    }
    alike = commits.kind == commits.kind[commit]
    alike[commit] = False
    suspect.similar = Similar(int(alike.sum()), round(float(np.maximum(again - 1, 0) > 1) * float(alike.sum())))


def against(
    suspect: Hypothesis, *, commits: CaseCommits, structure: CommitStructure, shares: Shares, commit: int
) -> None:
    """Add the evidence against the suspect."""
    found = suspect.evidence if suspect.evidence is not None else []
    if structure.score[commit] < KNOTS[0] and not structure.flagged[commit]:
        found.append(Evidence("mechanism", "against", "Its numbers are typical for this table."))
    if not np.isfinite(commits.features[commit]).any():
        found.append(Evidence("mechanism", "against", "Its files are unknown."))
    rival = max(shares.infrastructure, shares.load)
    if rival > 0.1:
        name = "other jobs" if shares.infrastructure >= shares.load else "the job's load"
        found.append(Evidence("magnitude", "against", f"At the same time {name} changed.", rival))
    suspect.evidence = found


def _timing(job: CaseSeries, commits: CaseCommits, commit: int, lag_s: float) -> float:
    """The probability density of the lag relative to that of the next run."""
    start = commits.at[commit] + lag_s * MS_PER_SECOND
    pair = np.array([start]), np.array([start - job.gap_ms])
    mass = onset_mass(commits.at[[commit]], commits.first_read_at[[commit]], *pair, job.gap_ms)
    first = commits.at[[commit]] + job.gap_ms
    best = onset_mass(commits.at[[commit]], np.array([np.nan]), first, first - job.gap_ms - 1, job.gap_ms)
    return round(float(np.clip(mass[0, 0] / max(best[0, 0], 1e-12), 0.0, 1.0)), 4)


def _share(ratio: float) -> float:
    return round(ratio / (1 + ratio), 4)


def amount(name: str, value: float) -> str:
    """A number with thousands separators; bytes in decimal units, the same as on the pages."""
    if not name.endswith("bytes") or value < 1000:
        return f"{value:,.0f}"
    power = min(int(math.log10(value)) // 3, len(UNITS) - 1)
    return f"{value / 1000**power:,.1f}".removesuffix(".0") + f" {UNITS[power]}"


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
