"""Python DataSource `limnograph`: facts of observed tables, one task per share of the due tables, Arrow batches out.

The stream side is in `ticks.py`.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import LongType, StructField, StructType

from limnograph.adapters.iceberg.schema import arrow_schema, arrow_table
from limnograph.adapters.sandbox.messages import Access
from limnograph.adapters.sandbox.tables import SandboxTables
from limnograph.adapters.spark.ticks import TicksReader
from limnograph.domain.due import DueTable
from limnograph.domain.errors import MetadataError, SourceError
from limnograph.domain.facts import SNAPSHOTS, SnapshotFact
from limnograph.ports.tables import Tables

_log = logging.getLogger("limnograph.source")
NAME = "limnograph"
ROWS_PER_BATCH = 200


class DueShare(InputPartition):
    """Tables of one task, as JSON."""

    def __init__(self, tables: str) -> None:
        self.tables = tables


class SnapshotsReader(DataSourceReader):
    """Rows of `snapshots` for option `due` (JSON list of DueTable), with option `access` (JSON). Each worker process
    has a killable child of its own, which stays warm from task to task.
    """

    def __init__(self, options: Mapping[str, str]) -> None:
        self._access = options["access"]
        self._due = msgspec.json.decode(options["due"], type=list[DueTable])
        self._tasks = int(options.get("tasks", "2"))

    def partitions(self) -> Sequence[DueShare]:
        return [DueShare(msgspec.json.encode(share).decode()) for share in shares(self._due, self._tasks)]

    def read(self, partition: Any) -> Iterator[pa.RecordBatch]:
        tables = SandboxTables(msgspec.json.decode(self._access, type=Access))
        for due in msgspec.json.decode(partition.tables, type=list[DueTable]):
            yield from self._rows(due, tables)

    def _rows(self, due: DueTable, tables: Tables) -> list[pa.RecordBatch]:
        """Rows of one table. None of them when it cannot be read now, for whatever reason: the driver misses them,
        the table stays due, and the others go on.
        """
        try:
            return list(_batches(tables.extract(due)))
        except (SourceError, MetadataError) as error:
            _log.warning("%s: %s", due.name, error)
        except Exception:  # noqa: BLE001 - one table's surprise must not end the job of all
            _log.exception("%s could not be extracted", due.name)
        return []


def shares(due: Sequence[DueTable], tasks: int) -> list[list[DueTable]]:
    """Tables spread over at most `tasks` tasks by the number of their new snapshots, largest first."""
    found: list[list[DueTable]] = [[] for _ in range(max(1, min(tasks, len(due))))]
    for table in sorted(due, key=lambda t: -len(t.snapshot_ids)):
        min(found, key=lambda share: sum(len(t.snapshot_ids) for t in share)).append(table)
    return found


def _batches(facts: list[SnapshotFact]) -> Iterator[pa.RecordBatch]:
    for start in range(0, len(facts), ROWS_PER_BATCH):
        yield from arrow_table(SNAPSHOTS, facts[start : start + ROWS_PER_BATCH]).combine_chunks().to_batches()


class LimnographSource(DataSource):
    """Batch: rows of `snapshots`. Stream: ticks."""

    @classmethod
    def name(cls) -> str:
        return NAME

    def schema(self) -> StructType:
        if self.options.get("mode") == "ticks":
            return StructType([StructField("tick", LongType())])
        found: StructType = from_arrow_schema(arrow_schema(SNAPSHOTS))
        return found

    def reader(self, schema: StructType) -> DataSourceReader:  # noqa: ARG002
        return SnapshotsReader(self.options)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: ARG002, N802 - Spark's name
        return TicksReader(self.options)
