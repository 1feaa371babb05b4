"""`limnograph demo burst`: commits many small real files to a table of the running demo, and waits for the alert."""

from __future__ import annotations

import io
import time
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlencode

from limnograph.demo.check.evidence import CatalogLake
from limnograph.demo.folder import Folder
from limnograph.demo.lake.commits import open_table
from limnograph.demo.lake.timeshift import local
from limnograph.demo.processes.alerting import BURST_ALERT, link
from limnograph.demo.progress import Progress
from limnograph.demo.requests import get_json, server_of
from limnograph.demo.run import USUAL_DIR
from limnograph.demo.story.calendar import DAY
from limnograph.domain.errors import EnvironmentFault, InvalidInput, LimnographError, SourceUnavailable

if TYPE_CHECKING:
    from pyiceberg.manifest import DataFile
    from pyiceberg.partitioning import PartitionField
    from pyiceberg.schema import Schema
    from pyiceberg.table import Table
    from pyiceberg.typedef import Record

APPLICATION = "demo_burst"
BURST_FILE = "burst-"
"""How the names of the files begin."""
LATE_MS = 30 * DAY
"""How late its rows are: the files of their partition can be read, while most others of the demo are only described."""
ROWS = 8
"""Rows per file. A file has one or two kilobytes, mostly its footer, as after a stream that commits too often."""
LOOK_EVERY_S = 1.0


class BurstCommit(NamedTuple):
    """The commit: `table` is `namespace.table`, `at` its time (epoch ms), `file_bytes` the size of each file."""

    table: str
    snapshot_id: int
    at: int
    files: int
    file_bytes: int


def burst(root: Path, *, table: str, files: int, wait: float) -> str:
    """Commit, then wait at most `wait` seconds for the alert (0: do not wait). Returns its link. Raises
    LimnographError.
    """
    folder, progress = Folder(root), Progress()
    addresses = running(folder)
    made = commit(folder, table.removeprefix("lake."), files)
    progress.say(
        f"{made.files:,} files of {made.file_bytes:,} bytes are in lake.{made.table} since {_clock(made.at)} UTC,"
        f" by one commit (snapshot {made.snapshot_id})"
    )
    to = link(addresses["server"], made.table)
    if wait > 0:
        progress.say(f"waiting for its alert; link: {to}")
        progress.say(arrived(addresses, made, wait))
    return to


def running(folder: Folder) -> dict[str, Any]:
    """Addresses of the demo that is running in the folder. Raises EnvironmentFault with the remedy."""
    addresses = folder.running
    where = "" if folder.root == Folder(USUAL_DIR).root else f" --dir {folder.root}"
    if addresses is None:
        raise EnvironmentFault(
            f"no demo runs in {folder.root}; start one with `limnograph demo{where}` and wait until it is up, or pass "
            "its folder with --dir"
        )
    try:
        server_of(addresses).get("/api/v1/alerts?limit=1")
    except SourceUnavailable as error:
        raise EnvironmentFault(f"the demo in {folder.root} does not respond ({error}); restart it") from error
    return addresses


def commit(folder: Folder, name: str, files: int) -> BurstCommit:
    """Append `files` files of a few rows to `namespace.table`. Raises InvalidInput if there is no such table."""
    known = known_tables(folder)
    if name not in known:
        raise InvalidInput("--table", f"{name!r} is not a table of the demo; choose from {', '.join(known)}")
    return append(open_table(folder.place, name), files)


def append(table: Table, files: int) -> BurstCommit:
    """Write `files` files to the table's data folder and append them in one commit."""
    at = int(time.time() * 1000)
    body = _parquet(table, at)
    written = _write(table, body, files, at)
    summary = {"app-id": f"{APPLICATION}-{at}", "app-name": APPLICATION, "engine-name": "pyiceberg"}
    with (
        table.transaction() as transaction,
        transaction.update_snapshot(snapshot_properties=summary).fast_append() as added,
    ):
        for file in written:
            added.append_data_file(file)
    made = next(
        one for one in table.metadata.snapshots if one.summary and one.summary.get("app-id") == summary["app-id"]
    )
    return BurstCommit(".".join(table.name()[-2:]), made.snapshot_id, made.timestamp_ms, files, len(body))


def arrived(addresses: dict[str, Any], made: BurstCommit, seconds: float) -> str:
    """Wait until the alert has reached the server, or fires in Prometheus if no Alertmanager is running. Returns a
    sentence. Raises LimnographError after `seconds`.
    """
    known = in_server if addresses.get("alertmanager") else in_prometheus
    began = in_prometheus_since(addresses, made.table)
    earlier = began if began is not None and began < made.at else None  # a commit prolongs a firing alert
    deadline = time.monotonic() + seconds
    while (where := known(addresses, made.table, earlier or made.at)) is None:
        if time.monotonic() > deadline:
            raise _AlertMissing(
                f"{BURST_ALERT} did not arrive within {seconds:.0f} s; it fires when a table gets more files within "
                "five minutes than limnograph:added_data_files_5m:threshold (1,000 unless a rule overrides it); "
                f"{addresses['prometheus']}/alerts shows its state in Prometheus"
            )
        time.sleep(LOOK_EVERY_S)
    if earlier is not None:
        return (
            f"{BURST_ALERT} has been firing since {_clock(earlier)} UTC, before this commit, which prolongs it: {where}"
        )
    return f"{BURST_ALERT} fires, {time.time() - made.at / 1000:.0f} s after the commit: {where}"


