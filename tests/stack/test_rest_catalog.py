"""Meta tables and observed tables in a REST catalog (Iceberg's own server), on disk and on S3, by settings alone."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import msgspec
import pytest
from pyiceberg.catalog import load_catalog
from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.exceptions import TableAlreadyExistsError

from lakes import BY_REGION, SCHEMA, FixedClock, rows
from limnograph.adapters.inbox.store import SqlInbox
from limnograph.adapters.meta.loss import REBUILDING, lost_now
from limnograph.adapters.meta.schema import iceberg_schema, partition_spec, sort_order, table_properties
from limnograph.adapters.meta.staged import TableLayout, create_in_rest
from limnograph.adapters.meta.tables import create_meta_table, ensure_meta_tables
from limnograph.domain.errors import SourceRejected
from limnograph.domain.facts.events import RunFact
from limnograph.domain.facts.meta_tables import DAILY, HOURLY, MAINTENANCE, META_TABLES, RUNS, SNAPSHOTS
from limnograph.domain.failpoints import Failpoints
from limnograph.domain.ids import TableName
from limnograph.jobs.housekeeping import run_due_steps
from limnograph.jobs.pipeline import drain_inbox
from limnograph.ports.inbox import InboxItem, item_key
from limnograph.services.rollups.fold import HOUR
from limnograph.settings import Settings, parse
from limnograph.wiring import pipeline
from limnograph.wiring.housekeeping import housekeeping
from s3_endpoint import SECRET

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PLACES = ("disk", "s3")


class World:
    """One catalog by settings: a table to observe, a namespace for the meta tables, an inbox."""

    def __init__(self, name: str, properties: dict[str, str], session: SparkSession, folder: Path) -> None:
        mark = uuid4().hex[:8]
        self.name, self.session, self.sales, self.meta = name, session, f"sales_{mark}", f"meta_{mark}"
        self.catalog = load_catalog(name, **properties)
        assert isinstance(self.catalog, RestCatalog)
        self.catalog.create_namespace(self.sales)
        self.orders = self.catalog.create_table((self.sales, "orders"), SCHEMA, partition_spec=BY_REGION)
        document = {
            "catalogs": {name: properties},
            "meta": {"namespace": self.meta},
            "observe": {"include": [f"{name}.{self.sales}.*"]},
        }
        self.settings: Settings = parse(document, folder)

    def read(self, table: str) -> list[dict[str, Any]]:
        return self.catalog.load_table((self.meta, table)).scan().to_arrow().to_pylist()


@pytest.fixture(params=PLACES)
def world(
    request: pytest.FixtureRequest,
    rest_catalogs: dict[str, dict[str, str]],
    rest_spark: SparkSession,
    tmp_path: Path,
) -> World:
    return World(request.param, rest_catalogs[request.param], rest_spark, tmp_path)


@pytest.mark.parametrize("name", PLACES)
def test_meta_tables_have_the_documented_field_ids_and_are_created_once(
    rest_catalogs: dict[str, dict[str, str]], name: str
) -> None:
    catalog, namespace = load_catalog(name, **rest_catalogs[name]), f"meta_{uuid4().hex[:8]}"
    assert isinstance(catalog, RestCatalog)
    assert ensure_meta_tables(catalog, namespace) == [table.name for table in META_TABLES]
    assert ensure_meta_tables(catalog, namespace) == []
    for table in META_TABLES:
        found = catalog.load_table((namespace, table.name))
        assert found.schema().as_struct() == iceberg_schema(table).as_struct()
        assert [field.source_id for field in found.spec().fields] == [f.source_id for f in partition_spec(table).fields]
        assert found.sort_order().fields == sort_order(table).fields
        assert found.metadata.format_version == 2
        layout = TableLayout(iceberg_schema(table), partition_spec(table), sort_order(table), table_properties())
        with pytest.raises(TableAlreadyExistsError):
            create_in_rest(catalog, (namespace, table.name), layout)
    catalog.drop_table((namespace, RUNS.name))
    with pytest.raises(SourceRejected, match=rf"{namespace}\.runs is missing"):
        ensure_meta_tables(catalog, namespace)
    create_meta_table(catalog, namespace, RUNS, {REBUILDING: "true"})
    assert lost_now(catalog, namespace) == [RUNS.name]


def test_passes_inbox_repairs_and_housekeeping_keep_the_meta_tables(world: World) -> None:
    for _ in range(3):
        world.orders.append(rows("eu", "us"))
    passes = pipeline.passes(world.settings, world.session, failpoints=Failpoints())
    assert passes.run().snapshots_appended == 3
    assert passes.run().snapshots_appended == 0
    kept = {row["snapshot_id"]: row for row in world.read(SNAPSHOTS.name)}
    assert set(kept) == {snapshot.snapshot_id for snapshot in world.orders.refresh().snapshots()}
    assert {(row["status"], row["tier"]) for row in kept.values()} == {("ok", "entries")}

    run = RunFact(run_id="r1", job_name="churn", status="ok", started_at=1, ended_at=2)
    payload = msgspec.json.encode(run)
    SqlInbox(world.settings.inbox_url).put([InboxItem("run", item_key("r1", "ok"), payload, time.time_ns() // 1000)])
    assert drain_inbox(pipeline.drain(world.settings, world.session, failpoints=Failpoints()), print) == ()
    assert [row["run_id"] for row in world.read(RUNS.name)] == ["r1"]

    repaired = pipeline.repairs(world.settings, world.session).reextract(
        TableName(world.name, world.sales, "orders"), None
    )
    assert repaired.snapshots_replaced == 3
    assert len(world.read(SNAPSHOTS.name)) == 3

    clock = FixedClock(time.time_ns() // 1000)
    house = housekeeping(world.settings, world.session, failpoints=Failpoints(), clock=clock)
    done = run_due_steps(house, print)
    for later in (3, 40):  # Iceberg itself refuses to take files of the last real day for orphans
        clock.micros += later * HOUR
        done += run_due_steps(house, print)
    assert [report for report in done if report.problem] == []
    assert {"rollup", "compact", "orphans"} <= {report.kind for report in done}
    assert {row["status"] for row in world.read(MAINTENANCE.name)} == {"ok"}
    for table in (HOURLY, DAILY):
        assert sum(row["commits"] for row in world.read(table.name)) == 3
    assert passes.run().snapshots_appended == 0


def test_no_secret_is_visible_in_the_configuration_that_spark_shows(rest_spark: SparkSession) -> None:
    shown = rest_spark.sql("set -v").collect() + rest_spark.sql("set").collect()
    assert SECRET not in json.dumps([list(row) for row in shown])
