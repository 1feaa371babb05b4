"""Moves a table's history to its planned instants: rewrites the times of its metadata, then points the catalog there.

Nothing else of the metadata changes: ids, files, counts and the order of commits stay as the engines wrote them.
"""

from __future__ import annotations

import bisect
import json
import sqlite3
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

from limnograph.demo.commits import Mark


def moved(metadata: dict[str, Any], marks: Sequence[Mark]) -> dict[str, Any]:
    """`metadata` with all its times planned. A snapshot has its own planned instant; a metadata file the instant of
    the step that wrote it. Raises KeyError on a snapshot that no mark knows.
    """
    planned = {one.snapshot_id: one.planned for one in marks if one.snapshot_id is not None}
    order = sorted(marks, key=lambda one: one.real)
    reals = [one.real for one in order]

    def instant(real: int) -> int:
        return order[max(0, bisect.bisect_right(reals, real) - 1)].planned

    return {
        **metadata,
        "last-updated-ms": instant(metadata["last-updated-ms"]),
        "snapshots": [{**s, "timestamp-ms": planned[s["snapshot-id"]]} for s in metadata.get("snapshots", [])],
        "snapshot-log": [{**e, "timestamp-ms": planned[e["snapshot-id"]]} for e in metadata.get("snapshot-log", [])],
        "metadata-log": [{**e, "timestamp-ms": instant(e["timestamp-ms"])} for e in metadata.get("metadata-log", [])],
    }


def shift(database: Path, name: str, marks: Sequence[Mark]) -> None:
    """Rewrite the metadata files of table `name` and point the SQL catalog at a new newest one."""
    namespace, table = name.split(".")
    with sqlite3.connect(database) as connection:
        [(location,)] = connection.execute(
            "select metadata_location from iceberg_tables where table_namespace = ? and table_name = ?",
            (namespace, table),
        )
        head = json.loads(local(location).read_text())
        for entry in head.get("metadata-log", []):
            _rewrite(local(entry["metadata-file"]), marks)
        _rewrite(local(location), marks)
        new = local(location).with_name(f"{_version(location) + 1:05d}-{uuid.uuid4()}.metadata.json")
        shifted = moved(head, marks)
        shifted["metadata-log"].append({"timestamp-ms": shifted["last-updated-ms"], "metadata-file": location})
        new.write_text(json.dumps(shifted))
        connection.execute(
            "update iceberg_tables set metadata_location = ?, previous_metadata_location = ?"
            " where table_namespace = ? and table_name = ?",
            (f"file://{new}", location, namespace, table),
        )


def local(location: str) -> Path:
    """`file:/x` and `file:///x` as a path."""
    return Path(urlparse(location).path)


def _rewrite(file: Path, marks: Sequence[Mark]) -> None:
    if file.exists():
        file.write_text(json.dumps(moved(json.loads(file.read_text()), marks)))


def _version(location: str) -> int:
    return int(local(location).name.split("-", maxsplit=1)[0])