def in_server(addresses: dict[str, Any], table: str, since: int) -> str | None:
    """The incident's page, once the webhook has delivered an alert that began at `since` (epoch ms) or later."""
    asked = urlencode({"state": "firing", "q": BURST_ALERT})
    namespace, name = table.split(".")
    meant = {"catalog": "lake", "table_namespace": namespace, "table": name}
    rows = server_of(addresses).get(f"/api/v1/alerts?{asked}")["rows"]
    found = next((row for row in rows if row["table"] == meant and row["starts_at"] >= since), None)
    if found is None:
        return None
    return f"{addresses['server']}/alerts/{found['fingerprint']}?starts_at={found['starts_at']}"


def in_prometheus(addresses: dict[str, Any], table: str, since: int) -> str | None:
    """Prometheus' page of alerts, once it shows the alert firing since `since` (epoch ms) or later."""
    began = in_prometheus_since(addresses, table)
    return f"{addresses['prometheus']}/alerts" if began is not None and began >= since else None


def in_prometheus_since(addresses: dict[str, Any], table: str) -> int | None:
    """When the table's alert began to fire in Prometheus (epoch ms); None if it does not fire. Its rule has no `for`,
    so `activeAt` is that time.
    """
    namespace, name = table.split(".")
    told = get_json(f"{addresses['prometheus']}/api/v1/alerts")["data"]["alerts"]
    for alert in told:
        labels = alert["labels"]
        same = (labels.get("alertname"), labels.get("table_namespace"), labels.get("table"))
        if alert["state"] == "firing" and same == (BURST_ALERT, namespace, name):
            return int(datetime.fromisoformat(alert["activeAt"]).timestamp() * 1000)
    return None


def _clock(at: int) -> str:
    return datetime.fromtimestamp(at / 1000, UTC).strftime("%H:%M:%S")


class _AlertMissing(LimnographError):
    """The burst was committed, but its alert did not arrive."""


def known_tables(folder: Folder) -> list[str]:
    """Tables of the demo, as `namespace.table`."""
    return [name.removeprefix("lake.") for name in CatalogLake(folder.place).tables()]


def _parquet(table: Table, at: int) -> bytes:
    """The content of a file that is valid for the table's schema; all its rows are in one partition."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    from pyiceberg.io.pyarrow import schema_to_pyarrow

    values = [_value(str(field.field_type), at - LATE_MS) for field in table.schema().fields]
    columns = {field.name: [value] * ROWS for field, value in zip(table.schema().fields, values, strict=True)}
    sink = io.BytesIO()
    pq.write_table(pa.table(columns).cast(schema_to_pyarrow(table.schema())), sink)
    return sink.getvalue()


def _value(kind: str, at: int) -> Any:
    """The value of a column by its Iceberg type; None for types that the demo's tables do not have."""
    known: dict[str, Callable[[], Any]] = {
        "long": lambda: at,
        "double": lambda: 9.99,
        "string": lambda: APPLICATION,
        "timestamptz": lambda: datetime.fromtimestamp(at / 1000, UTC),
        "timestamp": lambda: datetime.fromtimestamp(at / 1000, UTC).replace(tzinfo=None),
    }
    return known[kind]() if kind in known else None


def _write(table: Table, body: bytes, files: int, at: int) -> list[DataFile]:
    from pyiceberg.typedef import Record

    stem = f"{BURST_FILE}{uuid.uuid4().hex}"
    folder = local(f"{table.location()}/data")
    folder.mkdir(parents=True, exist_ok=True)
    partition = Record(*(_partition(table.schema(), field, at - LATE_MS) for field in table.spec().fields))
    written = []
    for number in range(files):
        name = f"{stem}-{number:05d}.parquet"
        (folder / name).write_bytes(body)
        written.append(data_file(table, name, partition, ROWS, len(body)))
    return written


def data_file(table: Table, name: str, partition: Record, rows: int, size: int) -> DataFile:
    """A Parquet file in the table's data folder as an entry of a manifest, without statistics of its columns."""
    from pyiceberg.manifest import DataFile, DataFileContent, FileFormat

    statistics: dict[str, Any] = dict.fromkeys(
        ("column_sizes", "value_counts", "null_value_counts", "nan_value_counts", "lower_bounds", "upper_bounds")
    )
    return DataFile.from_args(
        content=DataFileContent.DATA,
        file_path=f"{table.location()}/data/{name}",
        file_format=FileFormat.PARQUET,
        partition=partition,
        record_count=rows,
        file_size_in_bytes=size,
        key_metadata=None,
        split_offsets=None,
        equality_ids=None,
        sort_order_id=None,
        spec_id=table.spec().spec_id,
        **statistics,
    )


def _partition(schema: Schema, field: PartitionField, at: int) -> Any:
    """The partition value of all rows: Iceberg transforms timestamps in microseconds."""
    source = schema.find_field(field.source_id)
    kind = str(source.field_type)
    value = at * 1000 if kind.startswith("timestamp") else _value(kind, at)
    return field.transform.transform(source.field_type)(value)
