"""Verdicts of single cases: precedence, counts, what other events, controls, load and bytes change."""

from __future__ import annotations

import math

import numpy as np
import pytest

from effect_cases import HOUR, MONDAY, case, durations
from limnograph.analysis.effect import measure_effect
from limnograph.domain.answers.effects import ControlJob, Effect, EffectCase, EffectLoad, EffectOperation, OtherEvent

CUT = MONDAY + 47 * HOUR + HOUR // 2


def moved(control: ControlJob, factor: float) -> ControlJob:
    return ControlJob(
        job=control.job,
        times=control.times,
        duration_seconds=[
            value * factor if at >= CUT else value
            for at, value in zip(control.times, control.duration_seconds, strict=True)
            if value is not None
        ],
    )


@pytest.mark.parametrize(("ratio", "verdict"), [(0.8, "helped"), (1.25, "worse")])
def test_an_effect_is_found_with_bounds_around_it(ratio: float, verdict: str) -> None:
    answer = measure_effect(case(ratio))
    assert answer.verdict == verdict
    assert answer.low
    assert answer.estimate
    assert answer.high
    assert answer.low.ratio < ratio < answer.high.ratio
    assert answer.estimate.seconds == pytest.approx((answer.estimate.ratio - 1) * 100, rel=0.05)
    assert (answer.runs_before, answer.runs_after, answer.more_runs) == (48, 24, None)


def test_no_effect_is_none_with_narrow_bounds_and_unknown_with_the_needed_runs_otherwise() -> None:
    precise = {"duration_seconds": durations(192, 96, 1.0, noise=0.01)}
    assert measure_effect(case(1.0, before=96, after=96, runs=precise)).verdict == "none"
    few = measure_effect(case(0.91, after=6))
    assert few.verdict == "unknown"
    assert few.more_runs is not None
    assert 1 <= few.more_runs <= 1_000


@pytest.mark.parametrize(
    ("before", "after", "more"), [(7, 24, None), (48, 4, 1), (48, 0, 5), (0, 0, None), (7, 0, None)]
)
def test_too_few_runs_are_unknown_with_the_runs_that_are_missing(before: int, after: int, more: int | None) -> None:
    whole = case(0.5, before=max(before, 1), after=max(after, 1))
    kept = [at for at in whole.runs.times if (at < whole.operation.started_at)][:before]
    kept += [at for at in whole.runs.times if at >= whole.operation.committed_at][:after]
    runs = {"times": kept, "duration_seconds": [100.0] * len(kept)}
    answer = measure_effect(case(0.5, before=max(before, 1), after=max(after, 1), runs=runs))
    assert (answer.verdict, answer.low, answer.high, answer.more_runs) == ("unknown", None, None, more)
    assert (answer.runs_before, answer.runs_after) == (before, after)


def test_a_killed_run_counts_as_a_run_and_not_as_a_duration() -> None:
    seconds: list[float | None] = list(durations(72, 48, 0.8))
    seconds[50] = seconds[60] = seconds[3] = None
    answer = measure_effect(case(0.8, runs={"duration_seconds": seconds}))
    assert (answer.verdict, answer.runs_before, answer.runs_after) == ("helped", 48, 24)
    all_killed: list[float | None] = [*durations(48, 48, 1.0), *[None] * 24]
    assert measure_effect(case(runs={"duration_seconds": all_killed})).verdict == "unknown"


def test_runs_while_the_operation_ran_belong_to_neither_side() -> None:
    operation = EffectOperation(started_at=CUT - 3 * HOUR, committed_at=CUT)
    answer = measure_effect(case(operation=operation))
    assert (answer.runs_before, answer.runs_after) == (45, 24)


def test_runs_in_any_order_give_the_same_answer() -> None:
    whole = case()
    order = np.random.default_rng(3).permutation(len(whole.runs.times))
    shuffled = {
        "times": [whole.runs.times[k] for k in order],
        "duration_seconds": [whole.runs.duration_seconds[k] for k in order],
    }
    assert measure_effect(case(runs=shuffled)) == measure_effect(whole)


@pytest.mark.parametrize("kind", ["overwrite", "delete", "replace", "schema", "deploy"])
@pytest.mark.parametrize("at", [CUT - 30_000, CUT - HOUR, CUT + HOUR])
def test_another_event_with_at_most_one_run_between_confounds(kind: str, at: int) -> None:
    answer = measure_effect(case(others=[OtherEvent(at=at, kind=kind)]))  # type: ignore[arg-type]
    assert (answer.verdict, answer.estimate) == ("confounded", None)
    assert kind in answer.because


@pytest.mark.parametrize("kind", ["append", "alert"])
def test_appends_and_alerts_confound_nothing(kind: str) -> None:
    answer = measure_effect(case(others=[OtherEvent(at=CUT, kind=kind, files=5_000)]))  # type: ignore[arg-type]
    assert answer.verdict == "helped"


