"""A real Iceberg table on local disk, changes to it, and a job's scan of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.types import DoubleType, LongType, NestedField, StringType

from explain.cases import EPOCH, MINUTE
from explain.lab_deletes import delete_rows
from lakes import facts

SCHEMA = Schema(
    NestedField(1, "id", LongType()),
    NestedField(2, "customer", LongType()),
    NestedField(3, "amount", DoubleType()),
)
BASE_FILES, BASE_ROWS, APPEND_ROWS = 16, 20_000, 1_000
WIDE_COLUMNS = 60


class LabTable:
    """One table. Records each commit with the instant of the lab's clock."""

    def __init__(
        self,
        catalog: SqlCatalog,
        folder: Path,
        name: str,
        rng: np.random.Generator,
        *,
        files: int = BASE_FILES,
        rows: int = BASE_ROWS,
    ) -> None:
        self.name, self._catalog, self._folder, self._rng = name, catalog, folder, rng
        self._folder.mkdir(parents=True)
        self.committed: dict[int, float] = {}
        self.schema_of: dict[int, int] = {}
        self.spec_of: dict[int, int] = {}
        catalog.create_table(name, SCHEMA, properties={"commit.manifest-merge.enabled": "false"})
        self._files(files, rows)

    def load(self) -> Table:
        """The table's current state, as a new reader loads it."""
        return self._catalog.load_table(self.name)

    def scan(self) -> float:
        """The job's work on this table: read all columns and rows, as a newly started reader."""
        columns = self.load().scan().to_arrow()
        return float(pc.sum(columns["amount"]).as_py() or 0.0)

    def _rows(self, count: int, *, one_customer: bool = False) -> pa.Table:
        customers = 1 if one_customer else 100_000
        return pa.table(
            {
                "id": self._rng.integers(0, 1 << 40, count),
                "customer": self._rng.integers(0, customers, count),
                "amount": self._rng.uniform(0, 500, count),
            }
        )

    def note(self, minute: float) -> list[int]:
        """Assign the lab's instant `minute` to all new commits; returns their ids."""
        table = self.load()
        new = [each.snapshot_id for each in table.snapshots() if each.snapshot_id not in self.committed]
        for place, snapshot in enumerate(new):
            self.committed[snapshot] = minute + place * 0.003
            self.schema_of[snapshot] = table.metadata.current_schema_id
            self.spec_of[snapshot] = table.metadata.default_spec_id
        return new

    def _files(self, count: int, rows: int) -> None:
        """One commit that adds `count` files of `rows` rows."""
        table, paths = self.load(), []
        partitioned = not table.spec().is_unpartitioned()
        for index in range(count):
            path = self._folder / f"data-{len(self.committed)}-{index}-{self._rng.integers(1 << 40)}.parquet"
            pq.write_table(self._rows(rows, one_customer=partitioned), path)
            paths.append(f"file://{path}")
        table.add_files(paths, snapshot_properties={"app-id": "ingest"}, check_duplicate_files=False)

    def append(self) -> None:
        """An append of normal size."""
        self._files(int(self._rng.integers(1, 3)), APPEND_ROWS)

    def set_property(self) -> None:
        """A change that creates no snapshot."""
        with self.load().transaction() as change:
            change.set_properties({"owner": f"team-{self._rng.integers(1000)}"})

    def small_files(self, count: int) -> None:
        """The rows of one append, in `count` files."""
        self._files(count, max(1, APPEND_ROWS // count))

    def delete_files(self, count: int) -> None:
        """`count` position-delete files in one commit."""
        delete_rows(self.load(), self._folder, count, {"app-id": "erasure"})

    def bad_partition_spec(self, count: int) -> None:
        """Partition by customer, then append the usual rows: one file for each of `count` customers."""
        with self.load().update_spec() as spec:
            spec.add_identity("customer")
        rows = self._rows(APPEND_ROWS)
        rows = rows.set_column(1, "customer", pa.array(np.arange(APPEND_ROWS) % count))
        self.load().append(rows, snapshot_properties={"app-id": "ingest"})

    def widen(self) -> None:
        """Add sixty text columns, and one batch that fills them."""
        with self.load().update_schema() as schema:
            for column in range(WIDE_COLUMNS):
                schema.add_column(f"attribute_{column}", StringType())
        rows = self._rows(BASE_ROWS)
        for column in range(WIDE_COLUMNS):
            texts = pa.array([f"{column}-{n % 97}" for n in range(BASE_ROWS)])
            rows = rows.append_column(f"attribute_{column}", texts)
        self.load().append(rows, snapshot_properties={"app-id": "ingest"})

    def flood(self, count: int) -> None:
        """`count` commits of one tiny file within a minute, each with a separate manifest."""
        for _ in range(count):
            self._files(1, 1)

    def compact(self) -> None:
        """All rows in one file."""
        self.load().overwrite(self.load().scan().to_arrow(), snapshot_properties={"app-id": "compaction"})

    def expire(self) -> None:
        """Expire all but the newest snapshot; this creates no snapshot."""
        table = self.load()
        head = table.current_snapshot()
        old = [each.snapshot_id for each in table.snapshots() if head and each.snapshot_id != head.snapshot_id]
        table.maintenance.expire_snapshots().by_ids(old).commit()

    def commits(self) -> list[dict[str, Any]]:
        """Commits in the case format at the lab's instants, extracted from disk by the product."""
        rows: list[dict[str, Any]] = []
        before = (0, 0)
        for row in sorted(facts(self.load().metadata_location), key=lambda fact: self.committed[fact.snapshot_id]):
            shape = (self.schema_of[row.snapshot_id], self.spec_of[row.snapshot_id])
            rows.append(
                {
                    "id": str(row.snapshot_id),
                    "table": f"lake.{self.name}",
                    "committed_at": EPOCH + round(self.committed[row.snapshot_id] * MINUTE),
                    "operation": row.operation,
                    "app_id": row.app_id,
                    "added_data_files": row.added_data_files,
                    "added_bytes": row.added_bytes,
                    "removed_data_files": row.removed_data_files,
                    "added_delete_files": row.added_delete_files,
                    "added_records": row.added_records,
                    "manifests": row.manifests,
                    "changed_partitions": row.changed_partitions,
                    "schema_changed": shape[0] != before[0],
                    "spec_changed": shape[1] != before[1],
                }
            )
            before = shape
        return rows
