"""Files that the planner rewrites for their deletes: which deletes are scoped to a file, and how many rows they hit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lakes import facts
from limnograph.adapters.iceberg.manifests.entries import Paths
from limnograph.adapters.iceberg.manifests.manifest import DELETE_FILE_PATH, decode_manifest
from limnograph.adapters.iceberg.sums.file_columns import FileColumns, ScopedDeletes
from limnograph.adapters.iceberg.sums.shape import LiveFiles, much_deleted
from limnograph.domain.metadata.manifests import ManifestFile
from metadata_avro import container, entry_schema
from metadata_writer import POSITION_DELETES, MetadataTable

GOOD_SIZE = 600 * 2**20
DATA_PATH = "s3://lake/orders/data/a-very-long-name-of-a-file.parquet"


@pytest.mark.parametrize(("deleted", "owed"), [(2, 0), (3, 1), (99, 1)])
def test_a_file_is_debt_when_its_vector_deletes_three_rows_of_ten(tmp_path: Path, deleted: int, owed: int) -> None:
    table = MetadataTable(tmp_path, version=3)
    files = [table.file("eu", records=10, size=GOOD_SIZE) for _ in range(3)]
    table.append(*files)
    table.overwrite([table.vector(files[1], records=deleted)], ())
    before, after = facts(table.metadata_location)
    assert (before.debt_files, before.debt_groups) == (0, 0)
    assert (after.debt_files, after.debt_groups, after.debt_bytes) == (owed, owed, owed * GOOD_SIZE)


def test_deletes_of_a_whole_partition_select_no_file(tmp_path: Path) -> None:
    table = MetadataTable(tmp_path)
    table.append(*(table.file("eu", records=10, size=GOOD_SIZE) for _ in range(3)))
    table.overwrite([table.file("eu", records=30, content=POSITION_DELETES)], ())
    assert facts(table.metadata_location)[-1].debt_files == 0


def entry(**file: Any) -> dict[str, Any]:
    data_file = {"file_path": "x", "file_format": "PARQUET", "partition": {}, "record_count": 4} | file
    inside = {"content": 0, "file_size_in_bytes": 1, "block_size_in_bytes": 1} | data_file
    return {"status": 1, "snapshot_id": 1, "sequence_number": 1, "file_sequence_number": 1, "data_file": inside}


def paths(version: int, *entries: dict[str, Any], deletes: bool) -> Paths:
    body = container(entry_schema(version, "[]"), entries, "deflate", schema="{}", content="data")
    found = decode_manifest(
        body, ManifestFile(path="m", deletes=deletes), bounds_of=DELETE_FILE_PATH if deletes else 1, paths=True
    ).paths
    assert found
    return found


def bound(path: str) -> list[dict[str, Any]]:
    return [{"key": 2_147_483_545, "value": b"\0" * 8}, {"key": DELETE_FILE_PATH, "value": path.encode()}]


def test_a_delete_is_scoped_by_its_reference_or_by_equal_bounds_of_its_paths() -> None:
    (wanted,) = paths(2, entry(file_path=DATA_PATH), deletes=False).file
    by_bounds = paths(
        2,
        entry(content=1, lower_bounds=bound(DATA_PATH), upper_bounds=bound(DATA_PATH)),
        entry(content=1, lower_bounds=bound(DATA_PATH), upper_bounds=bound(DATA_PATH + "z")),
        entry(content=1),
        entry(content=2, lower_bounds=bound(DATA_PATH), upper_bounds=bound(DATA_PATH)),
        deletes=True,
    )
    assert by_bounds.target.tolist() == [wanted, 0, 0, 0]
    by_reference = paths(3, entry(content=1, file_format="PUFFIN", referenced_data_file=DATA_PATH), deletes=True)
    assert by_reference.target.tolist() == [wanted]


def test_paths_of_any_length_have_distinct_hashes() -> None:
    names = ["a" * length for length in range(40)] + ["a" * length + "b" for length in range(40)]
    hashes = paths(2, *(entry(file_path=name) for name in names), deletes=False).file
    assert len(set(hashes.tolist())) == len(names)


def live(records: list[int], deletes: list[tuple[int, int, bool]]) -> LiveFiles:
    """Data files with paths 1, 2, … and deletes as (target, rows, vector)."""
    count, none = len(records), np.zeros(len(records), np.bool_)
    empty: Any = None
    columns = FileColumns(
        np.zeros(count, np.int32),
        np.ones(count, np.int64),
        np.array(records, np.int64),
        np.arange(1, count + 1, dtype=np.uint64),
        none,
        empty,
        empty,
    )
    target, rows, is_dv = zip(*deletes, strict=True) if deletes else ((), (), ())
    scoped = ScopedDeletes(np.array(target, np.uint64), np.array(rows, np.int64), np.array(is_dv, np.bool_))
    return LiveFiles([columns], [0], [np.zeros(count, np.int64)], [scoped])


@pytest.mark.parametrize(
    ("records", "deletes", "expected"),
    [
        ([10, 10], [(1, 2, False), (1, 1, False)], [True, False]),
        ([10, 10], [(2, 3, False), (2, 1, True)], [False, False]),
        ([10, 10], [(2, 1, False), (2, 3, True)], [False, True]),
        ([0, 10], [(1, 5, True), (9, 9, True)], [False, False]),
        ([10, 10], [(2, 2**40, True)], [False, True]),
    ],
)
def test_rows_of_a_files_own_deletes_add_up_and_a_vector_replaces_them(
    records: list[int], deletes: list[tuple[int, int, bool]], expected: list[bool]
) -> None:
    found = much_deleted(live(records, deletes))
    assert found is not None
    assert found.tolist() == expected


def test_without_scoped_deletes_no_file_is_selected() -> None:
    assert much_deleted(live([1], [])) is None
