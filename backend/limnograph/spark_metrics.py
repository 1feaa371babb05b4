"""For your PySpark job: measures its runs, exposes them to Prometheus, and reports the tables it read and wrote to
Limnograph.

    from limnograph.spark_metrics import job_run, start_exposition

    start_exposition(9108)
    reads, writes = ["lake.sales.carts"], ["lake.sales.orders"]
    with job_run("churn", reads=reads, writes=writes, server="http://127.0.0.1:8787", spark=spark):
        ...

If the server requires authentication, put a token of scope `webhook` into the environment variable LIMNOGRAPH_TOKEN.
Needs only the standard library and prometheus_client. An unavailable Limnograph server never fails or delays the job.
"""

from __future__ import annotations

import atexit
import collections
import http.client
import json
import logging
import os
import threading
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from prometheus_client import CollectorRegistry, Counter, Gauge
from prometheus_client.exposition import start_http_server

from limnograph.spark_executions import ExecutionWatch
from limnograph.spark_reads import ReadMeter

LOG = logging.getLogger("limnograph.spark_metrics")
REGISTRY = CollectorRegistry()
"""A registry of our own, without the metrics of the job's other libraries."""

LABELS = ("catalog", "table_namespace", "table", "job_name", "application_id", "role")
_DURATION = Gauge("spark_job_duration_seconds", "How long the last finished run took.", LABELS, registry=REGISTRY)
_FINISHED = Gauge(
    "spark_job_last_finished_timestamp_seconds", "When the last run finished, epoch seconds.", LABELS, registry=REGISTRY
)
_RUNS = Counter("spark_job_runs", "Finished runs.", (*LABELS, "status"), registry=REGISTRY)

MOST_BYTES = 2**63 - 1
TOKEN_ENV = "LIMNOGRAPH_TOKEN"  # noqa: S105 - the name of a variable
"""Environment variable with the API token (scope `webhook`) that is sent to the server."""
RUNS, REPORTS = "/api/v1/runs", "/api/v1/notify/spark"
MOST_REPORTS = 200
"""Reports in one body: a tenth of the bytes that the server accepts."""
Role = Literal["reads", "writes"]
Tables = Iterable[str] | Mapping[str, int | None]


@dataclass(frozen=True)
class TableUse:
    """A table of a run, `catalog.namespace.table`, and the snapshot that was read, if the job knows it."""

    name: str
    role: Role
    read_snapshot_id: int | None = None

    @property
    def labels(self) -> dict[str, str]:
        """Catalog, namespace (all levels between) and table as label values."""
        parts = self.name.split(".")
        return {"catalog": parts[0], "table_namespace": ".".join(parts[1:-1]), "table": parts[-1]}


@dataclass(frozen=True)
class JobRun:
    """A run in progress. `run_id` is unique; `application_id` equals `app-id` in the run's Iceberg commits."""

    job_name: str
    application_id: str
    tables: tuple[TableUse, ...]
    run_id: str = field(default_factory=lambda: uuid.uuid4().hex)
    started_at: float = field(default_factory=time.time)
    written: dict[str, int] = field(default_factory=dict)
    counted: list[int] = field(default_factory=list)
    seen: dict[str, int] = field(default_factory=dict)
    """Snapshot that Spark read, by Spark's name of the table."""

    def wrote(self, table: str, snapshot_id: int) -> None:
        """Record which commit this run made to a table of `writes`, so that the commit's page shows the run. Raises
        ValueError for any other table.
        """
        if not any(use.role == "writes" and use.name == table for use in self.tables):
            raise ValueError(f"wrote: {table!r} is not one of the tables in `writes`")
        self.written[table] = snapshot_id

    def read(self, read_bytes: int) -> None:
        """Report the bytes that this run read from all its inputs, in place of Spark's count; the last call applies.
        Raises ValueError for anything but an integer from 0 to 2**63 - 1.
        """
        if isinstance(read_bytes, bool) or not isinstance(read_bytes, int) or not 0 <= read_bytes <= MOST_BYTES:
            raise ValueError(f"read: {read_bytes!r} is not a number of bytes from 0 to 2**63 - 1")
        self.counted[:] = [read_bytes]


