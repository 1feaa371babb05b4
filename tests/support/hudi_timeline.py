"""A small writer of Hudi tables for tests: timelines of both layouts, shaped like those that Hudi's own writer leaves.

Data files are as long as they say and hold nothing: no reader of metadata opens them.
"""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq

_NULLABLE_LONG = ("numWrites", "numDeletes", "numUpdateWrites", "numInserts", "fileSizeInBytes", "totalWriteBytes")
_STAT = {
    "type": "record",
    "name": "HoodieWriteStat",
    "fields": [
        *({"name": n, "type": ["null", "string"], "default": None} for n in ("fileId", "path", "prevCommit")),
        *({"name": n, "type": ["null", "long"], "default": None} for n in _NULLABLE_LONG),
        {"name": "partitionPath", "type": ["null", "string"], "default": None},
    ],
}
_IDS = {"type": "map", "values": {"type": "array", "items": "string"}}
COMMIT_SCHEMA: dict[str, Any] = {
    "type": "record",
    "name": "HoodieCommitMetadata",
    "namespace": "org.apache.hudi.avro.model",
    "fields": [
        {
            "name": "partitionToWriteStats",
            "type": ["null", {"type": "map", "values": {"type": "array", "items": _STAT}}],
        },
        {"name": "compacted", "type": ["null", "boolean"], "default": None},
        {"name": "extraMetadata", "type": ["null", {"type": "map", "values": "string"}], "default": None},
        {"name": "version", "type": ["int", "null"], "default": 1},
        {"name": "operationType", "type": ["null", "string"], "default": None},
        {"name": "partitionToReplaceFileIds", "type": ["null", _IDS], "default": None},
    ],
}
_SIZES = ["null", {"type": "map", "values": "long"}]
ROLLBACK_SCHEMA: dict[str, Any] = {
    "type": "record",
    "name": "HoodieRollbackMetadata",
    "fields": [
        {"name": "commitsRollback", "type": {"type": "array", "items": "string"}},
        {
            "name": "partitionMetadata",
            "type": {
                "type": "map",
                "values": {
                    "type": "record",
                    "name": "HoodieRollbackPartitionMetadata",
                    "fields": [
                        {"name": "partitionPath", "type": "string"},
                        {"name": "rollbackLogFiles", "type": _SIZES},
                        {"name": "logFilesFromFailedCommit", "type": _SIZES},
                    ],
                },
            },
        },
    ],
}
ARCHIVE_SCHEMA: dict[str, Any] = {
    "type": "record",
    "name": "HoodieArchivedMetaEntry",
    "fields": [
        {"name": "hoodieCommitMetadata", "type": ["null", COMMIT_SCHEMA], "default": None},
        {"name": "hoodieRollbackMetadata", "type": ["null", ROLLBACK_SCHEMA], "default": None},
        {"name": "commitTime", "type": ["null", "string"], "default": None},
        {"name": "actionType", "type": ["null", "string"], "default": None},
        {"name": "actionState", "type": ["null", "string"], "default": None},
    ],
}
RESTORE_SCHEMA: dict[str, Any] = {
    "type": "record",
    "name": "HoodieRestoreMetadata",
    "fields": [
        {"name": "instantsToRollback", "type": {"type": "array", "items": "string"}},
        {
            "name": "hoodieRestoreMetadata",
            "type": {"type": "map", "values": {"type": "array", "items": ["null", ROLLBACK_SCHEMA]}},
        },
    ],
}
AVRO_SCHEMA = json.dumps({"type": "record", "name": "r", "fields": [{"name": "id", "type": ["null", "long"]}]})


class Stat(NamedTuple):
    """A file that a commit writes. `log`: a log file; `of`: instant in its name, where it is not the commit's own;
    `offset`: bytes that it had before.
    """

    group: str
    size: int
    rows: int | None = None
    partition: str = "region=eu"
    prev: str | None = None
    log: bool = False
    of: str | None = None
    version: int = 1
    suffix: str = ""
    updates: int = 0
    on_disk: bool = True
    offset: int | None = None


def avro(schema: dict[str, Any], record: dict[str, Any]) -> bytes:
    """One record as an Avro file."""
    content = io.BytesIO()
    fastavro.writer(content, fastavro.parse_schema(json.loads(json.dumps(schema))), [record])
    return content.getvalue()


