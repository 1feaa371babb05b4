"""The loss of catalog and bucket: a backup of both, and a second place that is made of nothing but the backup."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lakehouse.drill import move
from lakehouse.parts import database, programs, start
from lakehouse.parts.places import BUCKET, CHECKOUT, SECRET, Places
from limnograph.demo.processes.children import ChildProcesses, Program, answers
from limnograph.domain.errors import EnvironmentFault

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog

DUMP = "catalog.dump"
MOVED_S = 300.0


class LakeBackup(NamedTuple):
    """`dumped_at`: epoch seconds; commits after it are not in the dump. `seconds`: for dump and copy."""

    dumped_at: float
    seconds: float
    dump_bytes: int
    objects: int


def back_up(places: Places) -> LakeBackup:
    """The catalog first, then the objects: then the copy has every file that the dump names."""
    begun, dumped_at = time.monotonic(), time.time()
    dump = places.backup / DUMP
    _run("pg_dump", places, "-Fc", "-f", str(dump), "catalog")
    copy = places.backup / "objects" / BUCKET
    shutil.copytree(places.objects / BUCKET, copy, dirs_exist_ok=True)
    objects = sum(1 for path in copy.rglob("*") if path.is_file())
    return LakeBackup(dumped_at, time.monotonic() - begun, dump.stat().st_size, objects)


def restore(places: Places, children: ChildProcesses) -> Catalog:
    """A second database, object store and REST catalog, of the backup alone. Raises EnvironmentFault."""
    from pyiceberg.catalog import load_catalog

    second = places.standing_by()
    database.create_databases(places, "standby")
    _run("pg_restore", places, "-d", "standby", str(places.backup / DUMP))
    store = children.start(programs.store(second)._replace(name="standby-store"))
    catalog = children.start(programs.catalog(second, name="standby-catalog", database="standby"))
    children.wait_until(store, lambda: start.speaks(second.store), start.READY_S)
    children.wait_until(catalog, lambda: answers(f"{second.catalog}/v1/config"), start.READY_S)
    return load_catalog("standby", **second.iceberg())


def move_tables(places: Places, children: ChildProcesses, tables: Sequence[str]) -> list[dict[str, Any]]:
    """Tables of the lake at the second place, which `restore` made, under other paths. Raises EnvironmentFault."""
    move.ensure_installed()
    paths = (str(CHECKOUT / "examples"), str(CHECKOUT / "backend"), os.environ.get("PYTHONPATH", ""))
    given = ["--dir", str(places.root), "--ports", json.dumps(places.ports._asdict()), *tables]
    command = [sys.executable, "-m", "lakehouse.drill.move", *given]
    # Its bucket; the object store takes each folder for one.
    (places.standing_by().objects / move.ELSEWHERE).mkdir(parents=True, exist_ok=True)
    child = children.start(Program("move", command, {"PYTHONPATH": os.pathsep.join(filter(None, paths))}))
    begun = time.monotonic()
    while child.exit_code is None and time.monotonic() - begun < MOVED_S:
        time.sleep(0.1)
    if child.exit_code != 0:
        raise EnvironmentFault(f"move ended with {child.exit_code} within {MOVED_S:.0f} s; see {child.log}")
    return [json.loads(line) for line in child.log.read_text().splitlines() if line.startswith("{")]


def counts(catalog: Catalog, tables: Sequence[str]) -> dict[str, int]:
    """Rows by table, counted in the files."""
    return {table: catalog.load_table(table.removeprefix("lake.")).scan().count() for table in tables}


def newest_commit(catalog: Catalog, tables: Sequence[str]) -> float:
    """Epoch seconds of the newest commit."""
    loaded = [catalog.load_table(table.removeprefix("lake.")) for table in tables]
    return max(table.metadata.last_updated_ms for table in loaded) / 1000


def _run(name: str, places: Places, *more: str) -> None:
    given = ["-h", "127.0.0.1", "-p", str(places.ports.postgres), "-U", "lake"]
    environment = {**os.environ, "PGPASSWORD": SECRET}
    command = [database.program(name), *given, *more]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise EnvironmentFault(f"{Path(command[0]).name}: {done.stderr.strip()[-300:]}")
