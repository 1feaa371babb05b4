"""Rounds of the executor on real Delta tables: planned, run by deltalake, and confirmed by the log."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from limnograph.adapters.delta.log import newest_version
from limnograph.adapters.delta.maintenance.maintainer import DeltaMaintainer
from limnograph.adapters.delta.maintenance.store import DeltaPlace
from limnograph.adapters.delta.planning.planner import DeltaPlanner
from limnograph.adapters.delta.reader import DeltaReader, SharedCaches
from limnograph.adapters.memory.plan_states import MemoryPlanStates
from limnograph.adapters.storage.files import FileStorage
from limnograph.domain.advice.prices import Prices
from limnograph.domain.advice.reading import AdviceReading
from limnograph.domain.failpoints import Failpoints
from limnograph.domain.ids import TableName
from limnograph.domain.maintenance.evidence import EvidenceRequest, TableEvidence
from limnograph.domain.maintenance.policy import RetainedSnapshots
from limnograph.domain.metadata.due import DueTable
from limnograph.domain.time import Micros, Millis
from limnograph.ports.catalog import TablePointer
from limnograph.ports.lake import LakeListing
from limnograph.services.advice.reading import advice_reading
from limnograph.services.advice.saved_times import Savings
from limnograph.services.maintenance.executor import MaintenanceExecutor
from limnograph.services.maintenance.known import LakeKnowledge, RecordedFacts
from limnograph.services.maintenance.neighbours import NeighbourFolders
from limnograph.services.maintenance.parts import ExecutorParts
from limnograph.services.maintenance.planning import MaintenancePlanner
from limnograph.services.plans.desk import PlanDesk
from maintained_lake import DAY_MS, QUICK, LocalReader, LocalTables, policy, rule

NAME = TableName("files", "landing", "orders")
STORAGE = FileStorage({})


class DeltaSource:
    """Ports AdviceSource and ActionEvidence, in-process."""

    def read(self, due: DueTable, now: Millis, retain: RetainedSnapshots | None = None) -> AdviceReading:
        metadata = DeltaReader(STORAGE, SharedCaches()).metadata(due.metadata_location)
        return advice_reading(metadata, DeltaPlanner(STORAGE), now, retain=retain)

    def evidence(self, due: DueTable, request: EvidenceRequest) -> TableEvidence:
        metadata = DeltaReader(STORAGE, SharedCaches()).metadata(due.metadata_location)
        return DeltaPlanner(STORAGE).evidence(metadata, request)


class DeltaLake:
    """A table with two partitions of three files. All clocks are two days ahead, so that nothing was written lately."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.ahead_us = folder / "orders", 2 * DAY_MS * 1_000
        self.states = MemoryPlanStates(now=self.now)
        self.maintainer = DeltaMaintainer(lambda _name: DeltaPlace(str(self.folder)))
        for number in range(3):
            for region in ("eu", "us"):
                ids = list(range(number * 10, number * 10 + 5))
                table = pa.table({"id": ids, "region": [region] * 5})
                write_deltalake(self.folder, table, mode="append", partition_by=["region"])

    def now(self) -> Micros:
        return Micros(time.time_ns() // 1_000 + self.ahead_us)

    def listing(self) -> LakeListing:
        pointer = TablePointer(NAME, "delta", newest_version(str(self.folder), STORAGE))
        return LakeListing((pointer,), frozenset({str(NAME)}), frozenset({"files"}))

    def round(self) -> list[tuple[str, str]]:
        """Action and state of each plan after a round."""
        chosen, source = policy("auto", rule(tables="files.**")), DeltaSource()
        knowledge = LakeKnowledge(
            self.listing().pointers, RecordedFacts({}, {}, Savings(), ()), lambda _name: (), complete=True
        )
        parts = ExecutorParts(
            policy=chosen,
            states=self.states,
            maintainer=self.maintainer,
            planner=MaintenancePlanner(self.maintainer, source, chosen, knowledge, prices=Prices()),
            evidence=source,
            knowledge=knowledge,
            neighbours=NeighbourFolders(LocalTables(), LocalReader()),
            listing=self.listing,
            clock=self,
            prices=Prices(),
            failpoints=Failpoints(""),
            executor_id="one",
            meta_namespaces=["lake.limnograph"],
            pause=lambda _seconds: None,
            timing=QUICK,
        )
        report = MaintenanceExecutor(parts).round()
        assert report.troubles == []
        return [(fact.action or "", fact.state or "") for fact in reversed(self.states.plans())]

    def rows(self) -> list[int]:
        return sorted(DeltaTable(self.folder).to_pyarrow_table()["id"].to_pylist())


@pytest.fixture
def lake(tmp_path: Path) -> DeltaLake:
    return DeltaLake(tmp_path)


def test_a_delta_table_is_compacted_and_its_log_confirms_it(lake: DeltaLake) -> None:
    before = lake.rows()
    assert lake.round() == [("optimize", "verified")]
    (plan,) = lake.states.plans()
    assert (plan.result_files_in, plan.result_files_out, plan.snapshot_ids) == (6, 2, [6, 7])
    assert len(DeltaTable(lake.folder).file_uris()) == 2
    assert lake.rows() == before
    assert lake.round() == [("optimize", "verified")]


def test_old_files_of_the_log_are_vacuumed_once_a_user_approved_it(lake: DeltaLake) -> None:
    lake.round()
    for file in (lake.folder / "_delta_log").glob("*.json"):
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        for line in lines:
            for part in (line.get("remove"), line.get("commitInfo")):
                for key in ("deletionTimestamp", "timestamp"):
                    if part and key in part:
                        part[key] -= 8 * DAY_MS
        file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    assert lake.round() == [("optimize", "verified"), ("vacuum", "proposed")], "readers of the log are not known"
    plan = lake.states.plans()[0]
    PlanDesk(lake.states, list).approve(plan.plan_id, plan.arguments_sha256 or "", plan.seq, "ann")
    assert lake.round() == [("optimize", "verified"), ("vacuum", "verified")]
    assert len([*lake.folder.rglob("*.parquet")]) == 2
    assert len(lake.rows()) == 30
    assert lake.round() == [("optimize", "verified"), ("vacuum", "verified")]
