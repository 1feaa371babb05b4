"""A small writer of Delta logs: commits, checkpoints of every form, checksums; and its own idea of what is live."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from limnograph.adapters.delta.log import newest_version
from limnograph.adapters.delta.reader import DeltaReader, SharedCaches
from limnograph.adapters.storage.files import FileStorage
from limnograph.domain.metadata.content import Content, Reading, Want
from limnograph.domain.metadata.table import TableMetadata

Json = dict[str, Any]
VECTOR = pa.struct(
    [
        ("storageType", pa.string()),
        ("pathOrInlineDv", pa.string()),
        ("offset", pa.int32()),
        ("sizeInBytes", pa.int32()),
        ("cardinality", pa.int64()),
    ]
)
ADD = pa.struct(
    [
        ("path", pa.string()),
        ("partitionValues", pa.map_(pa.string(), pa.string())),
        ("size", pa.int64()),
        ("modificationTime", pa.int64()),
        ("dataChange", pa.bool_()),
        ("stats", pa.string()),
        ("stats_parsed", pa.struct([("numRecords", pa.int64())])),
        ("deletionVector", VECTOR),
    ]
)
METADATA = pa.struct(
    [
        ("id", pa.string()),
        ("format", pa.struct([("provider", pa.string()), ("options", pa.map_(pa.string(), pa.string()))])),
        ("schemaString", pa.string()),
        ("partitionColumns", pa.list_(pa.string())),
        ("configuration", pa.map_(pa.string(), pa.string())),
    ]
)
PROTOCOL = pa.struct(
    [
        ("minReaderVersion", pa.int32()),
        ("minWriterVersion", pa.int32()),
        ("readerFeatures", pa.list_(pa.string())),
        ("writerFeatures", pa.list_(pa.string())),
    ]
)
SIDECAR = pa.struct([("path", pa.string()), ("sizeInBytes", pa.int64()), ("modificationTime", pa.int64())])
CHECKPOINT = pa.schema([("add", ADD), ("metaData", METADATA), ("protocol", PROTOCOL), ("sidecar", SIDECAR)])


def field(name: str, kind: Any = "long", **metadata: Any) -> Json:
    return {"name": name, "type": kind, "nullable": True, "metadata": metadata}


def schema(*fields: Json) -> str:
    return json.dumps({"type": "struct", "fields": list(fields)})


def metadata(
    *fields: Json, partitions: tuple[str, ...] = (), uuid: str = "a-delta-table", **configuration: str
) -> Json:
    return {
        "metaData": {
            "id": uuid,
            "format": {"provider": "parquet", "options": {}},
            "schemaString": schema(*(fields or (field("id"),))),
            "partitionColumns": list(partitions),
            "configuration": configuration,
        }
    }


def protocol(reader: int = 1, features: tuple[str, ...] = ()) -> Json:
    found: Json = {"minReaderVersion": reader, "minWriterVersion": 7 if features else 2}
    return {
        "protocol": found | ({key: list(features) for key in ("readerFeatures", "writerFeatures")} if features else {})
    }


def vector(name: str, rows: int, offset: int | None = 1, size: int = 40) -> Json:
    found = {"storageType": "u", "pathOrInlineDv": name, "sizeInBytes": size, "cardinality": rows}
    return found if offset is None else found | {"offset": offset}


def add(path: str, size: int = 100, records: int | None = 10, dv: Json | None = None, **values: str | None) -> Json:
    found: Json = {"path": path, "partitionValues": values, "size": size, "modificationTime": 1, "dataChange": True}
    if records is not None:
        found["stats"] = json.dumps({"numRecords": records, "minValues": {"id": 1}})
    if dv is not None:
        found["deletionVector"] = dv
    return {"add": found}


def remove(path: str, size: int | None = None, dv: Json | None = None, **values: str | None) -> Json:
    found: Json = {"path": path, "deletionTimestamp": 5, "dataChange": True}
    if size is not None:
        found |= {"extendedFileMetadata": True, "size": size, "partitionValues": values}
    if dv is not None:
        found["deletionVector"] = dv
    return {"remove": found}


def info(operation: str, timestamp: int | None = None, **more: Any) -> Json:
    at = {} if timestamp is None else {"timestamp": timestamp}
    return {"commitInfo": {**at, "operation": operation, **more}}


class DeltaLog:
    """A table in a folder. `begin` writes version 0 with protocol and metadata; every further `commit` the next one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = folder / "_delta_log"
        self.log.mkdir(parents=True)
        self.next = 0
        self.shared = SharedCaches()

    def begin(self, *actions: Json, columns: tuple[Json, ...] = (), partitions: tuple[str, ...] = ()) -> int:
        return self.commit(protocol(), metadata(*columns, partitions=partitions), *actions)

    def commit(self, *actions: Json) -> int:
        return self.write(b"".join(json.dumps(action).encode() + b"\n" for action in actions))

    def write(self, content: bytes) -> int:
        version, self.next = self.next, self.next + 1
        self.commit_file(version).write_bytes(content)
        return version

    def commit_file(self, version: int) -> Path:
        return self.log / f"{version:020}.json"

    def drop(self, *versions: int) -> None:
        """Metadata cleanup: commits leave the log."""
        for version in versions:
            self.commit_file(version).unlink()

    def adds(self) -> list[Json]:
        """Adds that are live by the commits in the folder, by literal path and vector, in a plain way of its own."""
        live: dict[Any, Json] = {}
        for version in range(self.next):
            for line in self.commit_file(version).read_text().splitlines():
                for kind, action in json.loads(line).items():
                    if kind in {"add", "remove"}:
                        key = action["path"], json.dumps(action.get("deletionVector"), sort_keys=True)
                        live.pop(key, None)
                        if kind == "add":
                            live[key] = action
        return [{"add": action} for action in live.values()]

    def rows(self, adds: list[Json], *others: Json, parsed_stats: bool = False) -> list[Json]:
        """Rows of a checkpoint from actions."""
        rows: list[Json] = [dict.fromkeys(CHECKPOINT.names) | other for other in others]
        for action in adds:
            found = dict(action["add"])
            found["partitionValues"] = list(found["partitionValues"].items())
            if parsed_stats and "stats" in found:
                found["stats_parsed"] = {"numRecords": json.loads(found.pop("stats"))["numRecords"]}
            rows.append(dict.fromkeys(CHECKPOINT.names) | {"add": found})
        return rows

    def parquet(self, name: str, rows: list[Json]) -> Path:
        path = self.log / name
        path.parent.mkdir(exist_ok=True)
        pq.write_table(pa.Table.from_pylist(rows, schema=CHECKPOINT), path)
        return path

    def newest(self) -> str:
        return newest_version(str(self.folder), FileStorage())

    def reader(self) -> DeltaReader:
        """A reader that remembers nothing of others."""
        return DeltaReader(FileStorage(), SharedCaches())


def state_rows(log: DeltaLog, *, parsed_stats: bool = False) -> list[Json]:
    """A checkpoint of the newest version: `metaData`, `protocol` and live files."""
    newest: Json = {}
    for version in range(log.next):
        for line in log.commit_file(version).read_text().splitlines():
            newest |= {k: v for k, v in json.loads(line).items() if k in {"metaData", "protocol"}}
    table = dict(newest["metaData"])
    table["configuration"] = list(table["configuration"].items())
    table["format"] = {"provider": "parquet", "options": []}
    return log.rows(log.adds(), {"metaData": table}, {"protocol": newest["protocol"]}, parsed_stats=parsed_stats)


def read_all(reader: DeltaReader, table: TableMetadata, want: Want | None = None) -> dict[int, Reading]:
    """Readings of all versions, in commit order."""
    return {s.snapshot_id: reader.read(table, s, want or Want()) for s in table.ordered}


def content(reading: Reading) -> Content:
    assert reading.content is not None
    return reading.content


def told(log: DeltaLog) -> dict[int, Reading]:
    """Everything that a fresh reader says of the log, newest version included."""
    reader = log.reader()
    return read_all(reader, reader.metadata(log.newest()))
