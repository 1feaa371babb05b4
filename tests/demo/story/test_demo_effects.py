"""What the effect ledger has to find in the demo: the generator's truth about its compactions, at every mark."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from limnograph.analysis.effect import measure_effect
from limnograph.demo.story.calendar import Calendar
from limnograph.demo.story.plan import READER, STORY_TABLE, tables
from limnograph.demo.story.signals import SLOWER, SignalRun, runs, schedules
from limnograph.demo.story.steps import Compaction
from limnograph.domain.answers.effects import ControlJob, Effect, EffectCase, EffectOperation, EffectRuns
from limnograph.domain.facts.effects import MARKS
from limnograph.domain.time import Millis

RUNS_BEFORE = 168
TRUTH = 1 / SLOWER


@pytest.fixture(scope="module", params=["2026-11-21T13:50:00", "2026-11-23T09:00:00", "2026-11-25T22:10:00"])
def calendar(request: pytest.FixtureRequest) -> Calendar:
    """A Saturday, a Monday, and a Wednesday."""
    return Calendar.at(int(datetime.fromisoformat(request.param).replace(tzinfo=UTC).timestamp() * 1000))


def effects(calendar: Calendar, table: str) -> list[Effect]:
    """Of the table's compactions on the job that reads it, at every mark that the history reaches."""
    plans = tables(calendar)
    readers: dict[str, list[SignalRun]] = {each.job_name: [] for each in schedules()}
    for run in runs(calendar, plans):
        if run.job_name in readers:
            readers[run.job_name].append(run)
    (job,) = [each.job_name for each in schedules() if any(use.table == table for use in each.uses)]
    (plan,) = [each for each in plans if each.name == table]
    cases = [case(readers, job, step.at, mark) for step in plan.steps if isinstance(step, Compaction) for mark in MARKS]
    return [measure_effect(each) for each in cases if each is not None]


def case(readers: dict[str, list[SignalRun]], job: str, at: int, mark: int) -> EffectCase | None:
    """None if fewer than `mark` runs follow."""
    before = [run for run in readers[job] if run.started < at][-RUNS_BEFORE:]
    after = [run for run in readers[job] if run.started >= at][:mark]
    if len(after) < mark:
        return None
    first, last = before[0].started, after[-1].started
    others = {
        name: [run for run in each if first <= run.started <= last] for name, each in readers.items() if name != job
    }
    return EffectCase(
        id=job,
        runs=EffectRuns(times=starts([*before, *after]), duration_seconds=seconds([*before, *after])),
        operation=EffectOperation(started_at=Millis(at), committed_at=Millis(at)),
        controls=[
            ControlJob(job=name, times=starts(each), duration_seconds=seconds(each)) for name, each in others.items()
        ],
    )


def starts(found: list[SignalRun]) -> list[Millis]:
    return [Millis(run.started) for run in found]


def seconds(found: list[SignalRun]) -> list[float]:
    return [(run.ended - run.started) / 1000 for run in found]


def test_the_compaction_of_05_30_helped_with_bounds_that_contain_the_truth(calendar: Calendar) -> None:
    found = effects(calendar, STORY_TABLE)
    assert [each.verdict for each in found] == ["helped"] * len(MARKS)
    for each in found:
        assert each.low is not None
        assert each.high is not None
        assert (each.id, each.low.ratio <= TRUTH <= each.high.ratio) == (READER, True)


def test_an_innocent_compaction_has_no_effect_or_the_runs_that_would_show_it(calendar: Calendar) -> None:
    found = effects(calendar, "sales.web_sessions")
    assert len(found) >= len(MARKS)
    assert [
        each for each in found if each.verdict != "none" and not (each.verdict == "unknown" and each.more_runs)
    ] == []
