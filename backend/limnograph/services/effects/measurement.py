"""Measures one case at a mark and states the result as a row of the ledger. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from limnograph.analysis.effect import measure_effect
from limnograph.analysis.effect.measure import LEAST_BEFORE
from limnograph.analysis.effect.runs import CONFOUNDING
from limnograph.domain.answers.effects import Effect, EffectCase, EffectOperation
from limnograph.domain.facts.effects import MARKS, EffectFact
from limnograph.domain.time import Micros, Millis
from limnograph.services.effects.cases import JobCase, at_mark, confounders, until
from limnograph.services.effects.operations import Operation
from limnograph.services.effects.records import MeasuredKey

PLACEBO_CUTS = 4
"""Cuts of the history per measurement: each costs as much as the measurement itself."""
MOST_OTHERS = 20


class Placebos(NamedTuple):
    """Cuts in the history at which bounds were calculated, and how many of these contained no change."""

    cuts: int
    covered: int


def measured(operation: Operation, key: MeasuredKey, found: JobCase, mark: int, now: Micros) -> EffectFact:
    """The effect when `mark` runs after the operation had ended. Takes 100 to 800 ms of CPU."""
    _, _, job, measure = key
    case = at_mark(found, mark)
    effect = measure_effect(case)
    numbers, checked = effect.numbers, placebos(case)
    return EffectFact(
        table_uuid=operation.table_uuid,
        operation_id=operation.operation_id,
        job_name=job,
        measure=measure,
        runs_after=mark,
        catalog=operation.name.catalog,
        namespace=operation.name.namespace,
        table=operation.name.table,
        action=operation.action,
        writer=operation.writer,
        started_at=operation.started_at,
        committed_at=operation.committed_at,
        verdict=effect.verdict,
        because=effect.because,
        ratio=numbers.ratio,
        ratio_low=numbers.ratio_low,
        ratio_high=numbers.ratio_high,
        change=numbers.seconds,
        change_low=numbers.seconds_low,
        change_high=numbers.seconds_high,
        runs_before=effect.runs_before,
        more_runs=effect.more_runs,
        controls=len(case.controls or ()),
        others=confounders(found, case)[:MOST_OTHERS],
        placebo_cuts=checked.cuts,
        placebo_covered=checked.covered,
        measured_at=now,
    )


def due_marks(runs_after: int, done: int) -> list[int]:
    """Marks that were reached and not measured. `done`: the highest measured mark; 0 if none."""
    return [mark for mark in MARKS if done < mark <= runs_after]


def placebos(case: EffectCase) -> Placebos:
    """The self-check: the same measurement at instants of the history since the last other event, where nothing was
    done. A cut without bounds makes no statement and does not count.
    """
    found = [measure_effect(cut) for cut in _cuts(case)]
    bounded = [each for each in found if each.estimate is not None]
    return Placebos(len(bounded), sum(_covers(each) for each in bounded))


def _covers(effect: Effect) -> bool:
    return (effect.low is None or effect.low.ratio <= 1) and (effect.high is None or effect.high.ratio >= 1)


def _cuts(case: EffectCase) -> Iterator[EffectCase]:
    """Cases of the history alone, cut so that the fewest measured runs follow and no other event is near."""
    operation = case.operation
    quiet = max((each.at for each in case.others or () if _is_earlier(each.at, each.kind, operation)), default=0)
    starts = sorted(at for at in case.runs.times if quiet < at < operation.started_at)
    first, last = LEAST_BEFORE, len(starts) - MARKS[0]
    if last < first:
        return
    history = until(case, operation.started_at)
    for k in range(PLACEBO_CUTS):
        place = first + (last - first) * (k + 1) // PLACEBO_CUTS
        end = starts[place + MARKS[0]] if place + MARKS[0] < len(starts) else operation.started_at
        at = starts[place]
        yield msgspec.structs.replace(until(history, end), operation=EffectOperation(started_at=at, committed_at=at))


def _is_earlier(at: Millis, kind: str, operation: EffectOperation) -> bool:
    return kind in CONFOUNDING and at < operation.started_at
