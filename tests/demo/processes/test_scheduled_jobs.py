"""The jobs that keep running in the demo: their rhythm, and durations that follow the files of their table."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField

from limnograph.demo.burst import append
from limnograph.demo.folder import Folder
from limnograph.demo.processes.scheduled_jobs import LIVE_EVERY_S, ScheduledJobs, files_in
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


def test_enough_other_jobs_run_beside_the_reader_at_a_steady_pace() -> None:
    jobs = ScheduledJobs(schedules(), Calendar.at(int(NOW * 1000)), FileCounts(), NOW, 30)
    starts: dict[str, set[float]] = {}
    for second in range(600):
        jobs.step(NOW + second)
        for family in jobs.registry.collect():
            for sample in family.samples:
                if sample.name == "spark_job_last_finished_timestamp_seconds":
                    starts.setdefault(sample.labels["job_name"], set()).add(sample.value)
    assert {name: len(ends) >= 8 for name, ends in starts.items()} == {one.job_name: True for one in schedules()}
    (reader_ends,) = [sorted(ends) for name, ends in starts.items() if name == READER]
    gaps = [after - before for before, after in pairwise(reader_ends)]
    assert all(20 < gap < 40 for gap in gaps)


def test_files_are_counted_in_a_real_catalog_and_follow_its_commits(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.make()
    catalog = SqlCatalog("lake", uri=folder.place.uri, warehouse=folder.place.warehouse)
    files_of = files_in(folder.database)
    assert files_of("sales.events") is None
    catalog.create_namespace("sales")
    table = catalog.create_table("sales.events", Schema(NestedField(1, "id", LongType())))
    assert files_of("sales.events") is None
    append(table, 3)
    assert files_of("sales.events") == 3
    append(catalog.load_table("sales.events"), 4)
    assert files_of("sales.events") == 7


def test_a_table_whose_files_are_unknown_slows_nothing_down() -> None:
    jobs = ScheduledJobs(schedules(), Calendar.at(int(NOW * 1000)), lambda _name: None, NOW)
    run_until(jobs, NOW, NOW + 5 * LIVE_EVERY_S)
    took = reader(jobs, "spark_job_duration_seconds")
    assert took is not None
    assert took < 65
