"""The jobs of the story, which keep running while the demo runs: generated durations that follow the real number of
files in the table that each job reads, so that a burst slows down a job in front of the user.
"""

from __future__ import annotations

import contextlib
import heapq
import json
import math
import random
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from prometheus_client import CollectorRegistry, Counter, Gauge, start_http_server

from limnograph.demo.story.calendar import Calendar
from limnograph.demo.story.plan import writer_of
from limnograph.demo.story.signals import SLOWER, JobSchedule

LIVE_EVERY_S = 60
"""Jobs run more often than in the history, so that the five runs that an effect needs take minutes, and so that enough
other jobs have runs beside them: fewer than three of those decide too little.
"""
UNHARMED, HARMFUL = 300, 2_000
"""Files more than at the first run: up to the first number a job is as fast as usual, from the second on it
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

    def __init__(
        self,
        schedules: tuple[JobSchedule, ...],
        calendar: Calendar,
        files_of: FilesOf,
        now: float,
        every_s: int = LIVE_EVERY_S,
    ) -> None:
        self.registry = CollectorRegistry()
        self._duration = Gauge(
            "spark_job_duration_seconds", "How long the last finished run took.", _LABELS, registry=self.registry
        )
        self._finished = Gauge(
            "spark_job_last_finished_timestamp_seconds", "When the last run finished.", _LABELS, registry=self.registry
        )
        self._runs = Counter("spark_job_runs_total", "Finished runs.", (*_LABELS, "status"), registry=self.registry)
        self._files_of, self._calendar, self._every_s = files_of, calendar, every_s
        self._usual: dict[str, int] = {}
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
            heapq.heappush(self._starts, (at + self._interval_s(schedule), number, schedule))
        while self._endings and self._endings[0].at <= now:
            self._publish(heapq.heappop(self._endings))

    def _interval_s(self, schedule: JobSchedule) -> int:
        """Between two starts: twice as long for a job that usually takes more than a minute."""
        return self._every_s * math.ceil(schedule.seconds / 60)

    def _slowdown(self, schedule: JobSchedule) -> float:
        """1 for the usual number of files, SLOWER for HARMFUL more."""
        worst = 0.0
        for use in schedule.uses:
            files = self._files_of(use.table)
            if files is not None:
                usual = self._usual.setdefault(use.table, files)
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


def files_in(database: Path) -> FilesOf:
    """Live data files of a table, from the metadata file that the catalog in `database` points at."""
    address = f"{database.absolute().as_uri()}?mode=ro"

    def files_of(name: str) -> int | None:
        # The catalog may be locked, and the file of a pointer may be gone by the time it is opened.
        with contextlib.suppress(sqlite3.OperationalError, OSError):
            with contextlib.closing(sqlite3.connect(address, uri=True, timeout=1)) as catalog:
                row = catalog.execute(
                    "select metadata_location from iceberg_tables where table_namespace = ? and table_name = ?",
                    name.split("."),
                ).fetchone()
            return None if row is None else _live_files(json.loads(Path(urlsplit(row[0]).path).read_text()))
        return None

    return files_of


def _live_files(metadata: dict[str, Any]) -> int | None:
    newest = metadata.get("current-snapshot-id")
    snapshot = next((each for each in metadata.get("snapshots", ()) if each["snapshot-id"] == newest), None)
    return None if snapshot is None else int(snapshot["summary"]["total-data-files"])


@contextlib.contextmanager
def scheduled_jobs(
    schedules: tuple[JobSchedule, ...], calendar: Calendar, database: Path, port: int, every_s: int = LIVE_EVERY_S
) -> Iterator[ScheduledJobs]:
    """Run the jobs in a thread, with their metrics on a port of 127.0.0.1, until the block is left."""
    jobs = ScheduledJobs(schedules, calendar, files_in(database), time.time(), every_s)
    stop = threading.Event()

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
