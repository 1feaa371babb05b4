"""Evidence of stamped commits in tables that exist as metadata, with empty files where their data would be."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from limnograph.adapters.iceberg.planning.planner import IcebergPlanner
from limnograph.adapters.iceberg.reader import IcebergReader
from limnograph.adapters.storage.files import FileStorage
from limnograph.domain.errors import MetadataError
from limnograph.domain.maintenance.evidence import ChangedFiles, EvidenceRequest, TableEvidence
from limnograph.ports.table_maintainer import STAMP
from metadata_writer import POSITION_DELETES, File, MetadataTable

PLAN = "p" * 32


def evidence(table: MetadataTable, request: EvidenceRequest) -> TableEvidence:
    storage = FileStorage({})
    metadata = IcebergReader(storage).metadata(table.metadata_location)
    return IcebergPlanner(storage).evidence(metadata, request)


def request(*groups: str, **more: bool) -> EvidenceRequest:
    return EvidenceRequest(plan_id=PLAN, groups=[[(0, f"region={group}")] for group in groups], **more)


def written(table: MetadataTable) -> MetadataTable:
    """The same table with a file at each path that a snapshot ever had."""
    for file in {file for live in table.live.values() for file in live.values()}:
        place = Path(file.path.removeprefix("file://"))
        place.parent.mkdir(exist_ok=True)
        place.touch()
    return table


def stamped(table: MetadataTable, add: Iterable[File], remove: Iterable[File]) -> int:
    return table.commit("replace", add=add, remove=remove, summary={STAMP: PLAN})


def sums(changed: ChangedFiles) -> tuple[int, int, int]:
    return changed.files, changed.bytes, changed.rows


def test_removed_files_of_each_group_are_those_that_the_plan_named(tmp_path: Path) -> None:
    table = MetadataTable(tmp_path)
    table.append(*(table.file(region, size=100 + n) for n in range(4) for region in ("eu", "us")))
    planned = [file for file in table.files() if file.partition == ("eu",)]
    digest = evidence(table_with(tmp_path / "same", planned), request("eu")).groups[0].sha256
    first = stamped(table, [table.file("eu", records=20)], planned[:2])
    table.append(table.file("eu"))
    second = stamped(table, [table.file("eu", records=20)], planned[2:])
    found = evidence(written(table), request("eu", "us"))
    assert found.stamped == [first, second]
    assert [sums(each) for each in found.groups] == [(4, sum(f.size for f in planned), 40), (0, 0, 0)]
    assert found.groups[0].sha256 == digest
    assert (found.elsewhere, sums(found.added_data)[0], sums(found.added_data)[2]) == (0, 2, 40)
    assert (found.missing_count, found.checked) == (0, 7)


def table_with(folder: Path, files: list[File]) -> MetadataTable:
    """A table of which one stamped commit removes just these files."""
    table = MetadataTable(folder)
    table.append(*files)
    stamped(table, [], files)
    return table


def test_files_outside_of_the_plan_are_counted(tmp_path: Path) -> None:
    table = MetadataTable(tmp_path)
    table.append(*(table.file(region) for region in ("eu", "us")))
    stamped(table, [table.file("eu", records=20)], table.files())
    found = evidence(written(table), request("eu"))
    assert (found.groups[0].files, found.elsewhere) == (1, 1)


def test_without_a_stamped_commit_nothing_was_done(tmp_path: Path) -> None:
    table = MetadataTable(tmp_path)
    table.append(table.file("eu"))
    table.compact(*table.files())
    found = evidence(written(table), request("eu", compare_live=True))
    assert (found.stamped, found.elsewhere, found.live_before, found.live_after) == ([], 0, None, None)
    assert sums(found.removed_data) == (0, 0, 0)


def test_rewritten_manifests_leave_the_same_live_files(tmp_path: Path) -> None:
    table = MetadataTable(tmp_path)
    for _ in range(3):
        table.append(table.file("eu"))
    table.commit("replace", rewrite=True, summary={STAMP: PLAN})
    found = evidence(written(table), request(compare_live=True))
    assert found.live_before == found.live_after
    assert found.live_after is not None
    assert (found.live_after.files, sums(found.removed_data), sums(found.added_data)) == (3, (0, 0, 0), (0, 0, 0))


def test_removed_delete_files_of_a_group_are_separate_from_data(tmp_path: Path) -> None:
    table = MetadataTable(tmp_path)
    table.append(table.file("eu"), table.file("eu"))
    table.overwrite([table.file("eu", content=POSITION_DELETES, records=3)], [])
    deletes = table.files(content=POSITION_DELETES)
    stamped(table, [table.file("eu", content=POSITION_DELETES, records=3)], deletes)
    found = evidence(written(table), request("eu", deletes=True))
    assert (sums(found.groups[0]), sums(found.removed_data)) == ((1, 1_000, 3), (0, 0, 0))
    assert (sums(found.removed_deletes), sums(found.added_deletes)) == ((1, 1_000, 3), (1, 1_000, 3))


def test_missing_files_are_named_and_those_of_older_snapshots_on_request(tmp_path: Path) -> None:
    table = MetadataTable(tmp_path)
    table.append(table.file("eu"), table.file("us"))
    written(table)
    old, gone = table.files()
    stamped(table, [], [old])
    for file in (old, gone):
        Path(file.path.removeprefix("file://")).unlink()
    head, every = evidence(table, request("eu")), evidence(table, request("eu", every_snapshot=True))
    assert (head.missing, head.missing_count) == ([gone.path], 1)
    assert (sorted(every.missing), every.checked) == (sorted([old.path, gone.path]), 2)


def test_a_manifest_that_is_gone_is_an_error_not_an_empty_table(tmp_path: Path) -> None:
    table = MetadataTable(tmp_path)
    head = table.append(table.file("eu"))
    (tmp_path / "metadata" / table.manifests[head][0].path.rpartition("/")[2]).unlink()
    with pytest.raises(MetadataError):
        evidence(table, request("eu"))


def test_of_a_large_table_a_sample_is_checked(tmp_path: Path) -> None:
    table = MetadataTable(tmp_path)
    for _ in range(3):
        table.append(*(table.file("eu") for _ in range(4_000)))
    found = evidence(table, request("eu"))
    assert 100 <= found.checked <= 102
    assert found.missing_count == found.checked
    assert len(found.missing) == 20
