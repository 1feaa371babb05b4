"""What Spark's `expire_snapshots` frees on disk is what `by_age` says, to the byte."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from lakes import Lake, path_of
from limnograph.adapters.iceberg.held.held_bytes import held_bytes
from limnograph.adapters.iceberg.metadata.metadata import parse_metadata
from limnograph.adapters.storage.files import FileStorage
from limnograph.analysis.held import DAY_MS
from limnograph.domain.advice.document import TableBytes
from limnograph.domain.time import Millis

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

ADD = "INSERT INTO {t} SELECT /*+ COALESCE(1) */ id, 'eu', repeat('x', cast(id % 7 as int)) FROM range(50)"
US = "INSERT INTO {t} VALUES (1, 'us', 'a'), (2, 'us', 'b')"
ON_BRANCH = "INSERT INTO {t}.branch_audit VALUES (3, 'ap', 'd')"
OVERWRITE = "INSERT OVERWRITE {t} VALUES (9, 'us', 'c')"
DELETE = "DELETE FROM {t} WHERE id < 10"
COMPACT = "CALL shared.system.rewrite_data_files(table => '{n}', options => map('rewrite-all', 'true'))"
MANIFESTS = "CALL shared.system.rewrite_manifests('{n}')"
DELETES = "CALL shared.system.rewrite_position_delete_files(table => '{n}', options => map('rewrite-all', 'true'))"
STAGE = ("SET spark.wap.id = held", US, "RESET spark.wap.id")
BACK = "CALL shared.system.rollback_to_snapshot('{n}', {first})"
MERGE_ON_READ = {f"write.{what}.mode": "merge-on-read" for what in ("delete", "update", "merge")}
STAGED = {"write.wap.enabled": "true"}
HISTORIES: dict[str, tuple[dict[str, str], tuple[str, ...]]] = {
    "appends": ({}, (ADD, US, ADD)),
    "overwritten": ({}, (ADD, US, OVERWRITE, ADD)),
    "copied": ({}, (ADD, US, DELETE, "UPDATE {t} SET v = 'new' WHERE region = 'us'")),
    "merged": (MERGE_ON_READ, (ADD, US, DELETE, "DELETE FROM {t} WHERE id = 12", DELETES)),
    "compacted": (MERGE_ON_READ, (ADD, ADD, DELETE, COMPACT, ADD)),
    "tagged": ({}, (ADD, "ALTER TABLE {t} CREATE TAG release", OVERWRITE, DELETE, US)),
    "branched": (
        {},
        (ADD, "ALTER TABLE {t} CREATE BRANCH audit", ON_BRANCH, OVERWRITE, ON_BRANCH.replace("INTO", "OVERWRITE")),
    ),
    "returned": ({}, (ADD, DELETE, US, BACK, US)),
    "staged": (STAGED, (ADD, *STAGE, OVERWRITE)),
    "published": (STAGED, (ADD, *STAGE, US, "CALL shared.system.publish_changes('{n}', 'held')", OVERWRITE)),
    "manifests": ({"commit.manifest.min-count-to-merge": "2"}, (ADD, US, ADD, MANIFESTS, DELETE)),
    "old": ({"format-version": "1"}, (ADD, US, OVERWRITE, ADD)),
    "vectors": ({"format-version": "3", **MERGE_ON_READ}, (ADD, US, DELETE, "DELETE FROM {t} WHERE id = 12", COMPACT)),
}


class HeldTable(NamedTuple):
    """A table of the shared session."""

    spark: SparkSession
    lake: Lake
    name: str

    def sql(self, text: str) -> None:
        first = "{first}" in text and self.snapshots()[0][1]
        self.spark.sql(text.format(t=f"shared.{self.name}", n=self.name, first=first))

    def snapshots(self) -> list[tuple[int, int]]:
        """`(time in milliseconds, id)` of the retained snapshots, oldest first."""
        return sorted((s.timestamp_ms, s.snapshot_id) for s in self.lake.load(self.name).snapshots())

    def bytes(self, now: int) -> TableBytes:
        """What the reader says."""
        location = self.lake.load(self.name).metadata_location
        metadata = parse_metadata(path_of(location).read_bytes(), location)
        found = held_bytes(FileStorage({}), metadata, Millis(now))
        assert isinstance(found, TableBytes), found
        return found

    def disk(self) -> dict[str, int]:
        """Bytes of the data and delete files; of a Puffin file, the blobs that manifests name."""
        folder = path_of(self.lake.load(self.name).location()) / "data"
        sizes = {str(p): p.stat().st_size for p in folder.rglob("*") if p.is_file() and p.suffix != ".crc"}
        blobs = self._blobs() if any(path.endswith(".puffin") for path in sizes) else {}
        return sizes | {path: size for path, size in blobs.items() if path in sizes}

    def _blobs(self) -> dict[str, int]:
        query = "SELECT DISTINCT file_path, content_offset, content_size_in_bytes AS size FROM {}.all_delete_files"
        found: dict[str, int] = {}
        for row in self.spark.sql(query.format(f"shared.{self.name}")).collect():
            if row.size is not None:
                path = str(path_of(row.file_path))
                found[path] = found.get(path, 0) + row.size
        return found

    def expire(self, before: int) -> None:
        at = datetime.fromtimestamp(before / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S.%f")
        call = (
            "CALL shared.system.expire_snapshots(table => '{n}', older_than => TIMESTAMP '%s+00:00', retain_last => 1)"
        )
        self.sql(call % at)


@pytest.mark.parametrize("history", HISTORIES)
def test_the_bytes_that_spark_frees_are_those_foretold(spark: SparkSession, shared_lake: Lake, history: str) -> None:
    properties, steps = HISTORIES[history]
    shared_lake.catalog.create_namespace_if_not_exists("held")
    table = HeldTable(spark, shared_lake, f"held.{history}")
    listed = ", ".join(f"'{key}' = '{value}'" for key, value in properties.items())
    table.sql(
        "CREATE TABLE {t} (id bigint, region string, v string) USING iceberg PARTITIONED BY (region)"
        + (f" TBLPROPERTIES ({listed})" if listed else "")
    )
    for step in steps:
        table.sql(step)
    times = [at for at, _ in table.snapshots()]
    assert all(one < other for one, other in pairwise(times))
    freed = 0
    for cut in (times[len(times) // 2], times[-1] + 1):
        foretold = dict(table.bytes(cut + DAY_MS).by_age)[1]
        before = table.disk()
        table.expire(cut)
        gone = {path: size for path, size in before.items() if not Path(path).exists()}
        assert foretold == sum(gone.values())
        left = table.bytes(cut)
        assert left.live + left.held == sum(before.values()) - foretold
        freed += foretold
    assert (freed > 0) == (history != "appends")
    for name, alone in left.by_ref.items():
        table.sql(f"ALTER TABLE {{t}} DROP {'TAG' if name == 'release' else 'BRANCH'} {name}")
        before = table.disk()
        table.expire(times[-1] + 1)
        assert alone == sum(before.values()) - sum(table.disk().values())
