"""Reads many new manifests of one table on the cluster: each task reads a group, the driver's cache collects them all.

The driver then builds the table's rows from its cache alone: executors share no disk, and only sums remain. Used only
for tables beyond MOST_MANIFESTS; a lost group is read again, or the table stays due.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.datasource import DataSourceReader, InputPartition

from limnograph.adapters.iceberg.sums.cache_file import learn
from limnograph.adapters.meta.extraction_rows import extracted_table
from limnograph.adapters.sandbox.messages import StorageAccess
from limnograph.adapters.sandbox.tables import SandboxTables
from limnograph.domain import secrecy
from limnograph.domain.errors import MetadataError, SourceError
from limnograph.domain.metadata.due import DueTable
from limnograph.domain.metadata.manifests import CacheRow, ManifestWork, grouped

_log = logging.getLogger("limnograph.manifests")
MOST_MANIFESTS = 512
"""Maximum new manifests of one snapshot for a single reader: takes seconds, even over a slow store."""
GROUPS_A_JOB = 64
"""Groups whose values the driver receives together: some ten megabytes of sums."""
CACHE_ROWS = pa.schema([("kind", pa.string()), ("key", pa.binary()), ("value", pa.binary())])


def access_of_worker(told: str) -> StorageAccess:
    """Access to storage in a worker process; also masks its secrets in that process's logs."""
    access = msgspec.json.decode(told, type=StorageAccess)
    for properties in (*access.catalogs.values(), *access.stores.values()):
        secrecy.keep(secrecy.secrets_of(properties))
    return access


class GroupShare(InputPartition):
    """The group of one task, as JSON."""

    def __init__(self, group: str) -> None:
        self.group = group


class ManifestsReader(DataSourceReader):
    """Cache values for the groups of option `groups` (JSON) of table `due`, one task per group."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._access, self._due, self._groups = options["access"], options["due"], options["groups"]

    def partitions(self) -> Sequence[GroupShare]:
        groups = msgspec.json.decode(self._groups, type=list[ManifestWork])
        return [GroupShare(msgspec.json.encode(group).decode()) for group in groups]

    def read(self, partition: Any) -> Iterator[pa.RecordBatch]:
        tables = SandboxTables(access_of_worker(self._access))
        due = msgspec.json.decode(self._due, type=DueTable)
        group = msgspec.json.decode(partition.group, type=ManifestWork)
        try:
            rows = tables.group(due, group)
        except (SourceError, MetadataError) as error:
            _log.warning("%s: a group of %d manifests: %s", due.name, len(group.manifests), error)
            rows = []
        except Exception:  # noqa: BLE001 - one group's surprise must not end the job of all
            _log.exception("%s: a group of %d manifests", due.name, len(group.manifests))
            rows = []
        columns = [[getattr(row, name) for row in rows] for name in CACHE_ROWS.names]
        yield pa.RecordBatch.from_arrays(
            [pa.array(values, field.type) for values, field in zip(columns, CACHE_ROWS, strict=True)],
            schema=CACHE_ROWS,
        )


class SharedTables:
    """Rows of tables with many new manifests. `frame` creates a data frame of the DataSource with the given options."""

    def __init__(self, access: StorageAccess, frame: Callable[[Mapping[str, str]], DataFrame]) -> None:
        self._access, self._frame = access, frame
        self._tables = SandboxTables(msgspec.structs.replace(access, most_manifests=0))

    def rows(self, due: DueTable) -> pa.Table:
        """Rows of one table, as EXTRACTED. Raises MetadataError, SourceError."""
        work = self._tables.wanted(due)
        groups = grouped(work)
        for first in range(0, len(groups), GROUPS_A_JOB):
            found = self._read(due, groups[first : first + GROUPS_A_JOB])
            learn(self._access.cache_dir, work.cache, (CacheRow(**row) for row in found.to_pylist()))
        return extracted_table(self._tables.extract(due))

    def _read(self, due: DueTable, groups: Sequence[ManifestWork]) -> pa.Table:
        options = {
            "mode": "manifests",
            "access": msgspec.json.encode(self._access).decode(),
            "due": msgspec.json.encode(due).decode(),
            "groups": msgspec.json.encode(list(groups)).decode(),
        }
        return self._frame(options).toArrow().cast(CACHE_ROWS)
