"""Pitfall 10: bytes that cost money each month and that no one reads: cold partitions, history, orphans."""

from __future__ import annotations

import os
from functools import partial

from lakehouse.check.observer import awaited
from lakehouse.check.scenario import ScenarioLog
from lakehouse.check.world import ScenarioWorld
from lakehouse.maintain.history import create_old
from lakehouse.parts.lake import Lake, TableLayout
from lakehouse.parts.places import BUCKET

COLD = TableLayout("lake.lab.old_cold", "id bigint, v string, month int", "month", {})
MONTHS, ROWS = 6, 2_000
OLDEST_H, NEWEST_H = 24.0 * 300, 24.0 * 120
ORPHAN = "warehouse/lab/old_cold/data/month=0/left-behind.parquet"
ORPHAN_BYTES = 5_000
TIERS = {"standard": 23.0, "infrequent access": 12.5, "archive, instant": 4.0}
"""Prices of S3 in thousandths of a dollar per GB and month."""
GB = 2**30


def write_months(lake: Lake, table: str) -> None:
    """A partition a month, of which the last one was written again: its first files are history."""
    for month in (*range(MONTHS), MONTHS - 1):
        rows = lake.spark.range(ROWS).selectExpr("id", "sha2(cast(id as string), 256) as v", f"{month} as month")
        rows.coalesce(1).writeTo(table).overwritePartitions()


class ColdBytes:
    """What Limnograph counts is what the files add up to; each part has its price."""

    def __init__(self, world: ScenarioWorld) -> None:
        self._world = world

    def happen(self, log: ScenarioLog) -> None:
        """A table whose last commit is four months old, and a file that no commit knows."""
        lake = self._world.lake
        create_old(lake, COLD, partial(write_months, lake), OLDEST_H, NEWEST_H)
        orphan = lake.places.objects / BUCKET / ORPHAN
        orphan.write_bytes(b"x" * ORPHAN_BYTES)
        long_ago = orphan.stat().st_mtime - OLDEST_H * 3600
        os.utime(orphan, (long_ago, long_ago))
        found = lake.sql(
            f"call lake.system.remove_orphan_files(table => '{COLD.name.removeprefix('lake.')}', dry_run => true,"
            " prefix_listing => true)"
        )
        names = [str(row[0]).rpartition("/")[2] for row in found]
        log.equal("a dry run finds the orphan, and no other file", names, [ORPHAN.rpartition("/")[2]])

    def observe(self, log: ScenarioLog) -> None:
        """The finding, the bytes and their price."""
        observer, sums = self._world.observer, self._sums()
        found = observer.finding("cold_data", COLD.name)
        log.claim("Limnograph reports cold_data", found)
        evidence = found["evidence"]
        log.equal("of all partitions", evidence["cold_bytes"], sums["live"])
        log.figures["finding"] = {"code": "cold_data", "evidence": evidence}
        page = awaited(lambda: observer.table(COLD.name, "/storage").get("bytes"))
        log.claim("Limnograph has read the storage of the table", page)
        log.equal("live and held bytes are the sums over the files", {name: page[name] for name in sums}, sums)
        log.figures["bytes"] = {**sums, "metadata": page["metadata"], "orphans": ORPHAN_BYTES}
        log.figures["musd_month"] = {
            tier: {name: round(size / GB * price, 6) for name, size in log.figures["bytes"].items()}
            for tier, price in TIERS.items()
        }

    def _sums(self) -> dict[str, int]:
        """Bytes of the current files, and of those that only history has."""
        lake = self._world.lake
        live = lake.one(f"select sum(file_size_in_bytes) from {COLD.name}.files")
        every = lake.one(
            "select sum(bytes) from (select file_path, max(file_size_in_bytes) as bytes"
            f" from {COLD.name}.all_files group by file_path)"
        )
        return {"live": int(live), "held": int(every) - int(live)}
