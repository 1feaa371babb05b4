"""A Delta and a Hudi table of the laboratory, with real Parquet files, written in the layouts of their specifications:
Delta's protocol 1/2, and Hudi's timeline of table version 6. Neither engine is needed.
"""

from __future__ import annotations

import json
import time
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

DEVICES, PARCELS = "lab.devices", "lab.parcels"
"""Names in catalog `files`."""
ROWS = 500
_SCHEMA = {
    "type": "struct",
    "fields": [
        {"name": name, "type": kind, "nullable": True, "metadata": {}}
        for name, kind in (("id", "long"), ("region", "string"), ("weight", "double"))
    ],
}
_AVRO = {
    "type": "record",
    "name": "parcels_record",
    "fields": [
        {"name": name, "type": ["null", kind], "default": None}
        for name, kind in (("id", "long"), ("region", "string"), ("weight", "double"))
    ],
}

_PROPERTIES = {
    "hoodie.table.name": "parcels",
    "hoodie.table.type": "COPY_ON_WRITE",
    "hoodie.table.version": "6",
    "hoodie.timeline.layout.version": "1",
    "hoodie.table.create.schema": json.dumps(_AVRO).replace(":", "\\:"),
}


def append_to_delta(folder: Path) -> None:
    """One commit with one file. The first one creates the table. For one writer at a time."""
    log = folder / "_delta_log"
    log.mkdir(parents=True, exist_ok=True)
    version, now = len(list(log.glob("*.json"))), time.time_ns() // 1_000_000
    path = f"part-{version:05d}-{uuid.uuid4()}.parquet"
    size = _write(folder / path, version)
    stats = json.dumps({"numRecords": ROWS, "nullCount": {"id": 0, "region": 0, "weight": 0}})
    info = {"timestamp": now, "operation": "WRITE", "operationParameters": {"mode": "Append"}, "engineInfo": "demo"}
    added = {"path": path, "partitionValues": {}, "size": size, "modificationTime": now, "dataChange": True}
    actions: list[dict[str, Any]] = [{"commitInfo": info}, {"add": {**added, "stats": stats}}]
    if version == 0:
        described = {
            "id": str(uuid.uuid4()),
            "format": {"provider": "parquet", "options": {}},
            "schemaString": json.dumps(_SCHEMA),
            "partitionColumns": [],
            "configuration": {},
            "createdTime": now,
        }
        actions[:0] = [{"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}, {"metaData": described}]
    _put(log / f"{version:020d}.json", "".join(f"{json.dumps(action)}\n" for action in actions))


def insert_into_hudi(folder: Path) -> None:
    """One commit with one file group. The first one creates the table: copy-on-write, without partitions. For one
    writer at a time.
    """
    timeline = folder / ".hoodie"
    timeline.mkdir(parents=True, exist_ok=True)
    if not (timeline / "hoodie.properties").exists():
        _put(timeline / "hoodie.properties", "".join(f"{key}={value}\n" for key, value in _PROPERTIES.items()))
        (folder / ".hoodie_partition_metadata").write_text("commitTime=0\npartitionDepth=0\n")
    now = datetime.now(UTC)
    instant, group = f"{now:%Y%m%d%H%M%S}{now.microsecond // 1000:03}", f"{uuid.uuid4()}-0"
    for state in ("commit.requested", "inflight"):
        (timeline / f"{instant}.{state}").touch()
    path = f"{group}_0-0-1_{instant}.parquet"
    size = _write(folder / path, now.microsecond)
    stat = {"fileId": group, "path": path, "prevCommit": "null", "partitionPath": "", "numDeletes": 0}
    stat |= {"numWrites": ROWS, "numInserts": ROWS, "numUpdateWrites": 0}
    stat |= {"fileSizeInBytes": size, "totalWriteBytes": size}
    commit = {
        "partitionToWriteStats": {"": [stat]},
        "compacted": False,
        "extraMetadata": {"schema": json.dumps(_AVRO)},
        "operationType": "INSERT",
    }
    _put(timeline / f"{instant}.commit", json.dumps(commit, indent=1))


def create(folder: Path) -> dict[str, tuple[str, Path]]:
    """Both tables with a first commit, if they are missing. Format and folder by name in catalog `files`."""
    devices, parcels = folder / "devices", folder / "parcels"
    if not (devices / "_delta_log").exists():
        append_to_delta(devices)
    if not (parcels / ".hoodie").exists():
        insert_into_hudi(parcels)
    return {DEVICES: ("delta", devices), PARCELS: ("hudi", parcels)}


def grow(folder: Path) -> None:
    """One more commit to each."""
    append_to_delta(folder / "devices")
    insert_into_hudi(folder / "parcels")


def _write(file: Path, first: int) -> int:
    """A data file of ROWS rows. Returns its size in bytes."""
    import pyarrow.parquet as pq

    pq.write_table(_rows(first), file)
    return file.stat().st_size


def _rows(first: int) -> pa.Table:
    import pyarrow as pa

    numbers = range(first * ROWS, (first + 1) * ROWS)
    columns = {
        "id": list(numbers),
        "region": [("eu", "us")[n % 2] for n in numbers],
        "weight": [n % 90 / 10 for n in numbers],
    }
    return pa.table(columns)


def _put(file: Path, text: str) -> None:
    """Write a file whole or not at all: a pass may read the folder at any time."""
    scratch = file.with_name(f".{file.name}.tmp")
    scratch.write_text(text)
    scratch.rename(file)
