"""Tables at a second place with other paths: `rewrite_table_path` of Iceberg 1.12, a copy of the files, a registration.

A program of its own, because one JVM has one Iceberg. It prints a line of JSON for each table.
"""

from __future__ import annotations

import argparse
import csv
import json
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lakehouse.parts.lake import Lake
from lakehouse.parts.places import BUCKET, TOOLS, Places, Ports
from lakehouse.parts.spark import catalog, start_session
from limnograph.domain.errors import EnvironmentFault

ICEBERG = TOOLS / "drill" / "iceberg"
ELSEWHERE = "second-place"
"""The bucket there."""
STAGED = "moved"
FAR = "far"
MEMORY = "500m"


def ensure_installed() -> None:
    """Raises EnvironmentFault with the remedy if the jars are missing."""
    if not ICEBERG.exists():
        raise EnvironmentFault(f"{ICEBERG} is missing; run `make stack-drill`, which installs it once")


def move(lake: Lake, second: Places, table: str) -> dict[str, Any]:
    """Rewrite the paths of a table, copy its files as a bucket's replication would, and register it there."""
    begun = time.monotonic()
    _, namespace, name = table.split(".")
    source = f"s3://{BUCKET}/warehouse/{namespace}/{name}"
    target = f"s3://{ELSEWHERE}/{namespace}/{name}"
    there = f"{FAR}.{STAGED}.{name}"
    (row,) = lake.sql(
        f"call lake.system.rewrite_table_path(table => '{namespace}.{name}', source_prefix => '{source}',"
        f" target_prefix => '{target}', staging_location => 's3://{BUCKET}/{STAGED}/{name}/')"
    )
    files = list(_copied(lake.places, second, row["file_list_location"]))
    lake.sql(f"create namespace if not exists {FAR}.{STAGED}")
    version = row["latest_version"]
    lake.sql(f"call {FAR}.system.register_table('{STAGED}.{name}', '{target}/metadata/{version}')")
    content = "select count(*), cast(sum(cast(xxhash64(*) as decimal(38, 0))) as string) from {}"
    paths = {str(each[0]) for each in lake.sql(f"select file_path from {there}.all_files")}
    return {
        "table": table,
        "here": list(lake.sql(content.format(table))[0]),
        "there": list(lake.sql(content.format(there))[0]),
        "snapshots": [lake.one(f"select count(*) from {each}.snapshots") for each in (table, there)],
        "delete_files": lake.one(f"select count(*) from {there}.delete_files"),
        "files_copied": len(files),
        "files_elsewhere": sum(not path.startswith(f"s3://{ELSEWHERE}/") for path in paths),
        "seconds": round(time.monotonic() - begun, 1),
    }


def _copied(here: Places, there: Places, listed: str) -> Iterator[Path]:
    """Copy what a list of `from,to` names; objects are plain files."""
    with _object(here, listed).open() as lines:
        for source, target in csv.reader(lines):
            into = _object(there, target)
            into.parent.mkdir(parents=True, exist_ok=True)
            yield Path(shutil.copyfile(_object(here, source), into))


def _object(places: Places, uri: str) -> Path:
    return places.objects / uri.removeprefix("s3://")


def main() -> int:
    """Exit 0 when every table is there."""
    parser = argparse.ArgumentParser(prog="lakehouse move", description=__doc__)
    parser.add_argument("--dir", type=Path, required=True, help="folder of the lakehouse")
    parser.add_argument("--ports", type=json.loads, required=True, help="its ports, JSON")
    parser.add_argument("tables", nargs="+", help="catalog.namespace.table")
    arguments = parser.parse_args()
    places = Places(arguments.dir, Ports(**arguments.ports))
    second = places.standing_by()
    spark = start_session(places, "lakehouse.drill", MEMORY, iceberg=ICEBERG)
    try:
        for key, value in catalog(FAR, second.catalog, second.store).items():
            spark.conf.set(key, value)
        lake = Lake(places, spark)
        jvm: Any = spark._jvm  # noqa: SLF001 - PySpark has no other way to Iceberg's own version
        for table in arguments.tables:
            sys.stdout.write(
                json.dumps({"iceberg": jvm.org.apache.iceberg.IcebergBuild.version(), **move(lake, second, table)})
            )
            sys.stdout.write("\n")
    finally:
        spark.stop()
        shutil.rmtree(places.objects / BUCKET / STAGED, ignore_errors=True)  # a third copy of what may be erased
    return 0


if __name__ == "__main__":
    sys.exit(main())
