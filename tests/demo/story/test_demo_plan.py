"""The plan of the demo lake: it keeps the story's promises whenever the demo is built."""

from datetime import UTC, datetime
from itertools import pairwise

import pytest

from limnograph.demo.story.calendar import DAY, HOUR, MINUTE, Calendar
from limnograph.demo.story.plan import (
    AT_RISK_TABLE,
    BURST_FILES,
    FILES_BEFORE,
    LOG_DAYS,
    LOOK_ALIKE_TABLE,
    STORY_TABLE,
    tables,
)
from limnograph.demo.story.signals import SLOWER, load_at, runs
from limnograph.demo.story.steps import Append, Compaction, RowAppend, SqlStep, TablePlan

MOMENTS = (
    "2026-11-21T06:00:00",
    "2026-11-21T13:50:00",
    "2026-11-21T23:59:59",
    "2026-11-22T00:30:01",
    "2026-11-22T05:59:59",
)


def ms(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)


@pytest.fixture(params=MOMENTS)
def calendar(request: pytest.FixtureRequest) -> Calendar:
    return Calendar.at(ms(request.param))


def commits(plan: TablePlan) -> int:
    return sum(not (isinstance(step, SqlStep) and step.sql.startswith("alter")) for step in plan.steps)


@pytest.mark.parametrize("now", MOMENTS)
def test_the_demo_day_is_the_last_one_whose_six_o_clock_has_passed(now: str) -> None:
    calendar = Calendar.at(ms(now))
    assert calendar.day == "2026-11-21"
    assert calendar.burst == ms("2026-11-21T03:04:12")
    assert calendar.start == ms("2026-11-20T06:00:00")


def test_a_minute_before_six_the_story_is_yesterdays() -> None:
    assert Calendar.at(ms("2026-11-21T05:59:59")).day == "2026-11-20"


def test_the_lake_has_the_promised_size(calendar: Calendar) -> None:
    plans = tables(calendar)
    assert len(plans) >= 8
    assert {plan.namespace for plan in plans} == {"sales", "marketing", "ops"}
    assert sum(map(commits, plans)) >= 1_000


def test_commits_of_a_table_follow_each_other_within_the_history(calendar: Calendar) -> None:
    for plan in tables(calendar):
        instants = [step.at for step in plan.steps]
        assert instants == sorted(set(instants)), plan.name
        long = plan.name in {AT_RISK_TABLE, LOOK_ALIKE_TABLE}
        assert (calendar.midnight - LOG_DAYS * DAY if long else calendar.start) <= instants[0]
        assert instants[-1] <= calendar.until, plan.name


def test_the_story_table_holds_exactly_1202_files_before_the_append(calendar: Calendar) -> None:
    story = next(plan for plan in tables(calendar) if plan.name == STORY_TABLE)
    appends = [step for step in story.steps if isinstance(step, Append)]
    assert sum(step.files.count for step in appends if step.at < calendar.burst) == FILES_BEFORE
    burst = next(step for step in appends if step.at == calendar.burst)
    assert burst.files.count == BURST_FILES
    assert sum(burst.files.sizes) / 2 == pytest.approx(900_000, rel=0.02)
    assert [step.at for step in story.steps if isinstance(step, Compaction)] == [calendar.repair]


def test_nothing_else_happens_to_the_story_table_while_the_lane_must_rise_by_the_append_alone(
    calendar: Calendar,
) -> None:
    story = next(plan for plan in tables(calendar) if plan.name == STORY_TABLE)
    near = [step.at for step in story.steps if abs(step.at - calendar.burst) < 2 * MINUTE]
    assert near == [calendar.burst]


def test_spark_never_scans_a_table_of_placeholders(calendar: Calendar) -> None:
    for plan in tables(calendar):
        scans = [step for step in plan.steps if isinstance(step, SqlStep) and not step.sql.startswith("alter")]
        assert not scans or not any(isinstance(step, Append | Compaction) for step in plan.steps), plan.name


def test_one_table_is_quiet_for_twenty_hours(calendar: Calendar) -> None:
    last = {plan.name: plan.steps[-1].at for plan in tables(calendar)}
    assert calendar.morning - last["ops.deployments"] >= 20 * HOUR - MINUTE
    assert calendar.until - last["ops.sensor_readings"] < 2 * HOUR


def test_the_culprit_is_another_application_than_the_reader(calendar: Calendar) -> None:
    made = runs(calendar, tables(calendar))
    reader = {run.application_id for run in made if run.job_name == "rollup_customer_events"}
    culprit = {run.application_id for run in made if run.job_name == "backfill_customer_events"}
    assert len(reader) == len(culprit) == 1
    assert reader != culprit


def test_every_reader_but_the_one_of_the_story_keeps_its_pace(calendar: Calendar) -> None:
    made = runs(calendar, tables(calendar))
    for job in {run.job_name for run in made if run.uses[0].role == "reads"}:
        night = [run for run in made if run.job_name == job and calendar.slow_from <= run.started < calendar.repair]
        before = [run for run in made if run.job_name == job and run.ended < calendar.burst]
        ratio = (sum(r.seconds for r in night) / len(night)) / (sum(r.seconds for r in before) / len(before))
        assert ratio == pytest.approx(SLOWER if job == "rollup_customer_events" else 1, rel=0.05), job


def test_the_processor_spike_does_not_affect_durations(calendar: Calendar) -> None:
    import random

    rng = random.Random(1)
    spike = load_at(calendar, calendar.cpu_spike + MINUTE, rng)
    assert spike.cpu > 2 * load_at(calendar, calendar.cpu_spike - 5 * MINUTE, rng).cpu
    made = [run for run in runs(calendar, tables(calendar)) if run.job_name == "rollup_customer_events"]
    assert max(run.seconds for run in made if abs(run.started - calendar.cpu_spike) < HOUR) < 65


def test_runs_end_before_the_history_does(calendar: Calendar) -> None:
    assert max(run.ended for run in runs(calendar, tables(calendar))) <= calendar.until


def test_real_rows_are_written_only_where_the_live_job_commits(calendar: Calendar) -> None:
    real = {plan.name for plan in tables(calendar) if any(isinstance(step, RowAppend) for step in plan.steps)}
    assert real == {"sales.orders", "sales.carts"}


def test_the_history_covers_a_day_and_more(calendar: Calendar) -> None:
    assert DAY <= calendar.until - calendar.start <= 2 * DAY


def test_one_nightly_compaction_stopped_days_ago_and_its_look_alikes_did_not(calendar: Calendar) -> None:
    plans = {plan.name: plan for plan in tables(calendar)}
    last = {}
    for name in (AT_RISK_TABLE, LOOK_ALIKE_TABLE):
        steps = plans[name].steps
        assert calendar.until - steps[0].at > 15 * DAY
        nights = [step.at for step in steps if isinstance(step, Compaction)]
        assert {later - before for before, later in pairwise(nights)} == {DAY}
        last[name] = calendar.until - nights[-1]
    assert 3 * DAY < last[AT_RISK_TABLE] < 102 * HOUR
    assert last[LOOK_ALIKE_TABLE] < DAY