class HudiFolder:
    """A table of one version: below 8 with layout 1 and JSON, else with layout 2 and Avro."""

    def __init__(self, root: Path, version: int = 9, *, mor: bool = False, **properties: str) -> None:
        self.root, self.version = root, version
        self.layout = 2 if version >= 8 else 1
        self.timeline = root / ".hoodie" / "timeline" if self.layout == 2 else root / ".hoodie"
        self.timeline.mkdir(parents=True)
        self.clock = datetime(2026, 11, 21, 3, 0, tzinfo=UTC)
        self.properties = {
            "hoodie.table.name": root.name,
            "hoodie.table.type": "MERGE_ON_READ" if mor else "COPY_ON_WRITE",
            "hoodie.table.version": str(version),
            "hoodie.timeline.layout.version": str(self.layout),
            "hoodie.table.partition.fields": "region",
            **properties,
        }
        self.write_properties()

    @property
    def location(self) -> str:
        return f"file://{self.root}"

    def write_properties(self) -> None:
        lines = [f"{key}={value.replace(':', chr(92) + ':')}" for key, value in self.properties.items()]
        text = "\n".join(["#Updated at 2026-11-21T03:00:00Z", "#Sat Nov 21 03:00:00 UTC 2026", *lines])
        (self.root / ".hoodie" / "hoodie.properties").write_text(text + "\n")

    def tick(self, seconds: float = 60) -> str:
        """The next instant."""
        self.clock += timedelta(seconds=seconds)
        return self.clock.strftime("%Y%m%d%H%M%S") + f"{self.clock.microsecond // 1000:03}"

    def name(self, instant: str, stat: Stat) -> str:
        """File name of a stat of the commit at `instant`."""
        if not stat.log:
            return f"{stat.group}-0_0-1-{stat.version}_{instant}.parquet"
        return f".{stat.group}-0_{stat.of or instant}.log.{stat.version}_0-2-{stat.version}{stat.suffix}"

    def place(self, partition: str, name: str, size: int) -> None:
        """A data file of that length."""
        folder = self.root / partition
        folder.mkdir(parents=True, exist_ok=True)
        (folder / ".hoodie_partition_metadata").touch()
        with (folder / name).open("wb") as stream:
            stream.truncate(size)

    def body(
        self,
        instant: str,
        stats: Iterable[Stat],
        operation: str | None,
        replaced: Iterable[tuple[str, str]],
        **extra: str,
    ) -> dict[str, Any]:
        written: dict[str, list[dict[str, Any]]] = {}
        for stat in stats:
            name = self.name(instant, stat)
            if stat.on_disk:
                self.place(stat.partition, name, (stat.offset or 0) + stat.size)
            written.setdefault(stat.partition, []).append(
                {
                    "fileId": f"{stat.group}-0",
                    "path": f"{stat.partition}/{name}" if stat.partition else name,
                    "prevCommit": stat.prev or ("null" if not stat.log or self.layout == 1 else instant),
                    "numWrites": stat.rows,
                    "numDeletes": 0,
                    "numUpdateWrites": stat.updates,
                    "numInserts": 0,
                    "fileSizeInBytes": stat.size,
                    "totalWriteBytes": stat.size,
                    "partitionPath": stat.partition,
                    **({} if stat.offset is None else {"logOffset": stat.offset}),
                }
            )
        gone: dict[str, list[str]] = {}
        for partition, group in replaced:
            gone.setdefault(partition, []).append(f"{group}-0")
        return {
            "partitionToWriteStats": written,
            "compacted": False,
            "extraMetadata": {"schema": AVRO_SCHEMA, **extra},
            "operationType": operation,
            "partitionToReplaceFileIds": gone,
        }

    def encoded(self, body: dict[str, Any]) -> bytes:
        return avro(COMMIT_SCHEMA, body) if self.layout == 2 else json.dumps(body, indent=2).encode()

    def request(self, instant: str, action: str = "commit") -> None:
        """A write that was begun."""
        (self.timeline / f"{instant}.{action}.requested").touch()
        (self.timeline / f"{instant}.{action}.inflight").touch()

    def complete(self, instant: str, action: str, content: bytes, completed: str | None = None) -> str:
        """A completed instant; returns its file's location."""
        end = completed or self.tick(1)
        name = f"{instant}_{end}.{action}" if self.layout == 2 else f"{instant}.{action}"
        (self.timeline / name).write_bytes(content)
        return f"{self.timeline}/{name}"

    def commit(
        self,
        *stats: Stat,
        action: str = "commit",
        operation: str | None = "UPSERT",
        replaced: Iterable[tuple[str, str]] = (),
        instant: str | None = None,
        completed: str | None = None,
        **extra: str,
    ) -> str:
        """A write from request to completion; returns its instant."""
        at = instant or self.tick()
        self.request(at, action)
        self.complete(at, action, self.encoded(self.body(at, stats, operation, replaced, **extra)), completed)
        return at

    def rollback(self, undone: str, left: Iterable[tuple[str, str, int]] = ()) -> str:
        """A completed rollback: what it undoes leaves the timeline. `left`: `(partition, log file, bytes)`."""
        for file in self.timeline.glob(f"{undone}*"):
            file.unlink()
        at = self.tick()
        self.complete(at, "rollback", avro(ROLLBACK_SCHEMA, self._undone(undone, left)))
        return at

    def restore(self, savepoint: str, left: Iterable[tuple[str, str, int]] = ()) -> str:
        """A completed restore to a savepoint: every later instant leaves the timeline."""
        later = {file.name[:17] for file in self.timeline.glob("2*")}
        undone = sorted(instant for instant in later if instant > savepoint)
        for instant in undone:
            for file in self.timeline.glob(f"{instant}*"):
                file.unlink()
        at = self.tick()
        bodies = {instant: [self._undone(instant, left if instant == undone[-1] else ())] for instant in undone}
        record = {"instantsToRollback": undone, "hoodieRestoreMetadata": bodies}
        self.complete(at, "restore", avro(RESTORE_SCHEMA, record))
        return at

    def _undone(self, undone: str, left: Iterable[tuple[str, str, int]]) -> dict[str, Any]:
        partitions: dict[str, Any] = {}
        for partition, name, size in left:
            item = {"partitionPath": partition, "rollbackLogFiles": {}, "logFilesFromFailedCommit": {}}
            partitions.setdefault(partition, item)["rollbackLogFiles"][f"{self.root}/{partition}/{name}"] = size
            self.place(partition, name, size)
        return {"commitsRollback": [undone], "partitionMetadata": partitions}

    def archive(self, count: int) -> None:
        """Move the oldest completed commits, in layout 1 rollbacks too, to the archive, as Hudi's archiver does."""
        actions = {"commit", "deltacommit", "replacecommit", *(["rollback"] if self.layout == 1 else [])}
        done = (file for file in self.timeline.glob("2*") if file.name.partition(".")[2] in actions)
        oldest = sorted(file for file in done if self.layout == 1 or "_" in file.name)[:count]
        rows = [_archived(file) for file in oldest]
        for file, row in zip(oldest, rows, strict=True):
            for other in self.timeline.glob(f"{row['instantTime']}*"):
                other.unlink(missing_ok=True)
            file.unlink(missing_ok=True)
        if self.layout == 2:
            self._history(rows)
            return
        folder = self.root / ".hoodie" / "archived"
        folder.mkdir(exist_ok=True)
        number = len(list(folder.iterdir())) + 1
        (folder / f".commits_.archive.{number}_1-0-1").write_bytes(archive_log(rows))

    def _history(self, rows: list[dict[str, Any]]) -> None:
        folder = self.timeline / "history"
        folder.mkdir(exist_ok=True)
        version = len(list(folder.glob("manifest_*"))) + 1
        name = f"{rows[0]['instantTime']}_{rows[-1]['instantTime']}_0.parquet"
        pq.write_table(pa.Table.from_pylist(rows), folder / name)
        files = [{"fileName": file.name, "fileLen": file.stat().st_size} for file in sorted(folder.glob("*.parquet"))]
        (folder / f"manifest_{version}").write_text(json.dumps({"files": files}))
        (folder / "_version_").write_text(str(version))


