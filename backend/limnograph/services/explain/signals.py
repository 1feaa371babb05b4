"""A job's resources around its change: whether CPU, spill or executors changed, when, and whether that contradicts a
commit.

Shown as text and not weighed: a job that reads 50,000 files more uses more CPU, so a signal that moves with the job is
an effect as often as a cause. A signal that moved before the first slow run cannot be its effect. Pure; instants are
epoch ms.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from limnograph.domain import wording as words
from limnograph.domain.answers.explanations import (
    ChangeBounds,
    CompetingChange,
    Evidence,
    Explanation,
    Hypothesis,
    LevelChange,
)
from limnograph.domain.answers.lane_specs import SPEC_OF
from limnograph.domain.time import MS_PER_SECOND, Millis
from limnograph.services.jobs.series import QueryResult
from limnograph.services.jobs.signals import Signal

Floats = npt.NDArray[np.float64]
LEAST_VALUES = 3
"""Values on each side that are needed to decide whether a signal moved."""
MOVED = 0.1
"""The least change, as a part of the level; it must also exceed the spread on either side."""
_NAMES: Mapping[str, str] = {"cpu": "CPU", "spill": "Spill to disk", "executors": "The number of executors"}
_SLOWS: Mapping[str, int] = {"cpu": 0, "spill": 1, "executors": -1}
"""The direction in which a signal moves when it slows a job; 0: either."""


def around(kind: Signal, told: QueryResult, onset: Millis, near_ms: tuple[float, float]) -> CompetingChange:
    """One signal within the bounds `near_ms`; 0 series if there are too few values."""
    at, values = _within(told, near_ms)
    place = int(np.searchsorted(at, onset))
    before, after = values[:place], values[place:]
    if min(before.size, after.size) < LEAST_VALUES:
        return CompetingChange(kind=kind, series=0, moved=0, ratio=None, unit=SPEC_OF[kind].unit, problem=told.problem)
    place = _split(values)
    moved = _differ(values[:place], values[place:]) and _differ(before, after)
    levels = (values[:place], values[place:]) if moved else (before, after)
    low, high = (float(np.median(side)) for side in levels)
    return CompetingChange(
        kind=kind,
        series=1,
        moved=int(moved),
        ratio=high / low if low else None,
        before=low,
        after=high,
        unit=SPEC_OF[kind].unit,
        at=Millis(at[place]) if moved else None,
    )


def _within(told: QueryResult, near_ms: tuple[float, float]) -> tuple[Floats, Floats]:
    if told.series is None:
        return np.empty(0), np.empty(0)
    at, values = np.array(told.series.times, np.float64), np.array(told.series.values, np.float64)
    inside = (at >= near_ms[0]) & (at <= near_ms[1])
    order = np.argsort(at[inside])
    return at[inside][order], values[inside][order]


def _split(values: Floats) -> int:
    """Index of the first value after the step that fits best (least squares), with LEAST_VALUES on each side."""
    low, high = np.quantile(values, (0.1, 0.9))
    sums = np.cumsum(np.clip(values, low, high))
    places = np.arange(LEAST_VALUES, values.size - LEAST_VALUES + 1)
    left, right = sums[places - 1] / places, (sums[-1] - sums[places - 1]) / (values.size - places)
    return int(places[np.argmax(places * (values.size - places) * (right - left) ** 2)])


def _differ(before: Floats, after: Floats) -> bool:
    low, high = float(np.median(before)), float(np.median(after))
    spread = max(1.4826 * float(np.median(np.abs(side - np.median(side)))) for side in (before, after))
    return abs(high - low) > max(MOVED * max(abs(low), abs(high)), spread)


def told_against(answer: Explanation, beside: Sequence[ChangeBounds], committed: Mapping[str, Millis]) -> Explanation:
    """The explanation, with signals that moved before the job as evidence against its commits. `committed`: instants by
    id.
    """
    found = [_with_signals(each, answer.changes, beside, committed) for each in answer.hypotheses]
    return msgspec.structs.replace(answer, hypotheses=found)


def _with_signals(
    told: Hypothesis, changes: Sequence[LevelChange], beside: Sequence[ChangeBounds], committed: Mapping[str, Millis]
) -> Hypothesis:
    if told.kind != "commit" or told.change is None or told.commit_id is None:
        return told
    change = changes[told.change]
    more = [_evidence(each, change, committed.get(told.commit_id)) for each in beside[told.change].competing]
    known = [each for each in more if each is not None]
    return msgspec.structs.replace(told, evidence=[*(told.evidence or []), *known]) if known else told


def _evidence(signal: CompetingChange, change: LevelChange, committed: Millis | None) -> Evidence | None:
    """None if the signal moved with the job or after it, or in a direction that does not slow a job."""
    if signal.at is None or signal.before is None or signal.after is None or signal.at >= change.onset_from:
        return None
    way = 1 if (signal.after > signal.before) == (change.effect_ratio >= 1) else -1
    if _SLOWS[signal.kind] not in {0, way}:
        return None
    lead = words.seconds((change.onset - signal.at) / MS_PER_SECOND)
    text = f"{_NAMES[signal.kind]} went from {_level(signal, signal.before)} to {_level(signal, signal.after)} {lead}"
    text += " before the job changed"
    if committed is not None and signal.at < committed:
        text += f", {words.seconds((committed - signal.at) / MS_PER_SECOND)} before this commit"
    return Evidence("signal", "against", text, signal.after, signal.before)


def _level(signal: CompetingChange, value: float) -> str:
    if signal.unit == "bytes":
        return words.size(value)
    return words.count(value) if signal.unit == "executors" else f"{value:.2f} {signal.unit}"
