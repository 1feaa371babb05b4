"""`demo --check` over a real pipeline's meta table: equal at first, not after a row was deleted on purpose."""

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from lakes import Lake, rows
from limnograph.adapters.spark.catalogs import spark_catalog
from limnograph.demo.building import VERSION
from limnograph.demo.check.check import compare, stored
from limnograph.demo.check.comparisons import same_totals
from limnograph.demo.check.evidence import SparkEngine, StoredMeta
from limnograph.demo.folder import Folder
from limnograph.demo.progress import Progress
from limnograph.wiring.pipeline import passes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def check(folder: Folder) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "limnograph", "demo", "--check", "--dir", str(folder.root)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.spark
def test_a_meta_row_deleted_on_purpose_makes_the_check_fail(lake: Lake, spark: "SparkSession") -> None:
    for name in ("sales.orders", "ops.events"):
        table = lake.table(name)
        for regions in (("eu",), ("eu", "us"), ("us",)):
            table.append(rows(*regions))
    # `demo --check` wants a catalog named `lake`. No newSession(): Spark refuses a second DataSource of a name there.
    for key, value in spark_catalog("lake", lake.properties).items():
        spark.conf.set(key, value)
    passes(lake.settings(), spark).run()
    folder = Folder(lake.folder)
    folder.mark_built({"version": VERSION})

    assert [one.ok for one in compare(stored(folder), Progress())] == [True, True]
    assert all(one.ok for one in same_totals(StoredMeta(folder.place), SparkEngine(spark)))

    victim = lake.load("sales.orders").metadata.snapshots[1].snapshot_id
    spark.sql(f"delete from lake.limnograph.snapshots where snapshot_id = {victim}")

    done = check(folder)
    assert done.returncode == 1, done.stderr
    summary = json.loads(done.stdout.splitlines()[-1])
    assert summary["ok"] is False
    assert summary["failed"] == ["snapshots of lake.sales.orders"]
    assert "check failed: snapshots of lake.sales.orders: 1 missing" in done.stderr
    assert summary["figures"]["snapshots of lake.sales.orders"]["missing_example"] == str(victim)
