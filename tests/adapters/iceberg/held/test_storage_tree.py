"""The files of one snapshot: counts and bytes of its manifests, and its largest files with their paths."""

from __future__ import annotations

from pathlib import Path

import pytest

from limnograph.adapters.iceberg.held import tree as module
from limnograph.adapters.iceberg.held.tree import LARGEST, LARGEST_OF_MANIFEST, SHOWN, storage_tree
from limnograph.adapters.iceberg.metadata.metadata import parse_metadata
from limnograph.adapters.storage.files import FileStorage
from limnograph.domain.answers.storage import StorageTree
from limnograph.domain.errors import MetadataError
from metadata_writer import EQUALITY_DELETES, POSITION_DELETES, MetadataTable


def tree_of(table: MetadataTable, snapshot_id: int | None = None) -> StorageTree:
    content = (table.folder / "metadata" / table.metadata_location.rpartition("/")[2]).read_bytes()
    metadata = parse_metadata(content, table.metadata_location)
    wanted = metadata.head_id if snapshot_id is None else snapshot_id
    assert wanted is not None
    return storage_tree(FileStorage({}), metadata, metadata.snapshots[wanted])


@pytest.mark.parametrize("inline", [False, True])
def test_counts_and_bytes_are_those_of_the_snapshot(tmp_path: Path, inline: bool) -> None:
    table = MetadataTable(tmp_path, version=1 if inline else 2, inline_manifests=inline)
    for number in range(5):
        table.append(*(table.file("eu", size=1_000 * number + i) for i in range(7)))
    old = table.head()
    table.overwrite([table.file("us", size=9)], table.files()[:3])
    for snapshot_id in (old, table.head()):
        assert snapshot_id is not None
        found, live = tree_of(table, snapshot_id), list(table.live[snapshot_id].values())
        assert (found.files, found.file_bytes) == (len(live), sum(file.size for file in live))
        assert found.manifest_count == len(table.manifests[snapshot_id])
        assert found.manifest_bytes == sum(manifest.length for manifest in table.manifests[snapshot_id])
        assert (found.list_path is None, found.list_bytes is None) == (inline, inline)
        largest = sorted(((file.size, file.path) for file in live), reverse=True)[:LARGEST]
        assert [(file.bytes, file.path) for file in found.largest] == largest
        assert [each.file_bytes for each in found.manifests] == sorted(
            (sum(entry.file.size for entry in manifest.live()) for manifest in table.manifests[snapshot_id]),
            reverse=True,
        )
        by_path = {manifest.path: manifest for manifest in table.manifests[snapshot_id]}
        for each in found.manifests:
            sizes = sorted((entry.file.size for entry in by_path[each.path].live()), reverse=True)
            assert [file.bytes for file in each.largest] == sizes[:LARGEST_OF_MANIFEST]


def test_kinds_of_files_are_told_apart(tmp_path: Path) -> None:
    table = MetadataTable(tmp_path, version=3)
    table.append(table.file("eu", size=400, records=8))
    add = [table.file("eu", size=300, content=POSITION_DELETES), table.file("eu", size=200, content=EQUALITY_DELETES)]
    table.overwrite([*add, table.vector(table.files()[0], size=100)], [])
    found = tree_of(table)
    kinds = ["data", "position_deletes", "equality_deletes", "deletion_vector"]
    assert [(file.content, file.bytes) for file in found.largest] == list(zip(kinds, (400, 300, 200, 100), strict=True))
    assert found.largest[0].records == 8
    assert {manifest.content for manifest in found.manifests} == {"data", "deletes"}
    assert {manifest.added_by for manifest in found.manifests} == {str(one) for one in table.snapshots}


def test_only_the_largest_manifests_are_listed_and_all_are_counted(tmp_path: Path) -> None:
    table = MetadataTable(tmp_path)
    for number in range(SHOWN + 3):
        table.append(table.file("eu", size=number))
    found = tree_of(table)
    assert (found.manifest_count, len(found.manifests)) == (SHOWN + 3, SHOWN)
    assert found.manifests[-1].file_bytes == 3


def test_a_damaged_manifest_and_too_many_files_are_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = MetadataTable(tmp_path)
    table.append(table.file("eu"), table.file("eu"))
    (manifest,) = table.manifests[table.head() or 0]
    monkeypatch.setattr(module, "MAX_ENTRIES", 1)
    with pytest.raises(MetadataError, match="the snapshot has 2 files, more than 1"):
        tree_of(table)
    monkeypatch.undo()
    (table.folder / "metadata" / manifest.path.rpartition("/")[2]).write_bytes(b"x")
    with pytest.raises(MetadataError, match="not an Avro file"):
        tree_of(table)
