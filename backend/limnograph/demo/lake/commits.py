"""Commits by PyIceberg: appends of placeholders and of small real files. Runs in worker processes, without Spark."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from limnograph.demo.story.calendar import DAY
from limnograph.demo.story.steps import Append, Files, RowAppend, Writer

if TYPE_CHECKING:
    import pyarrow as pa
    from pyiceberg.manifest import DataFile
    from pyiceberg.table import Table

CUSTOMERS = 200
SPARK_VERSION = "4.1.4"
ICEBERG_VERSION = "Apache Iceberg 1.11.0"


class LakeLocation(NamedTuple):
    """Location of the observed lake: `uri` and `warehouse` of PyIceberg's catalog `lake`."""

    uri: str
    warehouse: str


class Mark(NamedTuple):
    """A completed step: its planned instant, the snapshot it made, its real instant (both epoch ms), and the metadata
    file it wrote.
    """

    planned: int
    snapshot_id: int | None
    real: int
    location: str


def open_table(place: LakeLocation, name: str) -> Table:
    """Load the current table."""
    from pyiceberg.catalog.sql import SqlCatalog

    return SqlCatalog("lake", uri=place.uri, warehouse=place.warehouse).load_table(name)


def mark(table: Table, planned: int, before: int | None) -> Mark:
    """The mark of a step that has just completed; `before`: the newest snapshot id before it."""
    newest = newest_snapshot(table)
    made = newest if newest != before else None
    return Mark(planned, made, table.metadata.last_updated_ms, table.metadata_location)


def newest_snapshot(table: Table) -> int | None:
    """Id of the latest snapshot on any branch."""
    snapshots = table.metadata.snapshots
    return max(snapshots, key=lambda one: one.sequence_number or 0).snapshot_id if snapshots else None


def make_appends(place: LakeLocation, name: str, steps: Sequence[Append | RowAppend]) -> list[Mark]:
    """Commit `steps` in order, one snapshot each."""
    table = open_table(place, name)
    marks = []
    for step in steps:
        before = newest_snapshot(table)
        if isinstance(step, Append):
            _append_placeholders(table, step)
        else:
            table.append(_rows(table, step), snapshot_properties=_summary(step.writer))
        marks.append(mark(table, step.at, before))
    return marks


def _append_placeholders(table: Table, step: Append) -> None:
    summary = _summary(step.writer)
    files = placeholders(table, step.files, step.at, partition_at=step.at - step.late_days * DAY)
    with (
        table.transaction() as transaction,
        transaction.update_snapshot(snapshot_properties=summary, branch=step.branch).fast_append() as append,
    ):
        for file in files:
            append.append_data_file(file)


def _summary(writer: Writer) -> dict[str, str]:
    """The properties that Spark adds to a summary besides the counts."""
    return {
        "spark.app.id": writer.app_id,
        "app-id": writer.app_id,
        "app-name": writer.app_name,
        "user": writer.user,
        "engine-name": "spark",
        "engine-version": SPARK_VERSION,
        "iceberg-version": ICEBERG_VERSION,
    }


def placeholders(table: Table, files: Files, at: int, partition_at: int) -> list[DataFile]:
    """Entries for data files that do not exist: real metadata without data. Reproducible for the same `at`."""
    from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
    from pyiceberg.typedef import Record

    rng = random.Random(at)  # noqa: S311 - reproducible, not a secret
    folder = f"{table.location()}/data"
    spec = table.spec()
    nothing: dict[str, Any] = dict.fromkeys(
        ("column_sizes", "value_counts", "null_value_counts", "nan_value_counts", "lower_bounds", "upper_bounds")
    )
    return [
        DataFile.from_args(
            content=DataFileContent.DATA,
            file_path=f"{folder}/{files.stem}-{at}-{number:05d}.parquet",
            file_format=FileFormat.PARQUET,
            partition=Record(*(_partition_value(str(field.transform), partition_at, rng) for field in spec.fields)),
            record_count=max(1, round(files.rows * rng.uniform(0.9, 1.1))),
            file_size_in_bytes=rng.randint(*files.sizes),
            key_metadata=None,
            split_offsets=None,
            equality_ids=None,
            sort_order_id=None,
            spec_id=spec.spec_id,
            **nothing,
        )
        for number in range(files.count)
    ]


def _partition_value(transform: str, partition_at: int, rng: random.Random) -> int:
    return partition_at // DAY if transform == "day" else rng.randrange(4)


def _rows(table: Table, step: RowAppend) -> pa.Table:
    """Orders at the time of the commit; customers repeat, so that a row delete touches many files."""
    import pyarrow as pa
    from pyiceberg.io.pyarrow import schema_to_pyarrow

    rng = random.Random(step.at)  # noqa: S311
    now = datetime.fromtimestamp(step.at / 1000, UTC)
    columns = {
        "id": [step.at * 1000 + number for number in range(step.count)],
        "event_time": [now] * step.count,
        "customer": [rng.randrange(CUSTOMERS) for _ in range(step.count)],
        "amount": [round(rng.expovariate(1 / 40), 2) for _ in range(step.count)],
    }
    return pa.table(columns).cast(schema_to_pyarrow(table.schema()))
