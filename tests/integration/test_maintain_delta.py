"""The executor on real Delta tables: read and verified in the child process, changed by deltalake, without Spark."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from limnograph.adapters.delta.maintenance.store import DeltaPlace
from limnograph.adapters.storage.files import FileStorage
from limnograph.domain.advice.prices import Prices
from limnograph.domain.ids import TableName
from limnograph.ports.catalog import TablePointer
from limnograph.ports.lake import LakeListing
from limnograph.services.maintenance.planning import MaintenancePlanner
from limnograph.settings import parse
from limnograph.wiring.on_request.advice import AdvisedTables
from limnograph.wiring.on_request.evidence import EvidencedTables
from maintained_lake import MaintainedLake, policy, rule

deltalake = pytest.importorskip("deltalake")
EVENTS = TableName("files", "landing", "events")


def test_a_delta_table_is_compacted_and_verified(tmp_path: Path) -> None:
    from limnograph.adapters.delta.log import newest_version
    from limnograph.adapters.delta.maintenance.maintainer import DeltaMaintainer
    from limnograph.adapters.system_clock import SystemClock

    folder = tmp_path / "events"
    for number in range(4):
        rows = pa.table({"id": [number, number + 10], "day": ["a", "b"]})
        deltalake.write_deltalake(str(folder), rows, mode="append", partition_by=["day"])
    path = {"format": "delta", "name": "landing.events", "location": str(folder)}
    catalog = {"type": "sql", "uri": f"sqlite:///{tmp_path}/c.db", "warehouse": f"file://{tmp_path}"}
    settings = parse({"catalogs": {"lake": catalog}, "observe": {"paths": [path]}}, tmp_path)
    lake, maintainer = MaintainedLake(tmp_path), DeltaMaintainer(lambda _name: DeltaPlace(str(folder)))
    clock = SystemClock()
    lake.states.now = clock.now
    chosen = policy("auto", rule(tables="files.**", quiet_us=0))
    knowledge = lake.knowledge()
    executor = lake.executor(
        chosen,
        maintainer=maintainer,
        planner=MaintenancePlanner(maintainer, AdvisedTables(settings), chosen, knowledge, Prices()),
        evidence=EvidencedTables(settings),
        listing=lambda: LakeListing(
            (TablePointer(EVENTS, "delta", newest_version(str(folder), FileStorage({}))),),
            frozenset({str(EVENTS)}),
            frozenset({"files"}),
        ),
        clock=clock,
    )
    report = executor.round()
    assert report.troubles == []
    (done,) = (each for each in report.plans if each.rule == "delta_compact")
    assert (done.state, done.problem, done.files_in, done.files_out) == ("verified", None, 8, 2)
    table = deltalake.DeltaTable(str(folder))
    assert len(table.file_uris()) == 2
    assert sorted(table.to_pyarrow_table()["id"].to_pylist()) == [0, 1, 2, 3, 10, 11, 12, 13]
