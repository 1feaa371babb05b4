"""One cache folder under several processes, and under one that is killed while it writes."""

from __future__ import annotations

import hashlib
import multiprocessing
import random
import signal
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from limnograph.adapters.iceberg.reader import IcebergReader
from limnograph.adapters.iceberg.sums.cache import ManifestCache
from limnograph.adapters.iceberg.sums.cache_file import CacheFile
from limnograph.adapters.storage.files import FileStorage
from limnograph.domain.metadata.content import Want
from metadata_writer import MetadataTable

SPAWN = multiprocessing.get_context("spawn")


def digest(folder: str, location: str) -> str:
    """Hash over everything that is said of a table, read with the cache in `folder`."""
    reader = IcebergReader(FileStorage({}), ManifestCache(Path(folder) if folder else None))
    metadata = reader.metadata(location)
    found = [reader.read(metadata, snapshot, Want(shape=True)) for snapshot in metadata.ordered]
    return hashlib.sha256(repr(found).encode()).hexdigest()


def test_processes_that_share_a_folder_return_the_same(tmp_path: Path) -> None:
    table = MetadataTable(tmp_path / "orders")
    for number in range(30):
        table.append(table.file("eu", size=1_000 + number))
    plain = digest("", table.metadata_location)
    with ProcessPoolExecutor(3, SPAWN) as pool:
        found = list(pool.map(digest, [str(tmp_path / "cache")] * 6, [table.metadata_location] * 6))
    assert set(found) == {plain}


def keep_writing(path: str) -> None:
    """Until it is killed."""
    file, rng = CacheFile(Path(path)), random.Random(1)
    while True:
        key = rng.randbytes(16)
        file.put({"sums": {key: key * 500}, "files": {key: key * 3_000}})


def test_a_killed_writer_leaves_a_valid_file(tmp_path: Path) -> None:
    path = tmp_path / "table.sqlite"
    for round_ in range(3):
        writer = SPAWN.Process(target=keep_writing, args=(str(path),))
        writer.start()
        while not path.with_name("table.sqlite-wal").exists():
            assert writer.is_alive()
            time.sleep(0.005)
        time.sleep(0.05 * (round_ + 1))
        writer.kill()
        writer.join()
        assert writer.exitcode == -signal.SIGKILL
        mark = bytes([round_]) * 16
        CacheFile(path).put({"sums": {mark: b"v"}, "files": {}})
        assert CacheFile(path).get("sums", [mark]) == {mark: b"v"}
    assert len(CacheFile(path).get("sums", [bytes([n]) * 16 for n in range(3)])) == 3
