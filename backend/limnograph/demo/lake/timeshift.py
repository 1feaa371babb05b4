"""Moves a table's history to its planned instants: rewrites the times in its metadata and updates the catalog.

Nothing else changes: ids, files, counts and the order of commits stay as the engines wrote them.
"""

from __future__ import annotations

import bisect
import json
import sqlite3
import uuid
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlparse

from limnograph.demo.lake.commits import Mark


class Stage(NamedTuple):
    """A metadata file of a table, and its number of snapshots."""

    location: str
    snapshots: int


def moved(metadata: dict[str, Any], marks: Sequence[Mark]) -> dict[str, Any]:
    """`metadata` with all times replaced by planned ones: a snapshot has its own planned instant, a metadata file that
    of the step that wrote it. Raises KeyError for a snapshot without a mark.
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


def shift(catalog: CatalogFile, name: str, marks: Sequence[Mark], every: int) -> list[Stage]:
    """Rewrite the metadata files of table `name` that are still needed, delete the others, and point the catalog at the
    first stage. Returns the stages: the file after every `every` snapshots, and finally a new newest file.
    """
    location = catalog.location(name)
    head = json.loads(local(location).read_text())
    stages = _stages(marks, every)
    needed = {local(entry["metadata-file"]) for entry in head.get("metadata-log", [])}
    needed |= {local(location), *(local(stage.location) for stage in stages)}
    for file in local(location).parent.glob("*.metadata.json"):
        if file in needed:
            file.write_text(json.dumps(moved(json.loads(file.read_text()), marks)))
        else:
            file.unlink()
    shifted = moved(head, marks)
    shifted["metadata-log"].append({"timestamp-ms": shifted["last-updated-ms"], "metadata-file": location})
    new = local(location).with_name(f"{_version(location) + 1:05d}-{uuid.uuid4()}.metadata.json")
    new.write_text(json.dumps(shifted))
    stages.append(Stage(f"file://{new}", len(shifted["snapshots"])))
    catalog.point(name, stages[0].location)
    return stages


def _stages(marks: Sequence[Mark], every: int) -> list[Stage]:
    """The metadata file after every `every` commits, without the newest."""
    commits = [one for one in marks if one.snapshot_id is not None]
    return [Stage(commits[n - 1].location, n) for n in range(every, len(commits), every)]


class CatalogFile:
    """The pointers of an SQL catalog in SQLite."""

    def __init__(self, database: Path) -> None:
        self._database = database

    def location(self, name: str) -> str:
        """The metadata file that `namespace.table` points at."""
        with closing(sqlite3.connect(self._database)) as connection:
            [(location,)] = connection.execute(
                "select metadata_location from iceberg_tables where table_namespace = ? and table_name = ?",
                name.split("."),
            )
        return str(location)

    def point(self, name: str, location: str) -> None:
        """Point `namespace.table` at another metadata file."""
        with closing(sqlite3.connect(self._database)) as connection, connection:
            connection.execute(
                "update iceberg_tables set metadata_location = ? where table_namespace = ? and table_name = ?",
                (location, *name.split(".")),
            )


def local(location: str) -> Path:
    """The path of `file:/x` or `file:///x`."""
    return Path(urlparse(location).path)


def _version(location: str) -> int:
    return int(local(location).name.split("-", maxsplit=1)[0])
