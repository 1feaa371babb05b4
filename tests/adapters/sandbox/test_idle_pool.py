"""The pool of a program that parses rarely: one child for all threads, closed when idle, started again when needed."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from limnograph.adapters.sandbox.idle import IdlePool
from limnograph.adapters.sandbox.messages import StorageAccess
from limnograph.adapters.sandbox.tables import SandboxTables
from limnograph.domain.answers.storage import StorageReading
from limnograph.domain.metadata.due import DueTable
from limnograph.domain.time import Millis
from metadata_writer import MetadataTable

IDLE_S = 0.3


def test_one_child_serves_all_threads_and_ends_when_idle(tmp_path: Path) -> None:
    table = MetadataTable(tmp_path)
    old = table.append(table.file("eu", size=100))
    table.overwrite([table.file("eu", size=7)], table.files())
    pool = IdlePool(idle_s=IDLE_S)
    tables = SandboxTables(StorageAccess({}, private=("region",)), pool)
    due = DueTable(
        catalog="files",
        namespace="sales",
        table="orders",
        table_uuid=table.table_uuid or "",
        metadata_location=table.metadata_location,
        snapshot_ids=[],
    )

    def read(snapshot_id: int | None) -> StorageReading:
        return tables.storage(due, snapshot_id, Millis(table.now_ms))

    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(read, [None, old, None, old]))
    (first,) = (child.pid for child in pool.idle)
    assert [each.bytes and (each.bytes.live, each.bytes.held) for each in found] == [(7, 100)] * 4
    trees = [each.tree for each in found]
    assert [tree and tree.file_bytes for tree in trees] == [7, 100, 7, 100]
    assert all(file.path.startswith("(private)/") for tree in trees if tree for file in tree.largest)
    waited = time.monotonic() + 30
    while pool.idle and time.monotonic() < waited:
        time.sleep(0.05)
    assert pool.idle == []
    assert read(None) == found[0]
    (second,) = (child.pid for child in pool.idle)
    assert second != first
    pool.close()
    assert pool.idle == []
