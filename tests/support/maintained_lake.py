"""A lake whose tables are real metadata without Spark, with a maintainer that commits metadata, and an executor."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from lakes import path_of
from limnograph.adapters.iceberg.planning.planner import IcebergPlanner
from limnograph.adapters.iceberg.reader import IcebergReader
from limnograph.adapters.memory.plan_states import MemoryPlanStates
from limnograph.adapters.storage.files import FileStorage
from limnograph.domain.advice.prices import Prices
from limnograph.domain.advice.reading import AdviceReading
from limnograph.domain.errors import ActionCancelled, ActionConflict, MetadataError, NotFound
from limnograph.domain.facts.meta_tables import SnapshotFact
from limnograph.domain.failpoints import Failpoints
from limnograph.domain.ids import Patterns, TableName
from limnograph.domain.maintenance.evidence import EvidenceRequest, TableEvidence
from limnograph.domain.maintenance.policy import LeastWorth, MaintenancePolicy, PolicyRule, RetainedSnapshots
from limnograph.domain.metadata.due import DueTable
from limnograph.domain.metadata.table import TableMetadata
from limnograph.domain.time import Millis
from limnograph.ports.catalog import TablePointer
from limnograph.ports.lake import LakeListing
from limnograph.ports.table_maintainer import STAMP, ActionOutcome, ActionRequest, OpenedTable, UnreferencedFile
from limnograph.services.advice.reading import advice_reading
from limnograph.services.advice.saved_times import Savings
from limnograph.services.maintenance.executor import MaintenanceExecutor
from limnograph.services.maintenance.known import LakeKnowledge, RecordedFacts
from limnograph.services.maintenance.lease_keeper import LeaseTiming
from limnograph.services.maintenance.neighbours import NeighbourFolders
from limnograph.services.maintenance.parts import ExecutorParts
from limnograph.services.maintenance.planning import MaintenancePlanner
from metadata_writer import DATA, File, MetadataTable

MIB, HOUR_MS, DAY_MS = 1 << 20, 3_600_000, 86_400_000
DAY_US = DAY_MS * 1_000
NAME = TableName("lake", "sales", "orders")
EAGER = LeastWorth(saved_files=2, freed_bytes=1, paying=False)
QUICK = LeaseTiming(beat_s=0.05, give_up_s=5.0, end_s=6.0, grace_s=0.0)


def rule(name: str = "all", tables: str = "lake.**", **fields: Any) -> PolicyRule:
    """A policy under which everything that saves anything is due."""
    return PolicyRule(name, Patterns((tables,)), **{"worth": EAGER, "max_rewrite_ratio": 100.0, **fields})


def policy(mode: str = "auto", *rules: PolicyRule, **fields: Any) -> MaintenancePolicy:
    return MaintenancePolicy(mode=mode, rules=rules or (rule(),), **fields)  # type: ignore[arg-type]


class LakeClock:
    """Shows what it was set to."""

    def __init__(self) -> None:
        self.micros = 0

    def now(self) -> int:
        return self.micros


class MaintainedLake:
    """Tables by name. `clock`: of the database; `machine`: of the executor."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.tables = folder, dict[TableName, MetadataTable]()
        self.clock, self.machine = LakeClock(), LakeClock()
        self.states = MemoryPlanStates(now=self.clock.now)
        self.maintainer = MetadataMaintainer(self)
        self.lines: list[str] = []
        self.recorded: RecordedFacts | None = RecordedFacts({}, {}, Savings(), ())

    def add(
        self, table: str = "orders", files: int = 4, regions: Iterable[str] = ("eu",), **fields: Any
    ) -> MetadataTable:
        """A table of one commit per file, each a twentieth of the target."""
        name = TableName("lake", "sales", table)
        made = self.tables[name] = MetadataTable(self.folder / table, seed=len(self.tables) + 1, **fields)
        for _ in range(files):
            self.append(made, *regions)
        self.later(2 * HOUR_MS)
        return made

    def append(self, table: MetadataTable, *regions: str) -> int:
        made = table.append(*[table.file(region, size=20 * MIB) for region in regions])
        self.materialise(table)
        return made

    def later(self, milliseconds: int) -> None:
        """Time passes for all clocks, counted from the newest commit."""
        newest = max((table.now_ms for table in self.tables.values()), default=0)
        now = max(self.clock.micros, newest * 1_000) + milliseconds * 1_000
        self.clock.micros = self.machine.micros = now
        for table in self.tables.values():
            table.now_ms = now // 1_000

    def materialise(self, table: MetadataTable) -> None:
        """Files exist as empty ones."""
        for live in table.live.values():
            for file in live.values():
                path = path_of(file.path)
                if not path.exists() and file.path not in self.maintainer.removed:
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.touch()

    def listing(self) -> LakeListing:
        pointers = tuple(TablePointer(name, "iceberg", made.metadata_location) for name, made in self.tables.items())
        return LakeListing(pointers, frozenset(map(str, self.tables)), frozenset({"lake"}))

    def knowledge(self) -> LakeKnowledge:
        return LakeKnowledge(self.listing().pointers, self.recorded, lambda _name: (), complete=True)

    def executor(
        self, chosen: MaintenancePolicy | None = None, failpoint: str = "", *, executor_id: str = "one", **fields: Any
    ) -> MaintenanceExecutor:
        """An executor of this lake."""
        chosen, source = chosen or policy(), LocalReader()
        knowledge = self.knowledge()
        maintainer = fields.pop("maintainer", self.maintainer)
        parts = ExecutorParts(
            policy=chosen,
            states=self.states,
            maintainer=maintainer,
            planner=MaintenancePlanner(maintainer, source, chosen, knowledge, prices=Prices()),
            evidence=source,
            knowledge=knowledge,
            neighbours=NeighbourFolders(LocalTables(), source),
            listing=self.listing,
            clock=self.machine,
            prices=Prices(),
            failpoints=Failpoints(failpoint),
            executor_id=executor_id,
            meta_namespaces=["lake.limnograph"],
            pause=lambda _seconds: None,
            timing=QUICK,
            progress=self.lines.append,
        )
        return MaintenanceExecutor(parts._replace(**fields))

    def states_of(self) -> list[tuple[str, str]]:
        """Action and state of each plan, in the order in which they changed last."""
        return [(fact.action or "", fact.state or "") for fact in reversed(self.states.plans())]