@contextmanager
def job_run(
    job_name: str,
    *,
    reads: Tables = (),
    writes: Tables = (),
    server: str | None = None,
    spark: Any = None,
) -> Iterator[JobRun]:
    """Measure the body as one run. `reads` may map a table to the snapshot id that is read.

    An exception marks the run as `failed` and propagates. `server`: base URL of Limnograph; None pushes nothing. The
    bytes that the run read are Spark's count, for the Spark jobs that this thread starts; scans and commits of Iceberg
    tables, and the snapshots that were read, are those that Iceberg posts to Spark. Raises ValueError for a table that
    is not `catalog.namespace.table`.
    """
    session = _session(spark)
    context = _context(session)
    run = JobRun(job_name, _application_id(context), (*_uses(reads, "reads"), *_uses(writes, "writes")))
    push = _pusher(server).push if server else _ignore
    push(_body(run, "running", None))
    meter = ReadMeter(context, run.run_id) if server and context is not None else None
    watch = None
    if server and context is not None:
        about = _about(run, context)
        watch = ExecutionWatch(session, run.run_id, lambda reports: _push_reports(push, about, reports))
    begin = time.perf_counter()
    status: Literal["ok", "failed"] = "failed"
    try:
        yield run
        status = "ok"
    finally:
        seconds = time.perf_counter() - begin
        _measure(run, status, seconds)
        spark_bytes = meter.finish() if meter else None
        run.seen.update(watch.finish() if watch else {})
        push(_body(run, status, run.started_at + seconds, run.counted[0] if run.counted else spark_bytes))


def start_exposition(port: int, host: str = "127.0.0.1") -> int:
    """Serve REGISTRY on `http://host:port/metrics` in a daemon thread. Returns the port; 0 requests any free one."""
    server, _ = start_http_server(port, host, registry=REGISTRY)
    return int(server.server_port)


def _uses(tables: Tables, role: Role) -> Iterator[TableUse]:
    if isinstance(tables, str):
        raise TypeError(f"{role}: {tables!r} is one name; give a list of names")
    known: Mapping[str, int | None] = tables if isinstance(tables, Mapping) else dict.fromkeys(tables)
    for name, snapshot_id in known.items():
        parts = name.split(".")
        if len(parts) < 3 or not all(parts):
            raise ValueError(f"{role}: {name!r} is not a table; write catalog.namespace.table")
        yield TableUse(name, role, snapshot_id)


def _session(spark: Any) -> Any:
    """The given session, else the active one; None if there is none."""
    if spark is not None:
        return spark
    try:
        from pyspark.sql import SparkSession

        return SparkSession.getActiveSession()
    except ImportError:
        return None
    except Exception as error:  # noqa: BLE001  # measuring never fails the job
        LOG.warning("the Spark session is not known: %s", type(error).__name__)
        return None


def _context(session: Any) -> Any:
    """The SparkContext of a session; None if there is none (Spark Connect)."""
    try:
        return None if session is None else session.sparkContext
    except Exception as error:  # noqa: BLE001  # measuring never fails the job
        LOG.warning("the Spark context is not known: %s", type(error).__name__)
        return None


def _application_id(context: Any) -> str:
    """Application id of a SparkContext; empty without one."""
    try:
        return "" if context is None else str(context.applicationId)
    except Exception as error:  # noqa: BLE001  # measuring never fails the job
        LOG.warning("the application id is not known: %s", type(error).__name__)
        return ""


def _measure(run: JobRun, status: str, seconds: float) -> None:
    for use in run.tables:
        labels = {**use.labels, "job_name": run.job_name, "application_id": run.application_id, "role": use.role}
        _DURATION.labels(**labels).set(seconds)
        _FINISHED.labels(**labels).set(run.started_at + seconds)
        _RUNS.labels(**labels, status=status).inc()


def _about(run: JobRun, context: Any) -> dict[str, Any]:
    """The fields that all reports of a run share."""
    about = {"run_id": run.run_id, "job_name": run.job_name, "application_id": run.application_id or None}
    try:
        return about | {"engine_version": str(context.version), "user": str(context.sparkUser())}
    except Exception as error:  # noqa: BLE001  # measuring never fails the job
        LOG.warning("the version of Spark is not known: %s", type(error).__name__)
        return about


def _push_reports(push: Callable[..., None], about: dict[str, Any], reports: list[dict[str, Any]]) -> None:
    for first in range(0, len(reports), MOST_REPORTS):
        push({**about, "reports": reports[first : first + MOST_REPORTS]}, REPORTS)


def _body(run: JobRun, status: str, ended_at: float | None, read_bytes: int | None = None) -> dict[str, Any]:
    """Body of `POST /api/v1/runs`; times in epoch ms, ids as text. Unknown bytes are omitted, because older servers
    reject the field.
    """
    return {
        "run_id": run.run_id,
        "job_name": run.job_name,
        "status": status,
        "started_at": round(run.started_at * 1000),
        "ended_at": None if ended_at is None else round(ended_at * 1000),
        "application_id": run.application_id or None,
        **({} if read_bytes is None else {"read_bytes": read_bytes}),
        "tables": [
            {
                **use.labels,
                "role": use.role,
                "read_snapshot_id": _read(run, use),
                **_written(run, use, status),
            }
            for use in run.tables
        ],
    }


