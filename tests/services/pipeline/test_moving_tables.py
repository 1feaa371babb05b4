"""Tables that move while they are read: one extraction reads one metadata file, and who left is nobody's error."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from lakes import fresh_reader, path_of
from limnograph.domain.facts.meta_tables import CHANGES, SNAPSHOTS
from limnograph.domain.metadata.content import Reading, Want
from limnograph.domain.metadata.table import Snapshot, TableMetadata
from memory_meta import LocalExtraction, MemoryMetaStore, local_passes
from metadata_writer import MetadataTable
from pointed_lake import NearLake, PointedLake


class Moving:
    """A reader during whose work something happens, once: `at_metadata` before that is read, else at the first
    snapshot.
    """

    def __init__(self, act: Callable[[], None], *, at_metadata: bool) -> None:
        self._real, self._acts, self._at_metadata = fresh_reader(), [act], at_metadata

    def metadata(self, location: str) -> TableMetadata:
        if self._at_metadata and self._acts:
            self._acts.pop()()
        return self._real.metadata(location)

    def read(self, metadata: TableMetadata, snapshot: Snapshot, want: Want) -> Reading:
        if self._acts:
            self._acts.pop()()
        return self._real.read(metadata, snapshot, want)


@pytest.fixture
def lake(tmp_path: Path) -> PointedLake:
    return PointedLake(tmp_path)


def made(lake: PointedLake, name: str, commits: int = 3) -> MetadataTable:
    table = lake.written(name, list_it=False)
    for _ in range(commits):
        table.append(table.file("eu"))
    lake.point(name, table)
    return table


def test_a_pointer_that_moves_during_a_read_does_not_change_its_result(lake: PointedLake) -> None:
    table = made(lake, "sales.orders")
    first, before = table.metadata_location, set(table.snapshots)

    def move() -> None:
        table.append(table.file("us"))
        table.expire(min(before))
        lake.point("sales.orders", table)

    store, reader = MemoryMetaStore(), Moving(move, at_metadata=False)
    passes = local_passes(lake, store, observed=NearLake(lake), extraction=LocalExtraction(reader))
    assert passes.run().snapshots_appended == 3
    rows = store.rows(SNAPSHOTS).to_pylist()
    assert {row["snapshot_id"] for row in rows} == before
    assert {row["metadata_location"] for row in rows} == {first}
    assert {row["live_snapshots"] for row in rows} == {3}
    assert passes.run().snapshots_appended == 1
    assert store.rows(SNAPSHOTS).to_pylist()[-1]["metadata_location"] == table.metadata_location


def test_a_table_dropped_and_purged_between_list_and_load_is_reported_as_dropped_only(lake: PointedLake) -> None:
    table = made(lake, "sales.orders")
    made(lake, "sales.other")
    store = MemoryMetaStore()
    local_passes(lake, store, observed=NearLake(lake)).run()
    table.append(table.file("us"))
    lake.point("sales.orders", table)

    def drop() -> None:
        lake.drop("sales.orders")
        path_of(table.metadata_location).unlink()

    observed = NearLake(lake, Moving(drop, at_metadata=True))
    passes = local_passes(lake, store, observed=observed)
    report = passes.run()
    assert (report.snapshots_appended, report.unreadable, len(report.failed)) == (0, 0, 1)
    passes.run()
    told = [
        (row.kind, row.subject) for row in store.changes(store.head(CHANGES)) if row.kind in {"dropped", "unreadable"}
    ]
    assert told == [("dropped", "lake.sales.orders")]
    assert passes.run().failed == ()