class LocalReader:
    """Ports AdviceSource, ActionEvidence and FileFolders, in-process."""

    def read(self, due: DueTable, now: Millis, retain: RetainedSnapshots | None = None) -> AdviceReading:
        storage = FileStorage({})
        return advice_reading(
            IcebergReader(storage).metadata(due.metadata_location), IcebergPlanner(storage), now, retain=retain
        )

    def evidence(self, due: DueTable, request: EvidenceRequest) -> TableEvidence:
        storage = FileStorage({})
        return IcebergPlanner(storage).evidence(IcebergReader(storage).metadata(due.metadata_location), request)

    def folders(self, due: DueTable) -> list[str]:
        storage = FileStorage({})
        return IcebergPlanner(storage).folders(IcebergReader(storage).metadata(due.metadata_location))


class LocalTables:
    """Port Tables, in-process, as far as folders of other tables need it."""

    def outline(self, _catalog: str, _format: str, location: str, *, of: TableMetadata | None = None) -> TableMetadata:
        assert of is None
        return IcebergReader(FileStorage({})).metadata(location)

    def extract(self, due: DueTable) -> list[SnapshotFact]:
        raise NotImplementedError(due)


class MetadataMaintainer:
    """Port TableMaintainer: commits metadata. `during`: called when an action has its files and has not committed;
    `tamper`: changes the files of a rewrite (removed, added), as a defect of an engine would.
    """

    def __init__(self, lake: MaintainedLake) -> None:
        self.lake = lake
        self.during: Callable[[], object] = lambda: None
        self.tamper: Callable[[list[File], list[File]], object] = lambda _removed, _added: None
        self.removed: set[str] = set()
        self.ran: list[tuple[str, str]] = []
        self.broken: set[TableName] = set()

    def open(self, name: TableName) -> OpenedTable:
        if name in self.broken:
            raise MetadataError("metadata_damaged", f"the metadata of {name} is not JSON")
        table = self.lake.tables.get(name)
        if table is None:
            raise NotFound(f"there is no table {name}")
        return OpenedTable(
            name=name,
            format="iceberg",
            table_uuid=table.table_uuid or "",
            location=table.location,
            metadata_location=table.metadata_location,
            head_id=table.head(),
            properties=dict(table.properties),
            handle=table,
        )

    def run(
        self, table: OpenedTable, request: ActionRequest, reached: Callable[[str], None], cancelled: Callable[[], bool]
    ) -> ActionOutcome:
        self.ran.append((request.action, request.plan_id))
        if cancelled():
            raise ActionCancelled("it was cancelled")
        made: MetadataTable = table.handle  # type: ignore[assignment]
        match request.action:
            case "rewrite_data_files":
                return self._rewrite(made, table, request, reached, cancelled)
            case "rewrite_manifests":
                self._before_commit(reached, cancelled)
                ids = [made.commit("replace", rewrite=True, summary={STAMP: request.plan_id})]
                reached("maintain.committed")
                return ActionOutcome(ids, left_behind=())
            case "expire_snapshots":
                self.during()
                made.expire(*request.snapshots)
                reached("maintain.committed")
                return self._deleted(made, request, table.metadata_location, reached)
            case "remove_orphan_files":
                gone = self._remove(request.files)
                reached("maintain.files-deleted")
                return ActionOutcome(deleted_files=gone, left_behind=())
        raise NotImplementedError(request.action)

    def stamped(self, table: OpenedTable, plan_id: str) -> list[int]:
        made: MetadataTable = table.handle  # type: ignore[assignment]
        return [sid for sid, each in made.snapshots.items() if each["summary"].get(STAMP) == plan_id]

    def rows(self, table: OpenedTable, snapshot_id: int, where: str | None = None) -> int:
        made: MetadataTable = table.handle  # type: ignore[assignment]
        return sum(file.records for file in made.live[snapshot_id].values() if file.content == DATA)

    def unreferenced(self, table: OpenedTable, older_than_ms: int) -> list[UnreferencedFile]:
        made: MetadataTable = table.handle  # type: ignore[assignment]
        reached = {path_of(path) for path in _reached(made)}
        found = []
        for path in sorted((made.folder / "data").glob("*")):
            status = path.stat()
            if path not in reached and status.st_mtime * 1_000 < older_than_ms:
                location = f"file://{path}"
                found.append(UnreferencedFile(location, status.st_size, int(status.st_mtime * 1_000)))
        return found

    def finish(self, table: OpenedTable, request: ActionRequest, base_metadata_location: str) -> ActionOutcome:
        made: MetadataTable = table.handle  # type: ignore[assignment]
        return self._deleted(made, request, base_metadata_location, lambda _name: None)

    def _rewrite(
        self,
        made: MetadataTable,
        table: OpenedTable,
        request: ActionRequest,
        reached: Callable[[str], None],
        cancelled: Callable[[], bool],
    ) -> ActionOutcome:
        chosen = {each.text for each in request.partitions}
        base = made.live[table.head_id or 0].values()
        removed = [f for f in base if f.content == DATA and (not chosen or f"region={f.partition[0]}" in chosen)]
        added = [
            made.file(region, records=sum(f.records for f in own), size=sum(f.size for f in own))
            for region in sorted({f.partition[0] for f in removed})
            if (own := [f for f in removed if f.partition[0] == region])
        ]
        self.tamper(removed, added)
        for file in added:
            path_of(file.path).touch()
        self._before_commit(reached, cancelled)
        live = {file.key for file in made.files()}
        if not {file.key for file in removed} <= live:
            for file in added:
                path_of(file.path).unlink()
            raise ActionConflict("Cannot commit, missing data files")
        ids = [made.commit("replace", add=added, remove=removed, summary={STAMP: request.plan_id})]
        reached("maintain.committed")
        size = sum(file.size for file in removed)
        return ActionOutcome(ids, len(removed), len(added), size, size, None, ())

    def _before_commit(self, reached: Callable[[str], None], cancelled: Callable[[], bool]) -> None:
        reached("maintain.outputs-written")
        self.during()
        if cancelled():
            raise ActionCancelled("it was cancelled")

    def _deleted(
        self, made: MetadataTable, request: ActionRequest, base: str, reached: Callable[[str], None]
    ) -> ActionOutcome:
        gone = {f.path for sid in request.snapshots for f in made.live[sid].values()} - _reached(made)
        count = self._remove(sorted(gone))
        reached("maintain.files-deleted")
        return ActionOutcome(deleted_files=count, left_behind=())

    def _remove(self, paths: Iterable[str]) -> int:
        count = 0
        for path in paths:
            self.removed.add(path)
            if (found := path_of(path)).exists():
                found.unlink()
                count += 1
        return count


def _reached(made: MetadataTable) -> set[str]:
    return {f.path for sid in made.snapshots for f in made.live[sid].values()}


def aged(path: Path, days: float, now_us: int) -> Path:
    """A file of some bytes that was last modified days ago."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"left by a writer that died")
    at = now_us / 1_000_000 - days * 86_400
    os.utime(path, (at, at))
    return path
