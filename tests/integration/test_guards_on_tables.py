"""Guards of the executor on real tables in Spark: what happens without the fact that a guard needs, and with it."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lakes import Lake, path_of
from limnograph.adapters.spark.maintenance.maintainer import SparkMaintainer
from limnograph.analysis.advice.readers import TableRead
from limnograph.domain.advice.prices import Prices
from limnograph.domain.ids import TableName
from limnograph.domain.maintenance.moves import following
from limnograph.domain.time import Micros
from limnograph.ports.catalog import TablePointer
from limnograph.services.advice.saved_times import Savings
from limnograph.services.maintenance.executor import MaintenanceExecutor
from limnograph.services.maintenance.known import LakeKnowledge, RecordedFacts
from limnograph.services.maintenance.neighbours import NeighbourFolders
from limnograph.services.maintenance.planning import MaintenancePlanner
from maintain_site import POLICY, MaintainSite
from maintained_lake import LocalReader, LocalTables

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
OLD_DAYS = 9


def only(action: str) -> str:
    """The policy for one action."""
    return POLICY.replace('name = "all"', f'name = "all"\nactions = ["{action}"]')


def executor(
    site: MaintainSite,
    spark: SparkSession,
    names: Sequence[str],
    reads: Mapping[str, Sequence[TableRead]] | None = None,
) -> MaintenanceExecutor:
    """An executor that knows of these tables, and of reads by uuid; it parses in this process."""
    pointers = [
        TablePointer(TableName(site.lake.name, site.namespace, name), "iceberg", site.load(name).metadata_location)
        for name in names
    ]
    knowledge = LakeKnowledge(pointers, RecordedFacts(reads or {}, {}, Savings(), ()), lambda _name: (), complete=True)
    maintainer, reader, chosen = SparkMaintainer(spark, site.folder / "kept"), LocalReader(), site.settings.policy
    return site.executor(
        spark,
        maintainer=maintainer,
        planner=MaintenancePlanner(maintainer, reader, chosen, knowledge, prices=Prices()),
        evidence=reader,
        knowledge=knowledge,
        neighbours=NeighbourFolders(LocalTables(), reader),
    )


def drain(spark: SparkSession, table: str, checkpoint: Path) -> None:
    """Let a stream read all that is new, and end."""
    reader = spark.readStream.option("streaming-skip-delete-snapshots", "true").table(table)
    writer = reader.writeStream.format("noop").option("checkpointLocation", str(checkpoint))
    writer.trigger(availableNow=True).start().awaitTermination()


def test_h2_a_stream_continues_from_the_snapshot_that_it_read_last(
    spark: SparkSession, shared_lake: Lake, tmp_path: Path
) -> None:
    site = MaintainSite(tmp_path, shared_lake, policy=only("expire"))
    table = f"shared.{site.namespace}.orders"
    site.table("orders", files=2).delete("id < 3")  # an old snapshot holds a file
    offset = site.load("orders").metadata.current_snapshot_id or 0
    drain(spark, table, tmp_path / "reported")
    shutil.copytree(tmp_path / "reported", tmp_path / "unseen")
    for number in (5, 6):
        site.append("orders", [number])
    site.age("orders", OLD_DAYS)
    read = TableRead("ingest", offset, Micros(time.time_ns() // 1_000))
    executor(site, spark, ["orders"], {str(site.load("orders").metadata.table_uuid): [read]}).round()
    assert [fact.state for fact in site.states.plans()] == ["proposed"]
    drain(spark, table, tmp_path / "reported")
    executor(site, spark, ["orders"]).round()
    assert [fact.state for fact in site.states.plans()] == ["verified"]
    with pytest.raises(Exception, match="expired"):
        drain(spark, table, tmp_path / "unseen")


def test_h7_files_that_another_table_imported_from_the_folder_stay(
    spark: SparkSession, shared_lake: Lake, tmp_path: Path
) -> None:
    site = MaintainSite(tmp_path, shared_lake, policy=only("orphans"))
    outer, guest = site.table("outer", files=2), site.table("guest", files=1)
    file = path_of(outer.location()) / "data" / "imported.parquet"
    pq.write_table(pa.table({"id": pa.array([7], pa.int64()), "region": ["eu"]}), file)
    os.utime(file, (time.time() - OLD_DAYS * 86_400,) * 2)
    maintainer = SparkMaintainer(spark, site.folder / "kept")
    opened = maintainer.open(TableName("shared", site.namespace, "outer"))
    assert [each.location for each in maintainer.unreferenced(opened, time.time_ns() // 1_000_000)] == [
        f"file://{file}"
    ]
    guest.add_files([f"file://{file}"])
    executor(site, spark, ["outer", "guest"]).round()
    assert site.rows("guest") == [0, 1, 2, 7]
    assert site.missing("guest") == []
    (fact,) = site.states.plans()
    assert fact.state == "proposed"
    site.lake.catalog.drop_table(f"{site.namespace}.guest")
    executor(site, spark, ["outer"]).round()
    assert not file.exists(), "without the other table, it is an unreferenced file"


def test_a_table_that_was_swapped_between_approval_and_run_is_left_alone(
    spark: SparkSession, shared_lake: Lake, tmp_path: Path
) -> None:
    site = MaintainSite(tmp_path, shared_lake, mode="approve", policy=only("compact"))
    old = site.table("orders", files=5)
    executor(site, spark, ["orders"]).round()
    (fact,) = site.states.plans({"proposed"})
    site.states.record([following(fact, "approved", "ann")])
    site.lake.catalog.drop_table(f"{site.namespace}.orders")
    shutil.rmtree(path_of(old.location()))
    new = site.table("orders", files=5)
    assert new.metadata.table_uuid != old.metadata.table_uuid
    executor(site, spark, ["orders"]).round()
    last = site.states.plan(fact.plan_id)
    assert last is not None
    assert (last.state, last.problem) == ("superseded", "another_table")
    assert site.stamps("orders") == {}
    assert [each.state for each in site.states.plans() if each.plan_id != fact.plan_id] == ["proposed"]
