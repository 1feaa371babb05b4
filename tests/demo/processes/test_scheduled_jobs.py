"""The jobs that keep running in the demo: their rhythm, and durations that follow the files of their table."""

from __future__ import annotations

from limnograph.demo.processes.scheduled_jobs import LIVE_EVERY_S, ScheduledJobs
from limnograph.demo.story.calendar import Calendar
from limnograph.demo.story.plan import READER, STORY_TABLE
from limnograph.demo.story.signals import schedules

NOW = 1_795_660_000.0
READS = {"catalog": "lake", "table_namespace": "sales", "table": STORY_TABLE.split(".")[1], "job_name": READER}


class FileCounts(dict[str, int]):
    """Files by table; used by one test."""

    def __call__(self, name: str) -> int | None:
        return self.get(name, 100)


def reader(jobs: ScheduledJobs, metric: str) -> float | None:
    for family in jobs.registry.collect():
        for sample in family.samples:
            if sample.name == metric and READS.items() <= sample.labels.items():
                return sample.value
    return None


def run_until(jobs: ScheduledJobs, first: float, last: float) -> None:
    for second in range(int(first), int(last)):
        jobs.step(float(second))


def test_the_reader_runs_every_minute_and_a_burst_slows_it_down_until_it_is_compacted() -> None:
    files = FileCounts()
    jobs = ScheduledJobs(schedules(), Calendar.at(int(NOW * 1000)), files, NOW)
    run_until(jobs, NOW, NOW + 10 * LIVE_EVERY_S)
    usual = reader(jobs, "spark_job_duration_seconds")
    assert usual is not None
    assert 40 < usual < 65
    assert reader(jobs, "spark_job_runs_total") == 10
    files[STORY_TABLE] = 100 + 2_000
    run_until(jobs, NOW + 10 * LIVE_EVERY_S, NOW + 15 * LIVE_EVERY_S)
    slow = reader(jobs, "spark_job_duration_seconds")
    assert slow is not None
    assert slow > 2.5 * usual
    files[STORY_TABLE] = 110
    run_until(jobs, NOW + 15 * LIVE_EVERY_S, NOW + 25 * LIVE_EVERY_S)
    again = reader(jobs, "spark_job_duration_seconds")
    assert again is not None
    assert again < 65


def test_a_table_whose_files_are_unknown_slows_nothing_down() -> None:
    jobs = ScheduledJobs(schedules(), Calendar.at(int(NOW * 1000)), lambda _name: None, NOW)
    run_until(jobs, NOW, NOW + 5 * LIVE_EVERY_S)
    took = reader(jobs, "spark_job_duration_seconds")
    assert took is not None
    assert took < 65
