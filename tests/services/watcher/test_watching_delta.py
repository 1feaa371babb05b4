"""The watcher's rounds over Delta tables without a catalog, parsed in real children."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from delta_log import DeltaLog, add, protocol
from lakes import Lake
from limnograph.adapters.memory.query_engine import MemoryEngine
from limnograph.adapters.system_clock import SystemClock
from limnograph.domain.facts.meta_tables import ChangeFact, SnapshotFact
from limnograph.services.lake.store import WINDOW
from limnograph.services.watcher.rounds import Watcher
from limnograph.wiring.observe import SettingsLake

ROWS = pa.table({"id": [1, 2, 3], "region": ["eu", "eu", "us"]})


class Landing:
    """A Delta table `files.landing.events` beside an empty catalog."""

    def __init__(self, folder: Path) -> None:
        self.location = str(folder / "events")
        path = {"format": "delta", "name": "landing.events", "location": f"file://{self.location}"}
        self.settings = Lake(folder).settings(observe={"paths": [path]})

    def watcher(self) -> Watcher:
        return Watcher(SettingsLake(self.settings), MemoryEngine(), SystemClock(), WINDOW)


@pytest.fixture
def landing(tmp_path: Path) -> Landing:
    return Landing(tmp_path)


def told(watcher: Watcher) -> tuple[list[SnapshotFact], list[ChangeFact], list[str]]:
    messages = list(watcher.round())
    snapshots = [row for message in messages for row in message.snapshots]
    return snapshots, [row for message in messages for row in message.changes], list(messages[-1].failed)


def test_a_delta_table_is_reported_version_by_version(landing: Landing) -> None:
    write_deltalake(landing.location, ROWS, partition_by=["region"])
    write_deltalake(landing.location, ROWS, mode="append")
    watcher = landing.watcher()
    snapshots, changes, failed = told(watcher)
    assert failed == []
    assert [(row.snapshot_id, row.total_data_files, row.total_records) for row in snapshots] == [(0, 2, 3), (1, 4, 6)]
    assert {row.table_uuid for row in snapshots} == {str(DeltaTable(landing.location).metadata().id)}
    assert {"first_seen", "named", "schema", "spec", "ref"} <= {row.kind for row in changes}
    assert told(watcher) == ([], [], [])
    DeltaTable(landing.location).optimize.compact()
    snapshots, changes, _ = told(watcher)
    assert [(row.operation, row.added_data_files, row.removed_data_files) for row in snapshots] == [("replace", 2, 4)]
    assert [(row.kind, row.to_value) for row in changes] == [("ref", "2")]


def test_a_new_column_is_a_schema_change_and_a_cleaned_log_is_not(landing: Landing) -> None:
    write_deltalake(landing.location, ROWS)
    watcher = landing.watcher()
    told(watcher)
    wider = ROWS.append_column("note", pa.array(["n"] * 3))
    write_deltalake(landing.location, wider, mode="append", schema_mode="merge")
    _, changes, _ = told(watcher)
    assert [row.kind for row in changes] == ["schema", "ref"] or [row.kind for row in changes] == ["ref", "schema"]
    DeltaTable(landing.location).create_checkpoint()
    (Path(landing.location) / "_delta_log" / f"{0:020}.json").unlink()
    write_deltalake(landing.location, wider, mode="append")
    snapshots, changes, _ = told(watcher)
    assert [row.snapshot_id for row in snapshots] == [2]
    assert [row.kind for row in changes] == ["ref"]


def test_a_log_of_a_future_protocol_is_unreadable(landing: Landing) -> None:
    log = DeltaLog(Path(landing.location))
    log.begin(add("a"))
    log.commit(protocol(9))
    watcher = landing.watcher()
    snapshots, changes, _ = told(watcher)
    assert snapshots == []
    assert [(row.kind, row.to_value) for row in changes] == [("unreadable", "format_version_unsupported")]
