"""What a table stores, as the child process answers: reasons instead of errors, no value of a private column."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from limnograph.adapters.iceberg.metadata.metadata import parse_metadata
from limnograph.adapters.iceberg.planning.planner import IcebergPlanner
from limnograph.adapters.storage.files import FileStorage
from limnograph.domain.answers.storage import StorageReading
from limnograph.domain.errors import SourceUnavailable
from limnograph.domain.time import Millis
from limnograph.services.extraction.stored import storage_reading
from metadata_writer import MetadataTable


@pytest.fixture
def table(tmp_path: Path) -> MetadataTable:
    table = MetadataTable(tmp_path)
    table.append(table.file("eu")._replace(path=f"{table.location}/data/region=eu/00000-1.parquet"))
    return table


def read(
    table: MetadataTable, *, planner: Any = ..., snapshot_id: int | None = None, private: Any = ()
) -> StorageReading:
    path = table.folder / "metadata" / table.metadata_location.rpartition("/")[2]
    metadata = parse_metadata(path.read_bytes(), table.metadata_location)
    planner = IcebergPlanner(FileStorage({})) if planner is ... else planner
    return storage_reading(metadata, planner, snapshot_id=snapshot_id, now=Millis(table.now_ms), private=private)


def test_bytes_and_files_are_read_together(table: MetadataTable) -> None:
    found = read(table)
    assert found.bytes is not None
    assert found.tree is not None
    assert (found.bytes.live, found.tree.file_bytes, found.bytes_missing, found.tree_missing) == (
        1_000,
        1_000,
        None,
        None,
    )
    assert found.tree.largest[0].path.endswith("/data/region=eu/00000-1.parquet")


def test_the_folder_of_a_file_is_hidden_if_the_table_is_partitioned_by_a_private_column(table: MetadataTable) -> None:
    found = read(table, private=("region",))
    assert found.tree is not None
    assert [file.path for file in found.tree.largest] == ["(private)/00000-1.parquet"]
    assert [file.path for each in found.tree.manifests for file in each.largest] == ["(private)/00000-1.parquet"]
    assert read(table, private=("id",)).tree == read(table).tree


def test_a_snapshot_that_is_not_retained_and_an_empty_table_have_no_files(table: MetadataTable, tmp_path: Path) -> None:
    assert read(table, snapshot_id=7).tree_missing == "snapshot 7 is not retained"
    empty = read(MetadataTable(tmp_path / "empty"))
    assert (empty.tree, empty.tree_missing) == (None, "nothing was committed to the table")
    assert empty.bytes is not None


def test_damage_is_a_reason_for_each_part(table: MetadataTable) -> None:
    (table.folder / "metadata" / table.snapshots[table.head() or 0]["manifest-list"].rpartition("/")[2]).unlink()
    found = read(table)
    assert (found.bytes, found.tree) == (None, None)
    assert "a manifest list of a retained snapshot is missing" in (found.bytes_missing or "")
    assert "a metadata file of the snapshot cannot be read" in (found.tree_missing or "")


def test_a_format_without_a_planner_and_a_silent_storage_are_reasons(table: MetadataTable) -> None:
    assert read(table, planner=None).bytes_missing == "bytes by snapshot are not read for tables of format iceberg"

    class Silent:
        def held(self, *_: object) -> None:
            raise SourceUnavailable("storage", "connection refused")

        tree = held

    found = read(table, planner=Silent())
    assert found.bytes_missing == "storage did not respond: connection refused"
    assert "connection refused" in (found.tree_missing or "")