def archive_log(rows: list[dict[str, Any]]) -> bytes:
    """One Avro data block of archived instants in Hudi's log format."""
    schema = json.dumps(ARCHIVE_SCHEMA).encode()
    parsed = fastavro.parse_schema(json.loads(schema))
    body = struct.pack(">ii", 3, len(rows))
    for row in rows:
        record = io.BytesIO()
        entry = {"commitTime": row["instantTime"], "actionType": row["action"], "actionState": "COMPLETED"}
        if row["action"] == "rollback":
            (undone,) = fastavro.reader(io.BytesIO(row["metadata"]))
            entry["hoodieRollbackMetadata"] = undone
        else:
            entry["hoodieCommitMetadata"] = json.loads(row["metadata"])
        fastavro.schemaless_writer(record, parsed, entry)
        body += struct.pack(">i", record.tell()) + record.getvalue()
    header = struct.pack(">i", 2) + struct.pack(">ii", 1, 1) + b"0" + struct.pack(">ii", 2, len(schema)) + schema
    block = struct.pack(">ii", 1, 3) + header + struct.pack(">q", len(body)) + body + struct.pack(">i", 0)
    return b"#HUDI#" + struct.pack(">q", len(block) + 8) + block + struct.pack(">q", len(block) + 14)


def _archived(file: Path) -> dict[str, Any]:
    times, _, action = file.name.partition(".")
    requested, _, completed = times.partition("_")
    return {
        "instantTime": requested,
        "completionTime": completed or None,
        "action": action,
        "metadata": file.read_bytes(),
        "plan": b"",
        "version": 1,
    }
