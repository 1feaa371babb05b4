"""Python DataSource `limnograph`: facts of observed tables as Arrow batches, one task per share of the due tables.

The streaming side is in `ticks.py`.
"""

from __future__ import annotations

import heapq
import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import LongType, StructField, StructType

from limnograph.adapters.meta.extraction_rows import EXTRACTED, extracted_table
from limnograph.adapters.sandbox.tables import SandboxTables
from limnograph.adapters.spark.manifests import CACHE_ROWS, ManifestsReader, access_of_worker
from limnograph.adapters.spark.ticks import TicksReader
from limnograph.domain.errors import MetadataError, SourceError
from limnograph.domain.facts.meta_tables import SnapshotFact
from limnograph.domain.metadata.due import DueTable
from limnograph.domain.metadata.manifests import MANY_MANIFESTS
from limnograph.domain.secrecy import clean
from limnograph.ports.tables import Tables

_log = logging.getLogger("limnograph.source")
NAME = "limnograph"
ROWS_PER_BATCH = 200
PLACE, MISSED = "limnograph_place", "limnograph_missed"
"""Additional columns of rows that represent a table without rows: its index among the requested tables, and the reason;
an empty reason means that the task ran out of time or space.
"""
TASK_SECONDS = 120.0
"""A task starts no further table after this time: finished work must not wait for the slowest task of a round."""
TASK_BYTES = 16 * 2**20
SCHEMA = pa.schema([*EXTRACTED, pa.field(PLACE, pa.int64()), pa.field(MISSED, pa.string())])


class PlacedTable(msgspec.Struct, frozen=True):
    """A due table and its index among the requested ones."""

    place: int
    due: DueTable


class DueShare(InputPartition):
    """The tables of one task, as JSON."""

    def __init__(self, tables: str) -> None:
        self.tables = tables


class SnapshotsReader(DataSourceReader):
    """Rows of `snapshots` for option `due` (JSON list of DueTable), with option `access` (JSON). Each worker process
    has a killable child, which stays warm from task to task. After `task_seconds` or `task_bytes` (options), a task
    starts no further table; it always tries one.
    """

    def __init__(self, options: Mapping[str, str]) -> None:
        self._access = options["access"]
        self._due = msgspec.json.decode(options["due"], type=list[DueTable])
        self._tasks = int(options.get("tasks", "2"))
        self._seconds = float(options.get("task_seconds", TASK_SECONDS))
        self._bytes = int(options.get("task_bytes", TASK_BYTES))

    def partitions(self) -> Sequence[DueShare]:
        placed = [PlacedTable(place, due) for place, due in enumerate(self._due)]
        return [DueShare(msgspec.json.encode(share).decode()) for share in shares(placed, self._tasks)]

    def read(self, partition: Any) -> Iterator[pa.RecordBatch]:
        tables = SandboxTables(access_of_worker(self._access))
        until, room = time.monotonic() + self._seconds, self._bytes
        for number, placed in enumerate(msgspec.json.decode(partition.tables, type=list[PlacedTable])):
            if number and (room <= 0 or time.monotonic() >= until):
                yield _without_rows(placed, "")
                continue
            for batch in self._rows(placed, tables):
                room -= batch.nbytes
                yield batch

    def _rows(self, placed: PlacedTable, tables: Tables) -> list[pa.RecordBatch]:
        """Rows of one table. None if it cannot be read now for any reason: the driver notices the gap, the table stays
        due, and the others go on.
        """
        try:
            return list(_batches(tables.extract(placed.due)))
        except (SourceError, MetadataError) as error:
            if isinstance(error, MetadataError) and error.code == MANY_MANIFESTS:
                return [_without_rows(placed, MANY_MANIFESTS)]
            _log.warning("%s: %s", placed.due.name, error)
            reason = str(error)
        except Exception as error:  # noqa: BLE001 - one table's surprise must not end the job of all
            _log.exception("%s could not be extracted", placed.due.name)
            reason = clean(f"unexpected {type(error).__name__}: {error}")
        return [_without_rows(placed, reason or "no reason given")]


def shares(due: Sequence[PlacedTable], tasks: int) -> list[list[PlacedTable]]:
    """Tables distributed over at most `tasks` tasks by the number of their new snapshots, largest first."""
    found: list[list[PlacedTable]] = [[] for _ in range(max(1, min(tasks, len(due))))]
    lightest = [(0, place) for place in range(len(found))]
    for placed in sorted(due, key=lambda p: -len(p.due.snapshot_ids)):
        weight, place = heapq.heappop(lightest)
        found[place].append(placed)
        heapq.heappush(lightest, (weight + len(placed.due.snapshot_ids), place))
    return found


def _batches(facts: list[SnapshotFact]) -> Iterator[pa.RecordBatch]:
    for start in range(0, len(facts), ROWS_PER_BATCH):
        for batch in extracted_table(facts[start : start + ROWS_PER_BATCH]).combine_chunks().to_batches():
            nothing = [pa.nulls(batch.num_rows, SCHEMA.field(name).type) for name in (PLACE, MISSED)]
            yield pa.RecordBatch.from_arrays([*batch.columns, *nothing], schema=SCHEMA)


def _without_rows(placed: PlacedTable, reason: str) -> pa.RecordBatch:
    """A batch that reports a table without rows."""
    row = dict.fromkeys(SCHEMA.names) | {"table_uuid": placed.due.table_uuid, "snapshot_id": 0}
    return pa.RecordBatch.from_pylist([row | {PLACE: placed.place, MISSED: reason}], schema=SCHEMA)


class LimnographSource(DataSource):
    """Batch: rows of `snapshots`, or with option `mode` values of manifests. Stream: ticks."""

    @classmethod
    def name(cls) -> str:
        return NAME

    def schema(self) -> StructType:
        if self.options.get("mode") == "ticks":
            return StructType([StructField("tick", LongType())])
        found: StructType = from_arrow_schema(CACHE_ROWS if self.options.get("mode") == "manifests" else SCHEMA)
        return found

    def reader(self, schema: StructType) -> DataSourceReader:  # noqa: ARG002
        return (
            ManifestsReader(self.options) if self.options.get("mode") == "manifests" else SnapshotsReader(self.options)
        )

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: ARG002, N802 - Spark's name
        return TicksReader(self.options)
