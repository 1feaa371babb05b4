"""Housekeeping beside the passes: it says what it did, and whatever goes wrong in it ends nothing."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import pytest

from limnograph.domain.errors import SourceUnavailable
from limnograph.domain.failpoints import FailpointReached
from limnograph.jobs.housekeeping import run_due_step, run_due_steps, run_steps_between_passes
from limnograph.services.housekeeping.runner import StepReport


class Keeper:
    """Steps that report, or raise, what the test says; then nothing is due."""

    def __init__(self, *answers: StepReport | Exception) -> None:
        self.answers: Iterable[StepReport | Exception] = iter(answers)

    def run_due(self) -> StepReport | None:
        answer = next(iter(self.answers), None)
        if isinstance(answer, Exception):
            raise answer
        return answer


def step(kind: str, problem: str | None = None, *, did: bool = True) -> StepReport:
    return StepReport(kind, "snapshots", None, did, 1.5, problem)


def test_every_due_step_is_run_and_reported() -> None:
    said: list[str] = []
    made = Keeper(step("rollup"), step("expire", did=False), step("compact", "Conflict: later"))
    assert len(run_due_steps(made, said.append)) == 3
    assert said == ["housekeeping: rollup snapshots: 1.5 s", "housekeeping: compact snapshots: Conflict: later"]


def test_once_leaves_the_rest_to_the_next_run_when_there_is_a_lot() -> None:
    assert len(run_due_steps(Keeper(*[step("compact")] * 9), lambda _line: None, most=4)) == 4


def test_a_stream_runs_one_step_and_survives_every_exception_but_a_failpoint() -> None:
    said: list[str] = []
    made = Keeper(SourceUnavailable("meta", "down"), KeyError("surprise"), step("rollup"), FailpointReached("stop"))
    assert run_due_step(made, said.append) is None
    assert run_due_step(made, said.append) is None
    assert run_due_step(made, said.append) == step("rollup")
    assert "meta: down" in said[0]
    assert "KeyError" in said[1]
    with pytest.raises(FailpointReached):
        run_due_step(made, said.append)


def test_infrequent_passes_leave_time_for_every_due_step_and_frequent_ones_for_one() -> None:
    def kept(trigger: float, *, stop_after: int = 99) -> int:
        ticks = itertools.count(0, 10)  # a step takes ten seconds
        asked = itertools.count()
        steps = Keeper(*[step("compact")] * 9)
        stop = lambda: next(asked) >= stop_after  # noqa: E731
        return run_steps_between_passes(steps, lambda _line: None, trigger, stop=stop, elapsed=lambda: next(ticks))

    assert kept(10) == 1
    assert kept(60) == 2
    assert kept(900) == 9
    assert kept(900, stop_after=3) == 3
