"""The measured tasks, each run in a separate process: `python bench/tasks.py NAME ARGUMENT…` prints one JSON object.

Imports are inside the tasks, so that no task pays for another's libraries. CPU seconds are those of all threads.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import advise_tasks
import backfill_tasks
import findings_tasks
import forecast_site_tasks
import forecast_tasks
import held_tasks
import serving_tasks
import upkeep_tasks

REPEATS = 7
DECODES = 70


class Clock:
    """Measures the code inside `with clock:`, which may run several times."""

    def __init__(self) -> None:
        self.cpu: list[float] = []
        self.wall: list[float] = []

    @contextlib.contextmanager
    def __call__(self) -> Iterator[None]:
        cpu, wall = time.process_time(), time.perf_counter()
        yield
        self.cpu.append(time.process_time() - cpu)
        self.wall.append(time.perf_counter() - wall)


def decode_ours(clock: Clock, path: str) -> int:
    from limnograph.adapters.iceberg.manifests.manifest import decode_manifest
    from limnograph.domain.metadata.manifests import ManifestFile

    content, found = Path(path).read_bytes(), None
    # As long as the peer runs: a burst of other load must not cover all of our runs and few of the peer's.
    for _ in range(DECODES):
        with clock():
            found = decode_manifest(content, ManifestFile(path=path), bounds_of=None)
    return len(found.status) if found else 0


def decode_fastavro(clock: Clock, path: str) -> int:
    import fastavro

    content, count = Path(path).read_bytes(), 0
    for _ in range(3):
        with clock():
            count = sum(1 for _ in fastavro.reader(io.BytesIO(content)))
    return count


def metadata_ours(clock: Clock, path: str, repeats: str) -> int:
    from limnograph.adapters.iceberg.metadata.metadata import parse_metadata

    content, found = Path(path).read_bytes(), None
    for _ in range(int(repeats)):
        found = None
        with clock():
            found = parse_metadata(content, path)
    return len(found.snapshots) if found else 0


def metadata_pyiceberg(clock: Clock, path: str) -> int:
    from pyiceberg.table.metadata import TableMetadataUtil

    text, found = Path(path).read_text(), None
    for _ in range(3):
        with clock():
            found = TableMetadataUtil.parse_raw(text)
    return len(found.snapshots) if found else 0


def gzip_bomb(clock: Clock, path: str) -> str:
    from limnograph.adapters.iceberg.metadata.metadata import parse_metadata
    from limnograph.domain.errors import MetadataError

    content = Path(path).read_bytes()
    with clock():
        try:
            parse_metadata(content, path)
        except MetadataError as error:
            return error.code
    return "accepted"


def full_ours(clock: Clock, location: str) -> int:
    from limnograph.adapters.iceberg.reader import IcebergReader
    from limnograph.adapters.storage.files import FileStorage
    from limnograph.domain.metadata.content import Want

    reader = IcebergReader(FileStorage())
    with clock():
        metadata = reader.metadata(location)
        reading = reader.read(metadata, metadata.ordered[-1], Want())
    return reading.content.totals.data_files or 0 if reading.content else 0


def full_columns(clock: Clock, location: str, columns: str) -> int:
    """As `full_ours`; `columns` `yes`: with statistics of columns. The value: columns that have bounds."""
    from limnograph.adapters.iceberg.reader import IcebergReader
    from limnograph.adapters.storage.files import FileStorage
    from limnograph.domain.metadata.content import Want
    from limnograph.domain.metadata.due import ColumnChoice
    from limnograph.services.extraction.column_choice import wanted_columns

    reader = IcebergReader(FileStorage())
    with clock():
        metadata = reader.metadata(location)
        (snapshot,) = metadata.ordered
        wanted = wanted_columns(metadata, snapshot, ColumnChoice()) if columns == "yes" else ()
        reading = reader.read(metadata, snapshot, Want(columns=wanted))
    return sum(stat.lower is not None for stat in reading.columns or ())


def full_pyiceberg(clock: Clock, location: str) -> int:
    from pyiceberg.table import StaticTable

    table = StaticTable.from_metadata(location)
    with clock():
        return table.inspect.files().num_rows  # type: ignore[no-any-return]


def one_new_ours(clock: Clock, cache: str, before: str, *after: str) -> int:
    """The state of all earlier snapshots is cached; then commits arrive one after the other."""
    from limnograph.adapters.iceberg.reader import IcebergReader
    from limnograph.adapters.iceberg.sums.cache import shared_cache
    from limnograph.adapters.storage.files import FileStorage
    from limnograph.domain.metadata.content import Want

    reader = IcebergReader(FileStorage(), shared_cache(cache))
    metadata = reader.metadata(before)
    reader.read(metadata, metadata.ordered[-1], Want())
    files = 0
    for location in after:
        with clock():
            metadata = reader.metadata(location)
            reading = reader.read(metadata, metadata.snapshots[metadata.head_id or 0], Want(changed_only=True))
        files = reading.content.totals.data_files or 0 if reading.content else 0
    return files


def all_manifests_pyiceberg(clock: Clock, location: str) -> int:
    from pyiceberg.table import StaticTable

    table = StaticTable.from_metadata(location)
    with clock():
        return table.inspect.all_manifests().num_rows  # type: ignore[no-any-return]


def idle_ours(clock: Clock, folder: str) -> int:
    """A pass in which no pointer has moved."""
    from limnograph.settings import parse
    from limnograph.wiring.observe import SettingsLake

    uri = f"sqlite:///{folder}/catalog.db"
    lake = SettingsLake(
        parse({"catalogs": {"lake": {"type": "sql", "uri": uri, "warehouse": f"file://{folder}"}}}, Path(folder))
    )
    known = {pointer.name: pointer.location for pointer in lake.listing().pointers}
    for _ in range(REPEATS):
        with clock():
            moved = [p for p in lake.listing().pointers if known.get(p.name) != p.location]
        if moved:
            raise SystemExit("a pointer moved by itself")
    return len(known)


def idle_pyiceberg(clock: Clock, folder: str, tables: str) -> int:
    from pyiceberg.catalog.sql import SqlCatalog

    catalog = SqlCatalog("lake", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"file://{folder}")
    with clock():
        for number in range(int(tables)):
            catalog.load_table(f"sales.t{number:05d}")
    return int(tables)


TASKS: dict[str, Callable[..., Any]] = (
    {
        task.__name__: task
        for task in (
            *(
                decode_ours,
                decode_fastavro,
                metadata_ours,
                metadata_pyiceberg,
                gzip_bomb,
                full_ours,
                full_columns,
                full_pyiceberg,
            ),
            *(one_new_ours, all_manifests_pyiceberg, idle_ours, idle_pyiceberg),
        )
    }
    | upkeep_tasks.TASKS
    | backfill_tasks.TASKS
    | serving_tasks.TASKS
    | findings_tasks.TASKS
    | held_tasks.TASKS
    | advise_tasks.TASKS
    | forecast_tasks.TASKS
    | forecast_site_tasks.TASKS
)


def peak_mb() -> float:
    """Peak memory of this process. `ru_maxrss` would include the process that started it."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(found[1]) / 1024 if found else 0.0


def main(name: str, *arguments: str) -> None:
    """Run one task and print its cost: the best run's CPU time, the median wall time, the peak memory."""
    clock = Clock()
    value = TASKS[name](clock, *arguments)
    print(
        json.dumps(
            {
                "value": value,
                "cpu_s": min(clock.cpu),
                "wall_s": statistics.median(clock.wall),
                "peak_mb": peak_mb(),
            }
        )
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
