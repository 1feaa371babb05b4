"""The contract over the engines that need no server, and what is only theirs."""

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog

from limnograph.adapters.embedded.engine import EmbeddedEngine
from limnograph.adapters.memory.query_engine import MemoryEngine
from limnograph.adapters.meta.schema import arrow_table
from limnograph.domain.errors import SourceUnavailable
from limnograph.domain.facts.meta_tables import SNAPSHOTS
from limnograph.ports.query_engine import MetaQuery
from limnograph.services.lake.loading import snapshot_facts
from query_engine_contract import *  # noqa: F403  # the tests of the contract
from query_engine_contract import BIG, LOG, ROWS, Iceberg, Made


@pytest.fixture(params=["memory", "embedded"])
def made(request, tmp_path) -> Made:
    if request.param == "memory":
        engine = MemoryEngine()
        return Made(engine, engine.append, engine.roll)
    lake = Iceberg(tmp_path)
    return Made(engine_of(lake), lake.fill, lake.roll)


def engine_of(lake: Iceberg) -> EmbeddedEngine:
    return EmbeddedEngine(lake.open, ("limnograph",))


def test_a_column_that_an_old_table_lacks_is_null_and_an_extra_one_is_left_out(tmp_path) -> None:
    lake = Iceberg(tmp_path)
    kept = ["table_uuid", "snapshot_id", "committed_at", "total_data_files"]
    old = arrow_table(SNAPSHOTS, ROWS).select(kept).append_column("of_the_future", pa.array(["x"] * len(ROWS)))
    table = lake.catalog.create_table(
        ("limnograph", "snapshots"), pa.schema([f.with_nullable(True) for f in old.schema])
    )
    table.append(pa.table(old.columns, schema=pa.schema([f.with_nullable(True) for f in old.schema])))
    found = snapshot_facts(engine_of(lake).select(MetaQuery(table="snapshots", snapshot_ids=(BIG,))))
    assert (found[0].total_data_files, found[0].manifests, found[0].summary) == (12, None, None)


def test_a_file_that_vanished_is_planned_again_and_then_reported(tmp_path) -> None:
    lake = Iceberg(tmp_path)
    lake.fill(ROWS, LOG)
    for file in tmp_path.rglob("*.parquet"):
        file.unlink()
    with pytest.raises(SourceUnavailable, match="vanished"):
        engine_of(lake).select(MetaQuery(table="snapshots"))


def test_an_unavailable_catalog_is_a_failed_source(tmp_path) -> None:
    gone = {"uri": f"sqlite:///{tmp_path}/none/catalog.db", "warehouse": f"file://{tmp_path}"}
    with pytest.raises(SourceUnavailable):
        EmbeddedEngine(lambda: SqlCatalog("lake", **gone), ("limnograph",)).head()
