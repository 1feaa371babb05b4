"""Ages a meta table in minutes: commits of real files, with metadata written directly, and a clock that runs ahead.

PyIceberg copies all metadata some twenty times per commit, so ten thousand commits would take an hour. Here a commit is
one data file, one manifest, one manifest list and one metadata file, exchanged by compare-and-set, the same as any
engine leaves them. Snapshots carry real time, facts the time that runs ahead; `Warp` translates for housekeeping.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
import time
import uuid
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

    from lakes import Lake
    from limnograph.domain.facts.meta_tables import MetaTable

MINUTE = 60_000_000
LOG_LENGTH = 20
"""Old metadata files in the log, the same as in `table_properties`."""
TOTALS = {"added-data-files": "total-data-files", "added-records": "total-records"}


class Warp:
    """A clock (port Clock) that runs ahead, with a record of its times at real instants."""

    def __init__(self, start: int) -> None:
        self.micros = start
        self._real: list[int] = []
        self._shown: list[int] = []

    def now(self) -> int:
        return self.micros

    def tick(self, micros: int) -> None:
        """Advance the clock: later events happen at the new time."""
        self.micros += micros
        self._real.append(time.time_ns() // 1_000_000 * 1000)
        self._shown.append(self.micros)

    def shown(self, real: int) -> int:
        """Time of the clock at a real instant (microseconds)."""
        place = bisect_right(self._real, real) - 1
        return self._shown[max(place, 0)]

    def real(self, shown: int) -> int:
        """The first real instant at which the clock had reached a time."""
        place = bisect_left(self._shown, shown)
        return self._real[min(place, len(self._real) - 1)]


class Aged:
    """One table of a lake whose catalog is SQLite. `keep`: number of snapshots in its metadata; 0: all."""

    def __init__(self, lake: Lake, identifier: str, shape: MetaTable | None = None, keep: int = 0) -> None:
        from limnograph.domain.facts.meta_tables import SNAPSHOTS

        self._shape, self._keep = shape or SNAPSHOTS, keep
        self._where = identifier.split(".")
        self._pointers = sqlite3.connect(lake.folder / "catalog.db")
        loaded = lake.load(identifier)
        self._io, self._schema, self._spec = loaded.io, loaded.schema(), loaded.spec()
        self._folder = _path(loaded.location())
        self._loaded = loaded

    def commit(self, fact_tables: Sequence[pa.Table], *, repeat: int = 1, whole: bool = False) -> None:
        """Append one file per Arrow table. `repeat`: number of snapshots of it in the metadata. `whole`: the files
        replace all existing ones.
        """
        pointer, metadata = self._read()
        for _ in range(repeat - 1):
            self._add(metadata, None)
        self._add(metadata, self._files(fact_tables), whole=whole)
        self._write(pointer, metadata)

    def merge_manifests(self) -> None:
        """Merge all files into one manifest, as engines do periodically; the snapshot is the same."""
        from pyiceberg.manifest import read_manifest_list

        pointer, metadata = self._read()
        head = _current(metadata)
        if head is None:
            return
        manifests = read_manifest_list(self._io.new_input(head["manifest-list"]))
        entries = [entry for m in manifests for entry in m.fetch_manifest_entry(self._io)]
        merged = self._manifest(head["snapshot-id"], entries)
        head["manifest-list"] = self._list(head["snapshot-id"], head["sequence-number"], [merged])
        self._write(pointer, metadata)

    @property
    def sequence(self) -> int:
        """Sequence number of the head."""
        return int(self._read()[1]["last-sequence-number"])

    def files(self, since: int = 0) -> list[str]:
        """Paths of live data files added after a sequence number."""
        from pyiceberg.manifest import read_manifest_list

        head = _current(self._read()[1])
        manifests = read_manifest_list(self._io.new_input(head["manifest-list"])) if head else ()
        entries = (e for m in manifests if m.sequence_number > since for e in m.fetch_manifest_entry(self._io))
        return [str(_path(e.data_file.file_path)) for e in entries if (e.sequence_number or 0) > since]

    def _read(self) -> tuple[str, dict[str, Any]]:
        (pointer,) = self._pointers.execute(_SELECT, self._where).fetchone()
        return pointer, json.loads(_path(pointer).read_text())

    def _write(self, pointer: str, metadata: dict[str, Any]) -> None:
        for name in ("snapshots", "snapshot-log"):
            metadata[name] = metadata[name][-self._keep :]
        log = [
            *metadata.get("metadata-log", []),
            {"timestamp-ms": metadata["last-updated-ms"], "metadata-file": pointer},
        ]
        for entry in log[:-LOG_LENGTH]:
            _path(entry["metadata-file"]).unlink(missing_ok=True)
        metadata["metadata-log"] = log[-LOG_LENGTH:]
        version = int(pointer.rpartition("/")[2].split("-")[0]) + 1
        target = f"file://{self._folder}/metadata/{version:05d}-{uuid.uuid4()}.metadata.json"
        _path(target).write_text(json.dumps(metadata))
        with self._pointers:
            moved = self._pointers.execute(_UPDATE, (target, pointer, *self._where, pointer))
        if moved.rowcount != 1:
            raise SystemExit("somebody else committed")

    def _files(self, fact_tables: Sequence[pa.Table]) -> list[Any]:
        """One file per Arrow table; a repeated table gets a link to its file."""
        from golden_tables import data_file

        found, first = [], {}
        for rows in fact_tables:
            location = f"file://{self._folder}/data/{uuid.uuid4()}.parquet"
            if id(rows) not in first:
                first[id(rows)] = data_file(self._loaded, self._shape, rows, location)
                found.append(first[id(rows)])
                continue
            known = first[id(rows)]
            _path(location).hardlink_to(_path(known.file_path))
            found.append(type(known)(*(location if value == known.file_path else value for value in _values(known))))
        return found

    def _add(self, metadata: dict[str, Any], files: list[Any] | None, *, whole: bool = False) -> None:
        """Add a snapshot; without files it shares its parent's list, as an old snapshot would."""
        now, parent = time.time_ns() // 1_000_000, _current(metadata)
        snapshot_id, sequence = secrets.randbits(62), metadata["last-sequence-number"] + 1
        added = {"added-data-files": len(files or ()), "added-records": sum(f.record_count for f in files or ())}
        before = parent["summary"] if parent and not whole else {}
        summary = {"operation": "overwrite" if whole else "append", **{key: str(value) for key, value in added.items()}}
        summary |= {total: str(int(before.get(total, 0)) + added[key]) for key, total in TOTALS.items()}
        summary |= {"changed-partition-count": "1", "total-delete-files": "0", "limnograph-run-id": str(uuid.uuid4())}
        if files or not parent:
            where = self._grown(snapshot_id, None if whole else parent, sequence, files or [])
        else:
            where = parent["manifest-list"]
        snapshot = {"snapshot-id": snapshot_id, "sequence-number": sequence, "timestamp-ms": now, "schema-id": 0}
        snapshot |= {"manifest-list": where, "summary": summary}
        if parent:
            snapshot["parent-snapshot-id"] = parent["snapshot-id"]
        metadata.setdefault("snapshots", []).append(snapshot)
        metadata.setdefault("snapshot-log", []).append({"timestamp-ms": now, "snapshot-id": snapshot_id})
        metadata |= {"current-snapshot-id": snapshot_id, "last-sequence-number": sequence, "last-updated-ms": now}
        metadata["refs"] = {"main": {"snapshot-id": snapshot_id, "type": "branch"}}

    def _grown(self, snapshot_id: int, parent: dict[str, Any] | None, sequence: int, files: list[Any]) -> str:
        """The parent's list, plus manifests of the files."""
        from pyiceberg.manifest import ManifestEntry, ManifestEntryStatus, read_manifest_list

        before = list(read_manifest_list(self._io.new_input(parent["manifest-list"]))) if parent else []
        entries = [
            ManifestEntry.from_args(status=ManifestEntryStatus.ADDED, snapshot_id=snapshot_id, data_file=file)
            for file in files
        ]
        groups = (entries[first : first + 100] for first in range(0, len(entries), 100))
        return self._list(snapshot_id, sequence, [*(self._manifest(snapshot_id, group) for group in groups), *before])

    def _manifest(self, snapshot_id: int, entries: Sequence[Any]) -> Any:
        from pyiceberg.manifest import ManifestEntryStatus, write_manifest

        place = self._io.new_output(f"file://{self._folder}/metadata/{uuid.uuid4()}-m0.avro")
        with write_manifest(2, self._spec, self._schema, place, snapshot_id, "gzip") as manifest:
            for entry in entries:
                if entry.status == ManifestEntryStatus.ADDED and entry.sequence_number is None:
                    manifest.add_entry(entry)
                else:
                    manifest.existing(entry)
        return manifest.to_manifest_file()

    def _list(self, snapshot_id: int, sequence: int, manifests: Sequence[Any]) -> str:
        from pyiceberg.manifest import write_manifest_list

        target = f"file://{self._folder}/metadata/snap-{snapshot_id}-0-{uuid.uuid4()}.avro"
        with write_manifest_list(2, self._io.new_output(target), snapshot_id, None, sequence, "gzip") as listed:
            listed.add_manifests(list(manifests))
        return target


_SELECT = "select metadata_location from iceberg_tables where table_namespace = ? and table_name = ?"
_UPDATE = (
    "update iceberg_tables set metadata_location = ?, previous_metadata_location = ? "
    "where table_namespace = ? and table_name = ? and metadata_location = ?"
)


def _values(record: Any) -> list[Any]:
    return [record[place] for place in range(len(record))]


def _path(location: str) -> Path:
    """A path from `file:///x`, `file:/x` or `/x`, depending on the engine."""
    return Path("/" + location.removeprefix("file:").lstrip("/"))


def _current(metadata: dict[str, Any]) -> dict[str, Any] | None:
    current = metadata.get("current-snapshot-id")
    return next((s for s in reversed(metadata.get("snapshots", [])) if s["snapshot-id"] == current), None)
