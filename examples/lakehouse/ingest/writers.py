"""Writers without Spark: one that commits often, and many at once. Each of the many counts its attempts and reports its
commit to the catalog, as Spark does by default and PyIceberg does not. Retries leave no trace in the table.
"""

from __future__ import annotations

import json
import logging
import threading
import time
import urllib.request
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.exceptions import CommitFailedException

from lakehouse.parts.lake import Lake
from lakehouse.parts.places import Places

STAMP = "lake.writer"
ROWS = 10
PATIENT = {
    "commit.retry.num-retries": "100",
    "commit.retry.min-wait-ms": "50",
    "commit.retry.max-wait-ms": "2000",
    "commit.retry.total-timeout-ms": "300000",
}
"""Properties of a table with many writers: with the defaults, half of ten writers give up."""


class WriterOutcome(NamedTuple):
    """`snapshot_id` None: it gave up. `attempts`: commits that it sent to the catalog."""

    writer: int
    snapshot_id: int | None
    attempts: int
    seconds: float


class CountedCatalog(RestCatalog):
    """A catalog that counts the commits sent through it. Used by one thread."""

    attempts = 0

    def commit_table(self, *arguments: Any, **named: Any) -> Any:
        self.attempts += 1
        return super().commit_table(*arguments, **named)


def numbered(batch: int) -> Any:
    """Ten rows."""
    import pyarrow as pa

    ids = range(batch * ROWS, (batch + 1) * ROWS)
    return pa.table({"id": pa.array(ids, pa.int64()), "v": [f"v{each}" for each in ids]})


def append_rows(lake: Lake, table: str, commits: int) -> None:
    """Commits of ten rows, as a stream with a short trigger leaves them. PyIceberg merges no manifests."""
    loaded = lake.catalog.load_table(table.removeprefix("lake."))
    for n in range(commits):
        loaded.append(numbered(n))


def append_at_once(lake: Lake, table: str, writers: int) -> Sequence[WriterOutcome]:
    """Each writer appends once; all begin together."""
    # PyIceberg logs every attempt that lost.
    logging.getLogger("pyiceberg.table").setLevel(logging.ERROR)
    begin = threading.Barrier(writers)
    with ThreadPoolExecutor(writers) as pool:
        return list(pool.map(lambda n: _append(lake.places, table.removeprefix("lake."), n, begin), range(writers)))


def _append(places: Places, name: str, writer: int, begin: threading.Barrier) -> WriterOutcome:
    catalog = CountedCatalog("lake", **places.iceberg())
    table = catalog.load_table(name)
    begin.wait()
    start = time.monotonic()
    try:
        table.append(numbered(writer), snapshot_properties={STAMP: str(writer)})
    except CommitFailedException:
        return WriterOutcome(writer, None, catalog.attempts, time.monotonic() - start)
    own = next(each for each in table.snapshots() if each.summary and each.summary[STAMP] == str(writer))
    done = WriterOutcome(writer, own.snapshot_id, catalog.attempts, time.monotonic() - start)
    _report(places, name, done, own.sequence_number or 0)
    return done


def _report(places: Places, name: str, done: WriterOutcome, sequence_number: int) -> None:
    """A commit report, to the catalog's own route for them."""
    namespace, _, table = name.partition(".")
    seconds = {"count": 1, "time-unit": "nanoseconds", "total-duration": round(done.seconds * 1e9)}
    report = {
        "report-type": "commit-report",
        "table-name": f"lake.{name}",
        "snapshot-id": done.snapshot_id,
        "sequence-number": sequence_number,
        "operation": "append",
        "metrics": {"total-duration": seconds, "attempts": {"unit": "count", "value": done.attempts}},
        "metadata": {"engine-name": "pyiceberg", "app-id": f"writer-{done.writer}"},
    }
    url = f"{places.catalog}/v1/namespaces/{namespace}/tables/{table}/metrics"
    request = urllib.request.Request(url, json.dumps(report).encode(), {"Content-Type": "application/json"})  # noqa: S310
    urllib.request.urlopen(request, timeout=30).close()  # noqa: S310 - our own loopback address


def refused_commits(places: Places, table: str) -> int:
    """Commits to a table that the catalog refused, by its own log: `refused {namespace=…, table=…}: …`."""
    namespace, name = table.split(".")[1:]
    wanted, begin = {f"namespace={namespace}", f"table={name}"}, "refused {"
    lines = (places.logs / "catalog.log").read_text().splitlines()
    said = (line.removeprefix(begin).partition("}")[0] for line in lines if line.startswith(begin))
    return sum(wanted <= set(each.split(", ")) for each in said)
