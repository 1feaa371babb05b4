"""The jobs of the story, which keep running while the demo runs: generated durations that follow the real number of
files in the table that each job reads, so that a burst slows down a job in front of the user.
"""

from __future__ import annotations

import contextlib
import heapq
import json
import random
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from prometheus_client import CollectorRegistry, Counter, Gauge, start_http_server

from limnograph.demo.lake.commits import LakeLocation
from limnograph.demo.story.calendar import Calendar
from limnograph.demo.story.plan import READER, writer_of
from limnograph.demo.story.signals import SLOWER, JobSchedule

LIVE_EVERY_S = 60
"""The reader of the story's table runs every minute, so that the five runs that an effect needs take minutes."""
UNHARMED, HARMFUL = 300, 2_000
"""Files more than at the start of the demo: up to the first number a job is as fast as usual, from the second on it
takes SLOWER times as long.
"""
_LABELS = ("catalog", "table_namespace", "table", "job_name", "application_id", "role")
FilesOf = Callable[[str], int | None]


class _Ending(NamedTuple):
    """A run that ends at `at` (epoch seconds)."""

    at: float
    number: int
    schedule: JobSchedule
    seconds: float


class ScheduledJobs:
    """Thread-safe for one caller of `step`; the registry has its own lock. `files_of`: live data files of a table
    (`namespace.table`), None if unknown.
    """

    def __init__(self, schedules: tuple[JobSchedule, ...], calendar: Calendar, files_of: FilesOf, now: float) -> None:
        self.registry = CollectorRegistry()
        self._duration = Gauge(
            "spark_job_duration_seconds", "How long the last finished run took.", _LABELS, registry=self.registry
        )
        self._finished = Gauge(
            "spark_job_last_finished_timestamp_seconds", "When the last run finished.", _LABELS, registry=self.registry
        )
        self._runs = Counter("spark_job_runs_total", "Finished runs.", (*_LABELS, "status"), registry=self.registry)
        self._files_of, self._calendar = files_of, calendar
        self._usual = {use.table: files_of(use.table) for schedule in schedules for use in schedule.uses}
        self._random = random.Random(now)  # noqa: S311 - generated durations, no secret
        self._starts = [(now + 2 * number, number, schedule) for number, schedule in enumerate(schedules)]
        self._endings: list[_Ending] = []
        heapq.heapify(self._starts)

    def step(self, now: float) -> None:
        """Start the runs that are due at `now` (epoch seconds), and publish those that ended."""
        while self._starts and self._starts[0][0] <= now:
            at, number, schedule = heapq.heappop(self._starts)
            seconds = schedule.seconds * self._random.gauss(1.0, 0.03) * self._slowdown(schedule)
            heapq.heappush(self._endings, _Ending(at + seconds, number, schedule, seconds))
            heapq.heappush(self._starts, (at + _every_s(schedule), number, schedule))
        while self._endings and self._endings[0].at <= now:
            self._publish(heapq.heappop(self._endings))

    def _slowdown(self, schedule: JobSchedule) -> float:
        """1 for the usual number of files, SLOWER for HARMFUL more."""
        worst = 0.0
        for use in schedule.uses:
            usual, files = self._usual[use.table], self._files_of(use.table)
            if usual is not None and files is not None:
                worst = max(worst, (files - usual - UNHARMED) / (HARMFUL - UNHARMED))
        return 1 + (SLOWER - 1) * min(1.0, worst)

    def _publish(self, run: _Ending) -> None:
        schedule = run.schedule
        application = writer_of(schedule.job_name, self._calendar, schedule.number).app_id
        for use in schedule.uses:
            labels = ("lake", *use.table.split("."), schedule.job_name, application, use.role)
            self._duration.labels(*labels).set(run.seconds)
            self._finished.labels(*labels).set(run.at)
            self._runs.labels(*labels, "ok").inc()


def _every_s(schedule: JobSchedule) -> int:
    return LIVE_EVERY_S if schedule.job_name == READER else schedule.every


def files_in(place: LakeLocation) -> FilesOf:
    """Live data files of a table, from the metadata file that its catalog points at."""
    database = Path(urlsplit(place.uri).path)

    def files_of(name: str) -> int | None:
        namespace, table = name.split(".")
        with contextlib.suppress(sqlite3.Error, OSError, ValueError, KeyError, StopIteration):
            with contextlib.closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=1)) as catalog:
                found = catalog.execute(
                    "select metadata_location from iceberg_tables where table_namespace = ? and table_name = ?",
                    (namespace, table),
                ).fetchone()
            metadata = json.loads(Path(urlsplit(found[0]).path).read_text())
            newest = metadata["current-snapshot-id"]
            snapshot = next(each for each in metadata["snapshots"] if each["snapshot-id"] == newest)
            return int(snapshot["summary"]["total-data-files"])
        return None

    return files_of


@contextlib.contextmanager
def scheduled_jobs(
    schedules: tuple[JobSchedule, ...], calendar: Calendar, place: LakeLocation, port: int
) -> Iterator[ScheduledJobs]:
    """Run the jobs in a thread, with their metrics on a port of 127.0.0.1, until the block is left."""
    jobs, stop = ScheduledJobs(schedules, calendar, files_in(place), time.time()), threading.Event()

    def run() -> None:
        while not stop.wait(0.5):
            jobs.step(time.time())

    server, listening = start_http_server(port, addr="127.0.0.1", registry=jobs.registry)
    thread = threading.Thread(target=run, name="scheduled jobs", daemon=True)
    thread.start()
    try:
        yield jobs
    finally:
        stop.set()
        thread.join()
        server.shutdown()
        server.server_close()
        listening.join()
