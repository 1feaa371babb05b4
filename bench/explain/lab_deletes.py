"""Writes position deletes through PyIceberg, which can only read them: a real manifest of delete files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat, ManifestContent, ManifestWriter, ManifestWriterV2
from pyiceberg.partitioning import PartitionSpec
from pyiceberg.table import Table
from pyiceberg.table.snapshots import Operation
from pyiceberg.table.update.snapshot import _FastAppendFiles
from pyiceberg.typedef import Record

SCHEMA = pa.schema(
    [
        pa.field("file_path", pa.string(), nullable=False, metadata={"PARQUET:field_id": "2147483546"}),
        pa.field("pos", pa.int64(), nullable=False, metadata={"PARQUET:field_id": "2147483545"}),
    ]
)


class _DeleteManifest(ManifestWriterV2):
    def content(self) -> ManifestContent:
        return ManifestContent.DELETES

    @property
    def _meta(self) -> dict[str, str]:
        return {**super()._meta, "content": "deletes"}


class _RowDelta(_FastAppendFiles):
    """An append whose only new manifest contains delete files."""

    def new_manifest_writer(self, spec: PartitionSpec) -> ManifestWriter:
        return _DeleteManifest(spec, self.schema(), self.new_manifest_output(), self._snapshot_id, self._compression)


def delete_rows(table: Table, folder: Path, files: int, properties: dict[str, str]) -> None:
    """One commit of `files` delete files, each removing the same five rows of every data file again."""
    targets = [task.file.file_path for task in table.scan().plan_files()]
    rows = pa.table(
        {"file_path": [path for path in targets for _ in range(5)], "pos": list(range(5)) * len(targets)}, schema=SCHEMA
    )
    with table.transaction() as transaction:
        update = _RowDelta(Operation.DELETE, transaction, table.io, snapshot_properties=properties)
        with update:
            for index in range(files):
                path = folder / f"deletes-{len(table.snapshots())}-{index}.parquet"
                pq.write_table(rows, path)
                update.append_data_file(_delete_file(path, rows.num_rows))


def _delete_file(path: Path, records: int) -> DataFile:
    unknown: dict[str, Any] = dict.fromkeys(("key_metadata", "split_offsets", "equality_ids", "sort_order_id"))
    return DataFile.from_args(
        content=DataFileContent.POSITION_DELETES,
        file_path=f"file://{path}",
        file_format=FileFormat.PARQUET,
        partition=Record(),
        record_count=records,
        file_size_in_bytes=path.stat().st_size,
        column_sizes={},
        value_counts={},
        null_value_counts={},
        nan_value_counts={},
        lower_bounds={},
        upper_bounds={},
        spec_id=0,
        **unknown,
    )
