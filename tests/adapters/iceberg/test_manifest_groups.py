"""Many new manifests of a table are read in groups by many: the rows are those that one reader makes."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pytest

from lakes import FixedClock, fresh_reader
from limnograph.adapters.iceberg.groups import read_group, unread
from limnograph.adapters.iceberg.reader import IcebergReader
from limnograph.adapters.iceberg.sums.cache import ManifestCache
from limnograph.adapters.iceberg.sums.cache_file import iceberg_folder, learn
from limnograph.adapters.sandbox.messages import StorageAccess
from limnograph.adapters.spark.extraction import extracted
from limnograph.adapters.spark.manifests import CACHE_ROWS, ManifestsReader, SharedTables
from limnograph.adapters.spark.source import SCHEMA, SnapshotsReader
from limnograph.adapters.storage.files import FileStorage
from limnograph.domain.errors import MetadataError
from limnograph.domain.facts.meta_tables import SnapshotFact
from limnograph.domain.metadata.due import DueTable
from limnograph.domain.metadata.manifests import (
    GROUP_BYTES,
    GROUP_MANIFESTS,
    MANY_MANIFESTS,
    ManifestFile,
    ManifestWork,
    grouped,
)
from limnograph.services.extraction.extract import extract, to_entries
from metadata_writer import MetadataTable

STORAGE = FileStorage({})


def lived(folder: Path, seed: int, commits: int) -> MetadataTable:
    """A table of random appends, deletes, compactions and manifest rewrites."""
    chance = random.Random(seed)
    table = MetadataTable(folder, seed=seed)
    for _ in range(commits):
        files = table.files()
        act = chance.choice(["append", "append", "append", "append", "delete", "compact", "rewrite"])
        if act == "delete" and files:
            table.delete(*chance.sample(files, min(len(files), 2)))
        elif act == "compact" and len(files) > 3:
            table.compact(*chance.sample(files, 3))
        elif act == "rewrite" and files:
            table.rewrite_manifests()
        else:
            table.append(*(table.file(chance.choice(["eu", "us", "ap"])) for _ in range(chance.randint(1, 3))))
    return table


def due_of(table: MetadataTable, ids: list[int]) -> DueTable:
    return DueTable(
        catalog="lake",
        namespace="sales",
        table="orders",
        table_uuid="u",
        metadata_location=table.metadata_location,
        snapshot_ids=ids,
    )


def facts_from(folder: Path, due: DueTable, most: int = 0) -> list[SnapshotFact]:
    """By a reader that starts with nothing but the cache's files."""
    reader = IcebergReader(STORAGE, ManifestCache(iceberg_folder(str(folder))), most)
    return extract(due, reader, FixedClock())