def _read(run: JobRun, use: TableUse) -> str | None:
    """The read snapshot that the job gave, else the one that Spark read. Spark's name of the catalog may be another."""
    if use.read_snapshot_id is not None:
        return str(use.read_snapshot_id)
    if use.role != "reads":
        return None
    inside = use.name.partition(".")[2]
    found = run.seen.get(use.name)
    alike = [snapshot for name, snapshot in run.seen.items() if name.partition(".")[2] == inside]
    found = alike[0] if found is None and len(alike) == 1 else found
    return None if found is None else str(found)


def _written(run: JobRun, use: TableUse, status: str) -> dict[str, str]:
    """The written snapshot, if it is known. Otherwise the field is omitted, because older servers reject it."""
    found = run.written.get(use.name) if use.role == "writes" and status != "running" else None
    return {} if found is None else {"written_snapshot_id": str(found)}


def _ignore(body: dict[str, Any], path: str = RUNS) -> None:
    """Push nothing: there is no server."""


class Pusher:
    """Pushes runs and reports from a thread of its own: a bounded buffer, short timeouts, one warning per outage."""

    BUFFER = 256
    TIMEOUT_SECONDS = 2.0
    LONGEST_PAUSE_SECONDS = 60.0

    def __init__(self, server: str) -> None:
        if not server.startswith(("http://", "https://")):
            raise ValueError(f"server: {server!r} is not a URL; write http://host:port")
        self._url, token = server.rstrip("/"), os.environ.get(TOKEN_ENV, "").strip()
        self._headers = {"content-type": "application/json", **({"authorization": f"Bearer {token}"} if token else {})}
        self._waiting: collections.deque[tuple[str, dict[str, Any]]] = collections.deque(maxlen=self.BUFFER)
        self._wake = threading.Condition()
        self._warned = False
        threading.Thread(target=self._work, name="limnograph-push", daemon=True).start()
        atexit.register(self.flush)

    def push(self, body: dict[str, Any], path: str = RUNS) -> None:
        """Enqueue a body without waiting; if the buffer is full, the oldest one is dropped."""
        with self._wake:
            self._waiting.append((path, body))
            self._wake.notify()

    def flush(self, seconds: float = 2.0) -> bool:
        """Wait at most `seconds` until all runs are sent. Returns whether they were."""
        with self._wake:
            return self._wake.wait_for(lambda: not self._waiting, seconds)

    def _work(self) -> None:
        pause = 1.0
        while True:
            with self._wake:
                self._wake.wait_for(lambda: bool(self._waiting))
                item = self._waiting[0]
            if self._send(*item):
                pause = 1.0
                self._done(item)
            else:
                time.sleep(pause)
                pause = min(2 * pause, self.LONGEST_PAUSE_SECONDS)

    def _done(self, item: tuple[str, dict[str, Any]]) -> None:
        with self._wake:
            if self._waiting and self._waiting[0] is item:
                self._waiting.popleft()
            self._wake.notify_all()

    def _send(self, path: str, body: dict[str, Any]) -> bool:
        """Send one body. Returns whether the server accepted or finally rejected it."""
        request = urllib.request.Request(  # noqa: S310 - the scheme was checked
            self._url + path, json.dumps(body).encode(), self._headers
        )
        try:
            with urllib.request.urlopen(request, timeout=self.TIMEOUT_SECONDS):  # noqa: S310
                self._warned = False
        except urllib.error.HTTPError as refusal:
            what = "run" if path == RUNS else "report"
            for_good = 400 <= refusal.code < 500 and refusal.code != 429
            self._warn(f"answered {refusal.code}" + (f", so that a {what} is not recorded" if for_good else ""))
            return for_good
        except (OSError, ValueError, http.client.HTTPException) as error:
            self._warn(f"is not responding ({error}); runs and reports wait in a buffer of {self.BUFFER}")
            return False
        return True

    def _warn(self, what: str) -> None:
        if not self._warned:
            LOG.warning("limnograph at %s %s", self._url, what)
        self._warned = True


_PUSHERS: dict[str, Pusher] = {}
_PUSHERS_LOCK = threading.Lock()


def _pusher(server: str) -> Pusher:
    with _PUSHERS_LOCK:
        if server not in _PUSHERS:
            _PUSHERS[server] = Pusher(server)
        return _PUSHERS[server]
