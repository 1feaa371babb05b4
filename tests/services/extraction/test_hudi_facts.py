"""Hudi tables as rows and as the document of `inspect`: the same services as for every other format."""

from __future__ import annotations

from pathlib import Path

import pytest

from hudi_timeline import HudiFolder, Stat
from lakes import FixedClock
from limnograph.adapters.hudi.kept import WeightedCache
from limnograph.adapters.hudi.locate import newest_instant
from limnograph.adapters.hudi.reader import FILE_GROUPS, HudiReader
from limnograph.adapters.hudi.replay import CarriedStates
from limnograph.adapters.storage.files import FileStorage
from limnograph.domain.facts.meta_tables import SnapshotFact
from limnograph.domain.ids import location_uuid
from limnograph.domain.metadata.due import DueTable
from limnograph.domain.metadata.inspection import HeadState, Inspection
from limnograph.services.extraction.extract import extract
from limnograph.services.extraction.inspect import inspect
from limnograph.wiring.locations.inspect import inspect_location

VERSIONS = pytest.mark.parametrize("version", [6, 9])


def table(root: Path, version: int) -> HudiFolder:
    folder = HudiFolder(root, version, mor=True)
    base = folder.commit(Stat("a", 1000, 10), Stat("b", 500, 5, "region=us"), action="deltacommit")
    of = base if version < 8 else None
    folder.commit(Stat("a", 70, 2, log=True, of=of, prev=base, updates=2), action="deltacommit", operation="UPSERT")
    folder.commit(Stat("n", 400, 5), action="replacecommit", operation="CLUSTER", replaced=[("region=us", "b")])
    folder.commit(Stat("c", 30, 1, "region=us"), action="deltacommit", operation="INSERT")
    return folder


def facts(folder: HudiFolder, ids: list[int] | None = None) -> list[SnapshotFact]:
    reader = HudiReader(FileStorage(), WeightedCache(), CarriedStates())
    pointer = newest_instant(folder.location, FileStorage())
    metadata = reader.metadata(pointer)
    due = DueTable(
        catalog="files",
        namespace="landing",
        table="events",
        table_uuid=metadata.table_uuid,
        metadata_location=pointer,
        snapshot_ids=list(metadata.snapshots) if ids is None else ids,
        format="hudi",
    )
    return extract(due, reader, FixedClock())


@VERSIONS
def test_rows_show_slices_operations_and_file_groups(tmp_path: Path, version: int) -> None:
    rows = facts(table(tmp_path / "t", version))
    assert [row.operation for row in rows] == ["append", "overwrite", "replace", "append"]
    assert [row.total_data_files for row in rows] == [2, 2, 2, 3]
    assert [row.total_delete_files for row in rows] == [0, 1, 1, 1]
    assert [row.total_delete_bytes for row in rows] == [0, 70, 70, 70]
    assert [row.total_bytes for row in rows] == [1500, 1500, 1400, 1430]
    assert [row.total_records for row in rows] == [15, 15, 15, 16]
    assert [(row.summary or {})[FILE_GROUPS] for row in rows] == ["2", "2", "2", "3"]
    assert {(row.format, row.format_version, row.status, row.tier) for row in rows} == {
        ("hudi", version, "ok", "entries")
    }
    assert {row.table_uuid for row in rows} == {location_uuid(str(tmp_path / "t"))}
    assert [row.partitions_scope for row in rows] == ["full", "changed", "changed", "changed"]
    assert {p.partition: p.data_files for p in rows[2].partitions or ()} == {"region=eu": 2, "region=us": 0}


@VERSIONS
def test_files_equal_added_minus_removed(tmp_path: Path, version: int) -> None:
    before = (0, 0, 0, 0)
    for row in facts(table(tmp_path / "t", version)):
        moved = (
            (row.added_data_files, row.removed_data_files),
            (row.added_bytes, row.removed_bytes),
            (row.added_records, row.removed_records),
            (row.added_delete_files, row.removed_delete_files),
        )
        after = tuple(b + (a or 0) - (r or 0) for b, (a, r) in zip(before, moved, strict=True))
        assert after == (row.total_data_files, row.total_bytes, row.total_records, row.total_delete_files)
        before = after  # type: ignore[assignment]


@VERSIONS
def test_a_row_is_the_same_whichever_pass_reads_it(tmp_path: Path, version: int) -> None:
    folder = table(tmp_path / "t", version)
    together = facts(folder)
    numbers = ("total_data_files", "total_bytes", "added_data_files", "removed_bytes", "file_size_histogram", "summary")
    for row in together:
        (alone,) = facts(folder, [row.snapshot_id])
        assert [getattr(alone, name) for name in numbers] == [getattr(row, name) for name in numbers]


@VERSIONS
def test_inspect_prints_exact_counts_from_the_child(tmp_path: Path, version: int) -> None:
    folder = table(tmp_path / "t", version)
    found = inspect_location(folder.location, None, {}).document
    assert (found.status, found.problems, found.table.format) == ("ok", [], "hudi")
    assert found.current
    assert (found.current.data_files, found.current.delete_files, found.current.records) == (3, 1, 16)
    assert (found.current.bytes, found.current.partitions) == (1430, 2)
    reader = HudiReader(FileStorage(), WeightedCache(), CarriedStates())
    direct = inspect(newest_instant(folder.location, FileStorage()), reader).document
    assert found.snapshots == direct.snapshots


@VERSIONS
@pytest.mark.parametrize("begun", [False, True])
def test_a_table_without_writes_is_known_to_have_no_files(tmp_path: Path, version: int, *, begun: bool) -> None:
    folder = HudiFolder(tmp_path / "t", version)
    if begun:
        folder.request(folder.tick())
        folder.place("region=eu", "part-of-a-write-that-never-ended.parquet", 10)
    found = document(folder)
    assert (found.status, found.snapshots, found.problems) == ("ok", [], [])
    assert found.current == HeadState(snapshot_id=None, data_files=0, delete_files=0, records=0, bytes=0, partitions=0)
    folder.rollback(folder.tick())
    assert document(folder).current == found.current


@VERSIONS
def test_a_table_whose_commits_were_archived_or_restored_away_is_not_known_to_be_empty(
    tmp_path: Path, version: int
) -> None:
    folder = table(tmp_path / "t", version)
    kept = len(document(folder).snapshots)
    folder.archive(kept)
    assert document(folder).current is None
    restored = HudiFolder(tmp_path / "r", version)
    restored.complete(restored.tick(), "restore", b"")
    assert document(restored).current is None


def document(folder: HudiFolder) -> Inspection:
    reader = HudiReader(FileStorage(), WeightedCache(), CarriedStates())
    return inspect(newest_instant(folder.location, FileStorage()), reader).document
