"""The cache of manifests changes what reading costs and never what it says, whatever befalls its files."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from lakes import path_of
from limnograph.adapters.iceberg.reader import IcebergReader
from limnograph.adapters.iceberg.sums.cache import ManifestCache
from limnograph.adapters.iceberg.sums.cache_file import CacheFile, trim
from limnograph.adapters.storage.files import FileStorage
from limnograph.domain.errors import SourceUnavailable
from limnograph.domain.metadata.content import Reading, Want
from metadata_writer import EQUALITY_DELETES, Field, MetadataTable


class Counting(FileStorage):
    """Storage that remembers which manifests were read. `down`: it serves none of them now."""

    def __init__(self) -> None:
        super().__init__({})
        self.manifests: list[str] = []
        self.down: Callable[[int], bool] = lambda _count: False

    def read(self, location: str, limit: int) -> bytes:
        if location.endswith("-m0.avro"):
            if self.down(len(self.manifests)):
                raise SourceUnavailable("storage", "503")
            self.manifests.append(location)
        return super().read(location, limit)


@pytest.fixture
def table(tmp_path: Path) -> MetadataTable:
    made = MetadataTable(tmp_path / "orders")
    for number in range(6):
        made.append(made.file("eu", size=1_000 + number), made.file("us", records=number))
    made.overwrite([made.file("eu", content=EQUALITY_DELETES, records=3)], made.files()[:2])
    return made


def readings(table: MetadataTable, cache: ManifestCache, storage: Counting | None = None) -> list[Reading]:
    reader = IcebergReader(storage or Counting(), cache)
    metadata = reader.metadata(table.metadata_location)
    return [reader.read(metadata, snapshot, Want(shape=True)) for snapshot in metadata.ordered]


def reads(table: MetadataTable, cache: ManifestCache) -> int:
    storage = Counting()
    readings(table, cache, storage)
    return len(storage.manifests)


def test_a_manifest_is_read_once_and_one_new_commit_costs_its_own(table: MetadataTable, tmp_path: Path) -> None:
    cache = ManifestCache(tmp_path / "cache")
    first = reads(table, cache)
    assert first == len({m.path for manifests in table.manifests.values() for m in manifests})
    assert reads(table, cache) == 0
    assert reads(table, ManifestCache(tmp_path / "cache")) == 0
    table.append(table.file("asia"))
    assert reads(table, ManifestCache(tmp_path / "cache")) == 1


def test_rows_are_the_same_without_a_cache_with_a_new_one_and_with_a_filled_one(
    table: MetadataTable, tmp_path: Path
) -> None:
    plain = readings(table, ManifestCache())
    assert [reading.tier for reading in plain] == ["entries"] * len(plain)
    for _ in range(2):
        assert readings(table, ManifestCache(tmp_path / "cache")) == plain
    assert readings(table, ManifestCache(tmp_path / "cache", memory_bytes=1)) == plain


def files_of(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.sqlite"))


def truncated(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def garbage(file: Path) -> None:
    file.write_bytes(b"not a database" * 1_000)


def emptied(file: Path) -> None:
    file.write_bytes(b"")


def other_tables(file: Path) -> None:
    file.unlink()
    with sqlite3.connect(file) as connection:
        connection.execute("create table sums (something integer)")


def changed_values(file: Path) -> None:
    with sqlite3.connect(file) as connection:
        connection.execute("update sums set value = zeroblob(length(value))")
        connection.execute("update files set value = 'text'")


def swapped_values(file: Path) -> None:
    with sqlite3.connect(file) as connection:
        (value,) = connection.execute("select value from sums limit 1").fetchone()
        connection.execute("update sums set value = ?", (value,))


def a_folder_instead(file: Path) -> None:
    file.unlink()
    file.mkdir()


def overwritten_pages(file: Path) -> None:
    content = bytearray(file.read_bytes())
    for at in range(4_096, len(content), 4_096):
        content[at : at + 64] = b"\xff" * 64
    file.write_bytes(content)


FAULTS = [
    *(truncated, garbage, emptied, other_tables, changed_values, swapped_values),
    *(a_folder_instead, overwritten_pages),
]


@pytest.mark.parametrize("spoil", FAULTS, ids=lambda spoil: spoil.__name__)
def test_a_damaged_file_is_treated_as_empty(
    table: MetadataTable, tmp_path: Path, spoil: Callable[[Path], None]
) -> None:
    folder = tmp_path / "cache"
    plain = readings(table, ManifestCache(folder))
    (file,) = files_of(folder)
    spoil(file)
    assert readings(table, ManifestCache(folder)) == plain
    assert readings(table, ManifestCache(folder)) == plain
    if spoil is not a_folder_instead:
        assert reads(table, ManifestCache(folder)) == 0


def test_a_locked_file_is_skipped(table: MetadataTable, tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    plain = readings(table, ManifestCache(folder))
    (file,) = files_of(folder)
    table.append(table.file("asia"))
    with sqlite3.connect(file, isolation_level=None) as holder:
        holder.execute("begin immediate")
        assert readings(table, ManifestCache(folder))[: len(plain)] == plain
        holder.execute("rollback")
    assert files_of(folder) == [file]


def test_a_folder_that_cannot_be_created_is_not_an_error(table: MetadataTable, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert readings(table, ManifestCache(tmp_path / "file" / "cache")) == readings(table, ManifestCache())


def test_several_concurrent_readers_return_the_same(table: MetadataTable, tmp_path: Path) -> None:
    plain = readings(table, ManifestCache())
    shared = ManifestCache(tmp_path / "cache")

    def once(number: int) -> list[Reading]:
        return readings(table, shared if number % 2 else ManifestCache(tmp_path / "cache"))

    with ThreadPoolExecutor(6) as pool:
        assert all(found == plain for found in pool.map(once, range(12)))
    assert reads(table, ManifestCache(tmp_path / "cache")) == 0


def test_sums_read_before_storage_failed_are_kept(tmp_path: Path) -> None:
    table = MetadataTable(tmp_path / "orders")
    for _ in range(40):
        table.append(table.file("eu"))
    folder, storage = tmp_path / "cache", Counting()
    storage.down = lambda count: count >= 35
    reader = IcebergReader(storage, ManifestCache(folder))
    metadata = reader.metadata(table.metadata_location)
    with pytest.raises(SourceUnavailable):
        reader.read(metadata, metadata.ordered[-1], Want())
    assert reads(table, ManifestCache(folder)) <= 8


def test_another_target_has_its_own_small_files(table: MetadataTable, tmp_path: Path) -> None:
    def small() -> int | None:
        content = readings(table, ManifestCache(tmp_path / "cache"))[-1].content
        return content.totals.small_files if content else None

    assert small() == 10
    table.set_property("write.target-file-size-bytes", "1004")
    assert small() == 0
    table.set_property("write.target-file-size-bytes", "nonsense")
    assert small() is None
    table.set_property("write.target-file-size-bytes", "1340")
    assert small() == sum(file.size < 1_005 for file in table.files()) < 10


def test_a_copy_that_claims_the_tables_identity_shares_nothing(table: MetadataTable, tmp_path: Path) -> None:
    cache = ManifestCache(tmp_path / "cache")
    readings(table, cache)
    copied = tmp_path / "evil"
    shutil.copytree(table.folder / "metadata", copied / "metadata")
    location = table.metadata_location.replace("/orders/", "/evil/")
    storage = Counting()
    reader = IcebergReader(storage, cache)
    reader.read(metadata := reader.metadata(location), metadata.ordered[-1], Want())
    assert storage.manifests


def test_manifests_that_no_longer_occur_are_pruned(tmp_path: Path) -> None:
    table, folder = MetadataTable(tmp_path / "orders"), tmp_path / "cache"
    for _ in range(100):
        table.append(table.file("eu"))
    readings(table, ManifestCache(folder))
    table.rewrite_manifests()
    (file,) = files_of(folder)
    readings(table, ManifestCache(folder))
    reader = IcebergReader(Counting(), ManifestCache(folder))
    metadata = reader.metadata(table.metadata_location)
    table.append(table.file("eu"))
    metadata = reader.metadata(table.metadata_location)
    reader.read(metadata, metadata.ordered[-1], Want())
    with sqlite3.connect(file) as connection:
        (count,) = connection.execute("select count(*) from sums").fetchone()
    assert count <= 4


def test_the_oldest_files_go_when_the_folder_is_over_its_budget(tmp_path: Path) -> None:
    for number in range(4):
        file = tmp_path / f"{number}.sqlite"
        CacheFile(file).put({"sums": {b"k": b"v" * 50_000}, "files": {}})
    size = file.stat().st_size
    for number in (2, 0, 3, 1):
        os.utime(tmp_path / f"{number}.sqlite", (1_000 + number, 1_000 + number))
    trim(tmp_path, 2 * size)
    assert [path.name for path in files_of(tmp_path)] == ["2.sqlite", "3.sqlite"]


def test_damage_is_reported_with_each_of_its_codes(table: MetadataTable, tmp_path: Path) -> None:
    head = table.manifests[table.head() or 0]
    path_of(head[0].path).unlink()
    path_of(head[1].path).write_bytes(b"Obj\x01")
    cache: Any = ManifestCache(tmp_path / "cache")
    (reading,) = readings(table, cache)[-1:]
    assert reading.tier == "manifest_list"
    assert set(reading.problems) == {"manifest_missing", "manifest_unreadable"}
    assert reading.manifests


def test_the_least_recently_read_tables_are_evicted(tmp_path: Path) -> None:
    tables = [MetadataTable(tmp_path / str(number), seed=number) for number in range(4)]
    for made in tables:
        made.append(made.file("eu"))
    cache = ManifestCache(memory_bytes=20_000)
    first = [readings(made, cache) for made in tables]
    assert reads(tables[-1], cache) == 0
    assert reads(tables[0], cache) == 1
    assert [readings(made, cache) for made in tables] == first


def test_a_manifest_that_vanished_after_it_was_cached_is_missing_only_for_the_shape(tmp_path: Path) -> None:
    table, cache = MetadataTable(tmp_path / "orders"), ManifestCache(tmp_path / "cache")
    table.append(table.file("eu"))
    table.append(table.file("us"))
    whole = readings(table, cache)[-1]
    path_of(table.manifests[table.head() or 0][0].path).unlink()
    with sqlite3.connect(files_of(tmp_path / "cache")[0]) as connection:
        connection.execute("delete from files")
    partly = readings(table, ManifestCache(tmp_path / "cache"))[-1]
    assert (partly.tier, partly.problems, partly.notes) == ("entries", (), ("manifest_missing",))
    assert partly.content
    assert whole.content
    assert partly.content.totals == whole.content.totals


def test_inline_manifests_of_version_1_know_their_spec(tmp_path: Path) -> None:
    table = MetadataTable(tmp_path, version=1, inline_manifests=True)
    table.append(table.file("eu"))
    table.set_spec((Field(2, "region"), Field(1, "id_bucket", "bucket[4]", "int")))
    table.append(table.file("eu", 3))
    content = readings(table, ManifestCache())[-1].content
    assert content
    assert content.partitions
    assert set(content.partitions.states) == {(0, "region=eu"), (1, "region=eu/id_bucket=3")}
