"""The generated part of the history: runs of jobs and load of executors. Pure. docs/demo.md lists what is generated."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from limnograph.demo.story.calendar import MINUTE, SECOND, Calendar
from limnograph.demo.story.plan import CULPRIT, LIVE_APPEND_TABLE, LIVE_DELETE_TABLE, READER, STORY_TABLE, writer_of
from limnograph.demo.story.steps import Append, RowAppend, TablePlan

SLOWER = 3.08
"""Factor of the slow runs: 160 s instead of 52 s."""


class Use(NamedTuple):
    """A table (`namespace.table`) of a job, and its role, `reads` or `writes`."""

    table: str
    role: str


class SignalRun(NamedTuple):
    """A finished run, instants in epoch ms. `shown_until`: end of the job's exposition."""

    job_name: str
    application_id: str
    uses: tuple[Use, ...]
    started: int
    ended: int
    shown_until: int

    @property
    def seconds(self) -> float:
        """Its duration."""
        return (self.ended - self.started) / 1000


class JobSchedule(NamedTuple):
    """A job that starts every `every` seconds and usually takes `seconds`."""

    job_name: str
    uses: tuple[Use, ...]
    every: int
    seconds: float
    number: int


def schedules() -> tuple[JobSchedule, ...]:
    """The jobs that read the lake. The live job has no generated history: it would not match its own measurements."""
    return (
        JobSchedule(READER, (Use(STORY_TABLE, "reads"),), 180, 52, 71),
        JobSchedule("sessionize", (Use("sales.web_sessions", "reads"),), 300, 75, 72),
        JobSchedule("attribution", (Use("marketing.touchpoints", "reads"),), 600, 95, 73),
        JobSchedule("score_leads", (Use("marketing.leads", "reads"),), 900, 24, 74),
        JobSchedule("sensor_alerts", (Use("ops.sensor_readings", "reads"),), 120, 20, 75),
        JobSchedule("daily_revenue", (Use(LIVE_APPEND_TABLE, "reads"),), 420, 44, 76),
        JobSchedule("abandoned_carts", (Use(LIVE_DELETE_TABLE, "reads"),), 300, 31, 77),
    )


def runs(calendar: Calendar, plans: Sequence[TablePlan]) -> list[SignalRun]:
    """All runs that finished before the history ends, in order of their ends."""
    found = [run for schedule in schedules() for run in _reader_runs(schedule, calendar)]
    found += [run for plan in plans for run in _writer_runs(plan, calendar)]
    return sorted((run for run in found if run.ended <= calendar.until), key=lambda run: run.ended)


def _reader_runs(schedule: JobSchedule, calendar: Calendar) -> Iterator[SignalRun]:
    rng = random.Random(schedule.job_name)  # noqa: S311 - the same past every time, no secret
    application_id = writer_of(schedule.job_name, calendar, schedule.number).app_id
    every = schedule.every * SECOND
    # Aligned to the story: a run starts at 03:05, and none between the burst and 03:05.
    started = calendar.slow_from - (calendar.slow_from - calendar.start) // every * every
    while started < calendar.until:
        seconds = schedule.seconds * rng.gauss(1.0, 0.03)
        if schedule.job_name == READER and calendar.slow_from <= started < calendar.repair:
            seconds *= SLOWER
        ended = started + round(seconds * 1000)
        yield SignalRun(schedule.job_name, application_id, schedule.uses, started, ended, calendar.until)
        started += every


def _writer_runs(plan: TablePlan, calendar: Calendar) -> Iterator[SignalRun]:
    """A run for each append. It ends right after the commit and has the application id of the commit's summary."""
    rng = random.Random(f"runs of {plan.name}")  # noqa: S311
    for step in plan.steps:
        if not isinstance(step, Append | RowAppend):
            continue
        once = step.writer.app_name == CULPRIT or step.writer.app_name.startswith(("import_", "audit_"))
        seconds = 412.0 if once else 18 * rng.gauss(1.0, 0.08)
        ended = step.at + SECOND
        shown_until = ended + 5 * MINUTE if once else calendar.until
        uses = (Use(plan.name, "writes"),)
        yield SignalRun(
            step.writer.app_name, step.writer.app_id, uses, ended - round(seconds * 1000), ended, shown_until
        )


class Load(NamedTuple):
    """Metrics of an executor at an instant."""

    active_tasks: float
    memory_bytes: float
    cpu: float


def load_at(calendar: Calendar, at: int, rng: random.Random) -> Load:
    """Load of the reader's executor: busy while the reader is slow, and for ten minutes at 20:11 for no reason in the
    lake.
    """
    slow = calendar.slow_from <= at < calendar.repair
    spike = calendar.cpu_spike <= at < calendar.cpu_spike + 10 * MINUTE
    cpu = 0.94 if spike else 0.44 if slow else 0.31
    tasks = 8 if spike else 4 if slow else rng.choice((1, 2, 2, 3))
    return Load(tasks, (1.9e9 if slow else 1.2e9) * rng.uniform(0.95, 1.05), min(1.0, cpu * rng.uniform(0.93, 1.06)))
