"""Disks that are really full (a small tmpfs): the cache's fails nothing, all others a sentence that names the place,
and when there is room again everything is there once.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from exactness import Exactness
from lakes import FixedClock, Lake, due_of, placeholders, rows
from limnograph.adapters.iceberg.reader import IcebergReader
from limnograph.adapters.iceberg.sums.cache import ManifestCache
from limnograph.adapters.inbox.store import SqlInbox
from limnograph.adapters.spark.catalogs import spark_catalog
from limnograph.adapters.spark.checkpoint import fresh_checkpoint
from limnograph.adapters.storage.files import FileStorage
from limnograph.domain.errors import SourceError
from limnograph.domain.failpoints import Failpoints
from limnograph.ports.inbox import InboxItem
from limnograph.services.extraction.extract import extract
from limnograph.settings import parse
from limnograph.wiring import pipeline

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Disk:
    """A file system of its own, of a few megabytes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def fill(self) -> None:
        """Until nothing goes in any more."""
        with (self.folder / "filler").open("wb", buffering=0) as file:
            try:
                while file.write(b"\0" * 4096):
                    pass
            except OSError:
                pass

    def free(self) -> None:
        (self.folder / "filler").unlink()


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip(f"a small file system can be mounted by root alone: {mounted.stderr.decode().strip()}")
    try:
        yield Disk(folder)
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_full_cache_fails_nothing(disk: Disk, lake: Lake) -> None:
    table = lake.table()
    placeholders(table, 500)
    (disk.folder / "cache").mkdir()
    disk.fill()

    def read(cache: ManifestCache) -> list[object]:
        found = extract(due_of(lake, "orders"), IcebergReader(FileStorage({}, {}), cache), FixedClock())
        return [(fact.snapshot_id, fact.status, fact.total_data_files, fact.file_size_histogram) for fact in found]

    expected = read(ManifestCache())
    assert read(ManifestCache(disk.folder / "cache")) == expected
    disk.free()
    assert read(ManifestCache(disk.folder / "cache")) == expected


def test_a_full_inbox_refuses_with_its_path_and_accepts_all_once_there_is_room(disk: Disk) -> None:
    inbox = SqlInbox(f"sqlite:///{disk.folder}/inbox.db")
    inbox.put([InboxItem("run", "before", b"{}", 1)])
    disk.fill()
    many = [InboxItem("run", f"r{i}", b"x" * 4096, 2) for i in range(200)]
    with pytest.raises(SourceError, match=f"{disk.folder}/inbox.db"):
        inbox.put(many)
    assert [item.key for item in inbox.items("run")] == ["before"]
    disk.free()
    assert inbox.put(many) == 200


def test_a_stream_on_a_full_disk_has_its_checkpoint_elsewhere(disk: Disk) -> None:
    disk.fill()
    said: list[str] = []
    made = fresh_checkpoint(disk.folder / "state" / "checkpoint", said.append)
    try:
        assert disk.folder not in made.parents
        assert f"{disk.folder}/state/checkpoint" in said[0]
    finally:
        shutil.rmtree(made)


@pytest.mark.spark
def test_a_full_warehouse_fails_the_pass_with_its_path_and_the_next_one_is_exact(
    spark: SparkSession, shared_lake: Lake, disk: Disk, tmp_path: Path
) -> None:
    mark = uuid4().hex[:8]
    meta = Lake(disk.folder, f"full_{mark}")
    for key, value in spark_catalog(meta.name, meta.properties).items():
        spark.conf.set(key, value)
    shared_lake.catalog.create_namespace(f"sales_{mark}")
    table = shared_lake.table(f"sales_{mark}.orders")
    table.append(rows("eu"))
    document = {
        "catalogs": {"shared": shared_lake.properties, meta.name: meta.properties},
        "meta": {"catalog": meta.name},
        "observe": {"include": [f"shared.sales_{mark}.*"]},
    }
    passes = pipeline.passes(parse(document, tmp_path), spark, failpoints=Failpoints())
    assert passes.run().snapshots_appended == 1
    table.append(rows("us"))
    disk.fill()
    with pytest.raises(SourceError, match=str(disk.folder)):
        passes.run()
    disk.free()
    assert passes.run().snapshots_appended in {0, 1}
    exact = Exactness(meta)
    assert exact.doubled() == []
    ids = {
        str(table.metadata.table_uuid): {s.snapshot_id for s in shared_lake.load(f"sales_{mark}.orders").snapshots()}
    }
    assert exact.missing(ids) == []
