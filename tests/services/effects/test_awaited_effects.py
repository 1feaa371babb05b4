"""When an effect that waits for runs is looked at again."""

from collections.abc import Iterable

from limnograph.domain.answers.effects import EffectCase, EffectOperation, EffectRuns
from limnograph.domain.time import Millis
from limnograph.services.effects.awaiting import LATEST_S, SOONEST_S, delay_s
from limnograph.services.effects.cases import JobCase

HOUR = 3_600


def case(starts: Iterable[float], committed: float) -> JobCase:
    """A job's runs that start then (seconds), and a commit."""
    times = [Millis(round(at * 1000)) for at in starts]
    at = Millis(round(committed * 1000))
    runs = EffectRuns(times=times, duration_seconds=[9.0] * len(times), read_bytes=None)
    operation = EffectOperation(started_at=at, committed_at=at)
    made = EffectCase(id="job", runs=runs, operation=operation, controls=[], load=None, others=[])
    return JobCase(made, [], [], None)


def test_the_next_look_is_when_the_missing_runs_have_ended_at_the_jobs_pace() -> None:
    steady = [number * 180.0 for number in range(60)]
    assert delay_s(case(steady, steady[-3]), 0) == (8 - 3) * 180
    assert delay_s(case(steady, steady[-10]), 8) == (16 - 10) * 180


def test_the_pace_is_that_of_the_last_runs_not_of_the_history() -> None:
    slow = [number * 180.0 for number in range(48)]
    fast = [slow[-1] + number * 20.0 for number in range(1, 10)]
    assert delay_s(case([*slow, *fast], fast[-1] + 1), 0) == 8 * 20


def test_the_next_look_is_neither_at_once_nor_out_of_sight() -> None:
    assert delay_s(case([0.0, 1.0, 2.0], 1.5), 0) == SOONEST_S
    assert delay_s(case([0.0, 900.0 * HOUR], 1.0), 0) == LATEST_S
    assert delay_s(case([], 1.0), 0) == LATEST_S
