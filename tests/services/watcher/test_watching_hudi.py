"""The watcher's rounds over Hudi tables without a catalog, parsed in real children."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from hudi_timeline import HudiFolder, Stat
from lakes import Lake
from limnograph.adapters.memory.query_engine import MemoryEngine
from limnograph.adapters.system_clock import SystemClock
from limnograph.domain.facts.meta_tables import ChangeFact, SnapshotFact
from limnograph.domain.ids import location_uuid
from limnograph.services.lake.store import WINDOW
from limnograph.services.watcher.rounds import Watcher
from limnograph.wiring.observe import SettingsLake

VERSIONS = pytest.mark.parametrize("version", [6, 9])


def watcher(folder: HudiFolder, tmp_path: Path) -> Watcher:
    path = {"format": "hudi", "name": "landing.events", "location": folder.location}
    return Watcher(
        SettingsLake(Lake(tmp_path).settings(observe={"paths": [path]})), MemoryEngine(), SystemClock(), WINDOW
    )


def table(tmp_path: Path, version: int) -> HudiFolder:
    """A table whose commits begin two hours ago: inside the watcher's window, whatever day it is."""
    folder = HudiFolder(tmp_path / "t", version)
    folder.clock = datetime.now(UTC) - timedelta(hours=2)
    return folder


def told(watching: Watcher) -> tuple[list[SnapshotFact], list[ChangeFact]]:
    messages = list(watching.round())
    assert messages[-1].failed == []
    snapshots = [row for message in messages for row in message.snapshots]
    return snapshots, [row for message in messages for row in message.changes]


@VERSIONS
def test_a_hudi_table_is_reported_instant_by_instant(tmp_path: Path, version: int) -> None:
    folder = table(tmp_path, version)
    first = folder.commit(Stat("a", 1000, 10))
    watching = watcher(folder, tmp_path)
    snapshots, changes = told(watching)
    assert [(row.snapshot_id, row.total_data_files, row.total_records) for row in snapshots] == [(int(first), 1, 10)]
    assert {row.table_uuid for row in snapshots} == {location_uuid(folder.location)}
    assert {"first_seen", "named", "schema", "spec", "ref", "property"} == {row.kind for row in changes}
    assert told(watching) == ([], [])
    second = folder.commit(Stat("a", 1100, 11, prev=first, updates=1), Stat("b", 10, 1))
    snapshots, changes = told(watching)
    assert [(row.snapshot_id, row.added_data_files, row.removed_data_files) for row in snapshots] == [
        (int(second), 2, 1)
    ]
    assert [(row.kind, row.to_value) for row in changes] == [("ref", second)]


@VERSIONS
def test_archiving_and_cleaning_are_not_reported(tmp_path: Path, version: int) -> None:
    folder = table(tmp_path, version)
    first = folder.commit(Stat("a", 1000, 10))
    folder.commit(Stat("a", 1001, 10, prev=first))
    watching = watcher(folder, tmp_path)
    told(watching)
    folder.archive(1)
    folder.complete(folder.tick(), "clean", b"")
    assert told(watching) == ([], [])


@VERSIONS
def test_a_rollback_moves_main_back_and_a_savepoint_is_a_tag(tmp_path: Path, version: int) -> None:
    folder = table(tmp_path, version)
    first = folder.commit(Stat("a", 1000, 10))
    second = folder.commit(Stat("a", 1001, 10, prev=first))
    watching = watcher(folder, tmp_path)
    told(watching)
    folder.rollback(second)
    folder.complete(first, "savepoint", b"")
    snapshots, changes = told(watching)
    assert snapshots == []
    assert {(row.kind, row.subject, row.to_value) for row in changes} == {
        ("ref", "main", first),
        ("ref", f"savepoint-{first}", first),
    }


@VERSIONS
def test_an_upgraded_table_keeps_its_series(tmp_path: Path, version: int) -> None:
    folder = HudiFolder(tmp_path / "t", version)
    folder.commit(Stat("a", 1000, 10))
    watching = watcher(folder, tmp_path)
    told(watching)
    folder.properties["hoodie.table.version"] = str(version + (1 if version == 9 else -1))
    folder.write_properties()
    folder.commit(Stat("b", 10, 1))
    snapshots, changes = told(watching)
    assert {row.table_uuid for row in snapshots} == {location_uuid(folder.location)}
    assert "first_seen" not in {row.kind for row in changes}