def test_a_later_event_ends_the_runs_that_are_compared() -> None:
    seconds = durations(72, 48, 0.8)
    slow = [value * (3 if number >= 60 else 1) for number, value in enumerate(seconds)]
    later = [OtherEvent(at=MONDAY + 59 * HOUR + HOUR // 2, kind="deploy")]
    answer = measure_effect(case(runs={"duration_seconds": slow}, others=later))
    assert answer.verdict == "helped"
    assert "12 runs before another deploy" in answer.because
    assert answer.runs_after == 24


def test_killed_runs_before_a_later_event_do_not_let_its_runs_count() -> None:
    seconds: list[float | None] = list(durations(72, 48, 1.0))
    slow = [value and value * (2 if number >= 53 else 1) for number, value in enumerate(seconds)]
    slow[49:53] = [None] * 4
    later = [OtherEvent(at=CUT + 5 * HOUR, kind="deploy")]
    answer = measure_effect(case(runs={"duration_seconds": slow}, others=later))
    assert (answer.verdict, answer.because) == ("unknown", "only 1 run ended before another deploy")
    assert (answer.runs_after, answer.more_runs) == (24, None)


def test_of_many_runs_only_those_before_a_later_event_are_compared() -> None:
    many = [value * (3 if number >= 60 else 1) for number, value in enumerate(durations(2_048, 48, 0.8))]
    times = [MONDAY + number * HOUR for number in range(2_048)]
    later = [OtherEvent(at=CUT + 12 * HOUR, kind="deploy")]
    answer = measure_effect(case(runs={"times": times, "duration_seconds": many}, others=later))
    assert (answer.verdict, answer.runs_after) == ("helped", 2_000)
    assert "12 runs before another deploy" in answer.because


def test_further_runs_decide_nothing_after_another_event() -> None:
    later = [OtherEvent(at=CUT + 100 * HOUR, kind="deploy")]
    assert measure_effect(case(0.91, after=6)).more_runs is not None
    answer = measure_effect(case(0.91, after=6, others=later))
    assert (answer.verdict, answer.more_runs) == ("unknown", None)


def test_a_change_shared_by_all_jobs_is_not_the_effect_of_the_operation() -> None:
    whole = case(0.8)
    answer = measure_effect(case(0.8, controls_are=[moved(each, 0.8) for each in whole.controls or ()]))
    assert answer.verdict == "unknown"
    assert answer.low
    assert answer.high
    assert answer.low.ratio < 1 < answer.high.ratio


def test_controls_that_disagree_allow_no_claim() -> None:
    first, second, third = case().controls or ()
    answer = measure_effect(case(controls_are=[moved(first, 0.7), moved(second, 1.3), third]))
    assert (answer.verdict, answer.low) == ("not_separable", None)
    assert "disagree" in answer.because


@pytest.mark.parametrize("controls", [None, [], "short", "unrelated times", "long ago"])
def test_without_usable_controls_a_calm_history_allows_a_claim_and_a_shifted_one_does_not(controls: object) -> None:
    useless = {
        "short": [ControlJob(job="c", times=[MONDAY, CUT + 1], duration_seconds=[1.0, 2.0])],
        "unrelated times": [ControlJob(job="c", times=list(range(50)), duration_seconds=[1.0] * 50)],
        "long ago": [
            ControlJob(job="c", times=[*range(20), CUT + 1, CUT + 2, CUT + 3], duration_seconds=[*[1.0] * 20, 3, 3, 3])
        ],
    }
    given = useless[controls] if isinstance(controls, str) else controls
    calm = measure_effect(case(controls_are=given))
    assert calm.verdict == "helped"
    assert "no controls" in calm.because
    shifted = [value * (1.3 if 15 <= number < 30 else 1) for number, value in enumerate(durations(72, 48, 0.8))]
    answer = measure_effect(case(controls_are=given, runs={"duration_seconds": shifted}))
    assert answer.verdict == "not_separable"


def test_a_shift_explained_by_an_event_of_the_table_is_not_one_of_the_cluster() -> None:
    stepped = [value * (1.4 if number >= 20 else 1) for number, value in enumerate(durations(72, 48, 0.8))]
    event = [OtherEvent(at=MONDAY + 19 * HOUR + HOUR // 2, kind="deploy")]
    assert measure_effect(case(controls=0, runs={"duration_seconds": stepped})).verdict == "not_separable"
    assert measure_effect(case(controls=0, runs={"duration_seconds": stepped}, others=event)).verdict == "helped"


def test_runs_after_on_a_kind_of_day_without_history_allow_no_claim() -> None:
    friday = case(before=120, after=24)  # Monday to Friday, then Saturday
    answer = measure_effect(friday)
    assert answer.verdict == "not_separable"
    assert "kind of day" in answer.because
    assert measure_effect(case(before=120, after=60)).verdict == "helped"  # until Monday


def test_not_separable_comes_before_confounded() -> None:
    first, second, third = case().controls or ()
    answer = measure_effect(
        case(controls_are=[moved(first, 0.7), moved(second, 1.3), third], others=[OtherEvent(at=CUT, kind="deploy")])
    )
    assert answer.verdict == "not_separable"


def test_a_load_that_grows_with_the_durations_is_removed() -> None:
    times = [MONDAY + number * HOUR for number in range(120)]
    load = [1_000 * math.exp(0.004 * number) for number in range(120)]
    seconds = [value * math.exp(0.004 * number) for number, value in enumerate(durations(120, 96, 1.0))]
    runs = {"duration_seconds": seconds}
    answer = measure_effect(case(1.0, before=96, runs=runs, controls=0, load=EffectLoad(times=times, value=list(load))))
    assert answer.low
    assert answer.high
    assert answer.low.ratio < 1 < answer.high.ratio


def test_bytes_that_the_operation_saved_belong_to_its_effect_and_bytes_that_grow_later_do_not() -> None:
    seconds = durations(72, 48, 0.7)
    saved = [1e9 if number < 48 else 0.7e9 for number in range(72)]
    answer = measure_effect(case(runs={"duration_seconds": seconds, "read_bytes": saved}))
    assert answer.verdict == "helped"
    assert answer.estimate
    assert answer.estimate.ratio == pytest.approx(0.7, abs=0.06)
    grown = [1e9 if number < 56 else 2e9 for number in range(72)]
    doubled = [value * (2 if number >= 56 else 1) for number, value in enumerate(durations(72, 48, 1.0))]
    later = measure_effect(case(runs={"duration_seconds": doubled, "read_bytes": grown}))
    assert later.verdict == "unknown"
    assert measure_effect(case(runs={"duration_seconds": doubled})).verdict != "helped"


ODD = {
    "constant": [100.0] * 72,
    "tiny": [1e-9] * 72,
    "huge": [1e300] * 72,
    "zeros": [0.0] * 72,
    "two levels": [1.0, 1e6] * 36,
    "negative": [-1.0] * 72,
    "beyond any ratio": [1e-300] * 48 + [1e300] * 24,
}


@pytest.mark.parametrize("seconds", ODD.values(), ids=ODD.keys())
def test_odd_durations_never_fail_and_bounds_are_numbers(seconds: list[float]) -> None:
    answer = measure_effect(case(runs={"duration_seconds": seconds}))
    for each in (answer.estimate, answer.low, answer.high):
        assert each is None or (math.isfinite(each.ratio) and math.isfinite(each.seconds))


def width(answer: Effect) -> float:
    assert answer.low
    assert answer.high
    return answer.high.ratio - answer.low.ratio


def test_runs_in_quick_succession_say_less_than_as_many_at_the_usual_pace() -> None:
    """Noise that lasts for hours is the same noise for each of them."""
    noise, rng = [0.0], np.random.default_rng(8)
    for _ in range(71):
        noise.append(0.7 * noise[-1] + float(rng.normal(0, 0.06)))
    seconds = [100 * math.exp(value) for value in noise]
    usual = [MONDAY + number * HOUR for number in range(72)]
    quick = usual[:48] + [CUT + HOUR // 2 + number * HOUR // 6 for number in range(24)]
    late = measure_effect(case(runs={"times": usual, "duration_seconds": seconds}))
    soon = measure_effect(case(runs={"times": quick, "duration_seconds": seconds}))
    assert width(soon) > 1.15 * width(late)


def test_after_a_deploy_the_trend_may_differ_and_after_an_overwrite_only_the_level() -> None:
    deployed, overwritten = (
        measure_effect(case(others=[OtherEvent(at=CUT - 20 * HOUR, kind=kind)])) for kind in ("deploy", "overwrite")
    )
    assert width(deployed) > 1.05 * width(overwritten)


def test_equal_times_and_other_absent_parts_never_fail() -> None:
    whole = case()
    same: EffectCase = case(runs={"times": [MONDAY] * 48 + [CUT + 5] * 24, "read_bytes": [None] * 72}, others=None)
    assert measure_effect(same).runs_after == 24
    empty = EffectLoad(times=[], value=[])
    flat = EffectLoad(times=list(whole.runs.times), value=[0.0] * 72)
    unknown = EffectLoad(times=list(whole.runs.times), value=[None] * 72)
    for load in (empty, flat, unknown):
        assert measure_effect(case(load=load)).verdict == "helped"
