"""Effect of an operation on a job: the case, and the verdict with bounds. The format: docs/effects.md."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import msgspec

from limnograph.domain.time import Millis

Verdict = Literal["helped", "worse", "none", "unknown", "confounded", "not_separable"]
EventKind = Literal["append", "overwrite", "delete", "replace", "schema", "deploy", "alert"]


class EffectRuns(msgspec.Struct, frozen=True, kw_only=True):
    """Runs of the job in any order. `times`: start of each run, epoch milliseconds. A null duration is a killed run."""

    times: Sequence[Millis]
    duration_seconds: Sequence[float | None]
    read_bytes: Sequence[float | None] | None = None


class EffectOperation(msgspec.Struct, frozen=True, kw_only=True):
    """When the operation ran and was committed, epoch milliseconds."""

    started_at: Millis
    committed_at: Millis


class ControlJob(msgspec.Struct, frozen=True, kw_only=True):
    """Runs of a job that does not read the table."""

    job: str
    times: Sequence[Millis]
    duration_seconds: Sequence[float | None]


class EffectLoad(msgspec.Struct, frozen=True, kw_only=True):
    """Samples of the load that the job's duration may follow."""

    times: Sequence[Millis]
    value: Sequence[float | None]


class OtherEvent(msgspec.Struct, frozen=True, kw_only=True):
    """Another commit, deploy or alert near the operation."""

    at: Millis
    kind: EventKind
    files: int | None = None


class EffectCase(msgspec.Struct, frozen=True, kw_only=True):
    """What did `operation` do to the job?"""

    id: str
    runs: EffectRuns
    operation: EffectOperation
    controls: Sequence[ControlJob] | None = None
    load: EffectLoad | None = None
    others: Sequence[OtherEvent] | None = None


class EffectSize(msgspec.Struct, frozen=True, kw_only=True):
    """`ratio`: duration after / before at equal work. `seconds`: (ratio - 1) x the typical run before."""

    ratio: float
    seconds: float


class EffectNumbers(NamedTuple):
    """Estimate and bounds of an effect, each as a ratio and in seconds; None where it is not known or not bounded."""

    ratio: float | None
    ratio_low: float | None
    ratio_high: float | None
    seconds: float | None
    seconds_low: float | None
    seconds_high: float | None


class Effect(msgspec.Struct, frozen=True, kw_only=True):
    """The answer. `low` and `high`: bounds at 95 %; null: unbounded. `more_runs`: further runs after which a verdict is
    more likely than not; null where no number would do, or where there is a verdict.
    """

    id: str
    verdict: Verdict
    because: str
    estimate: EffectSize | None
    low: EffectSize | None
    high: EffectSize | None
    runs_before: int
    runs_after: int
    more_runs: int | None

    @property
    def numbers(self) -> EffectNumbers:
        """Its sizes side by side, as rows have them."""
        sizes = (self.estimate, self.low, self.high)
        return EffectNumbers(
            *(each.ratio if each else None for each in sizes), *(each.seconds if each else None for each in sizes)
        )