@pytest.mark.parametrize("seed", range(12))
def test_rows_are_those_of_one_reader_whatever_the_groups(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    table = lived(tmp_path / "table", seed, 30)
    ids = chance.sample(list(table.snapshots), chance.randint(1, len(table.snapshots)))
    due, cache = due_of(table, ids), ManifestCache(iceberg_folder(str(tmp_path)))
    reader = IcebergReader(STORAGE, cache)
    metadata = reader.metadata(due.metadata_location)
    work = unread(reader, cache, metadata, to_entries(metadata, due))
    left = list(work.manifests)
    chance.shuffle(left)
    while left:
        size = chance.randint(1, 9)
        group, left = msgspec.structs.replace(work, manifests=left[:size]), left[size:]
        if chance.random() < 0.8:  # the others are lost on their way: the table's reader reads them itself
            learn(str(tmp_path), work.cache, read_group(STORAGE, group))
    assert facts_from(tmp_path, due) == extract(due, fresh_reader(), FixedClock())


def test_a_task_with_too_many_manifests_reads_none_and_later_has_none_to_read(tmp_path: Path) -> None:
    table = MetadataTable(tmp_path / "table")
    for _ in range(9):
        table.append(table.file("eu"))
    due = due_of(table, [next(reversed(table.snapshots))])
    with pytest.raises(MetadataError) as refused:
        facts_from(tmp_path, due, most=8)
    assert refused.value.code == MANY_MANIFESTS
    assert not list(iceberg_folder(str(tmp_path)).glob("*"))
    reader = IcebergReader(STORAGE, cache := ManifestCache(iceberg_folder(str(tmp_path))))
    metadata = reader.metadata(due.metadata_location)
    work = unread(reader, cache, metadata, to_entries(metadata, due))
    assert len(work.manifests) == 9
    learn(str(tmp_path), work.cache, read_group(STORAGE, work))
    (fact,) = facts_from(tmp_path, due, most=1)
    assert (fact.total_data_files, fact.tier, fact.status) == (9, "entries", "ok")
    fresh = ManifestCache(iceberg_folder(str(tmp_path)))
    assert unread(IcebergReader(STORAGE, fresh), fresh, metadata, to_entries(metadata, due)).manifests == []


def test_groups_are_bounded_by_number_and_bytes_and_lose_nothing() -> None:
    lengths = [*[GROUP_BYTES // 3] * 5, *[100] * (2 * GROUP_MANIFESTS + 1), 3 * GROUP_BYTES, None, 5]
    manifests = [ManifestFile(path=str(i), length=length) for i, length in enumerate(lengths)]
    parts = [part.manifests for part in grouped(ManifestWork("n", 0, None, keep=True, manifests=manifests))]
    assert [manifest for part in parts for manifest in part] == manifests
    assert max(map(len, parts)) <= GROUP_MANIFESTS
    for part in parts:
        assert len(part) == 1 or sum(manifest.length or 0 for manifest in part) <= GROUP_BYTES
    assert grouped(ManifestWork("n", 0, None, keep=True, manifests=[])) == []


class Frame:
    """What a data frame of manifests answers, by its reader in this process. `lose`: tasks whose rows do not come."""

    def __init__(self, options: Mapping[str, str], lose: set[int]) -> None:
        self._options, self._lose = options, lose

    def toArrow(self) -> pa.Table:  # noqa: N802 - Spark's name
        return pa.Table.from_batches(self._batches(), CACHE_ROWS)

    def _batches(self) -> Iterator[pa.RecordBatch]:
        reader = ManifestsReader(self._options)
        for number, partition in enumerate(reader.partitions()):
            if number not in self._lose:
                yield from reader.read(partition)


def test_a_task_returns_a_large_table_and_the_driver_builds_its_rows_from_many_tasks(tmp_path: Path) -> None:
    table = MetadataTable(tmp_path / "table")
    for _ in range(12):
        table.append(table.file("eu"))
    due = due_of(table, [next(reversed(table.snapshots))])  # of a longer history each commit would add one to the last
    own = str(tmp_path / "executor")
    access = StorageAccess({"lake": {"warehouse": f"file://{tmp_path}"}}, cache_dir=own, most_manifests=5)
    options: dict[str, Any] = {"access": msgspec.json.encode(access).decode()}
    reader = SnapshotsReader(options | {"due": msgspec.json.encode([due]).decode(), "tasks": "1"})
    (partition,) = reader.partitions()
    found = extracted(pa.Table.from_batches(reader.read(partition), SCHEMA))
    assert (found.rows.num_rows, found.missed) == (0, {0: MANY_MANIFESTS})
    drivers = msgspec.structs.replace(access, cache_dir=str(tmp_path / "driver"))
    rows = SharedTables(drivers, lambda given: Frame(given, set())).rows(due)  # type: ignore[arg-type, return-value]
    expected = extract(due, fresh_reader(), FixedClock())
    assert rows.column("total_bytes").to_pylist() == [fact.total_bytes for fact in expected]
    assert rows.column("tier").to_pylist() == ["entries"]
    assert list(iceberg_folder(str(tmp_path / "driver")).glob("*.sqlite"))
