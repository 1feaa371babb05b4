"""Tables that exist as metadata and as rows of the meta tables, and a source of advice that reads them in-process."""

from __future__ import annotations

from pathlib import Path

from limnograph.adapters.iceberg.planning.planner import IcebergPlanner
from limnograph.adapters.iceberg.reader import IcebergReader
from limnograph.adapters.memory.inbox import MemoryInbox
from limnograph.adapters.memory.plan_states import MemoryPlanStates
from limnograph.adapters.memory.query_engine import MemoryEngine
from limnograph.adapters.storage.files import FileStorage
from limnograph.domain.advice.prices import Prices
from limnograph.domain.advice.reading import AdviceReading
from limnograph.domain.facts.meta_tables import SnapshotFact
from limnograph.domain.maintenance.policy import RetainedSnapshots
from limnograph.domain.metadata.due import DueTable
from limnograph.domain.time import Micros, Millis
from limnograph.services.advice.reading import advice_reading
from limnograph.wiring.on_request.advice import with_advice
from limnograph.wiring.server import ServerServices
from metadata_writer import MetadataTable
from serving_kit import MINUTE, FixedClock, change, moved, parts, row

MIB = 1 << 20
HOUR_MS = 3_600_000


class LocalSource:
    """Port AdviceSource. `failure`: raised instead."""

    def __init__(self) -> None:
        self.failure: Exception | None = None
        self.reads: list[str] = []

    def read(self, due: DueTable, now: Millis, retain: RetainedSnapshots | None = None) -> AdviceReading:
        self.reads.append(due.table)
        if self.failure is not None:
            raise self.failure
        storage = FileStorage({})
        metadata = IcebergReader(storage).metadata(due.metadata_location)
        return advice_reading(metadata, IcebergPlanner(storage), now, retain=retain)


class AdvisedLake:
    """Tables by name below `lake.sales`; the clock shows two hours after the newest commit."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.engine, self.inbox = folder, MemoryEngine(), MemoryInbox()
        self.clock, self.source = FixedClock(0), LocalSource()
        self.states = MemoryPlanStates(self.inbox, lambda: Micros(self.clock.now()))
        self.tables: dict[str, MetadataTable] = {}

    def add(self, name: str, small_files: int, seed: int = 1) -> MetadataTable:
        """A table of one partition with files of a hundredth of their target."""
        table = self.tables[name] = MetadataTable(self.folder / name, seed=seed)
        table.append(*[table.file("eu", size=5 * MIB) for _ in range(small_files)])
        self.observe(name)
        return table

    def observe(self, name: str) -> None:
        """The pipeline appends a table's current state."""
        table = self.tables[name]
        head = table.head()
        assert head is not None
        self.clock.micros = max(self.clock.micros, (table.now_ms + 2 * HOUR_MS) * 1_000)
        place = {"table_uuid": table.table_uuid, "table": name}
        at = table.times[head] * 1_000
        facts = [self._row(table, name, head, at)]
        named = change("named", at, "x", subject=f"lake.sales.{name}", **place)
        self.engine.append(facts, [moved(head, at, **place), named])

    @staticmethod
    def _row(table: MetadataTable, name: str, head: int, at: int) -> SnapshotFact:
        files = len(table.files())
        return row(
            head,
            at,
            files,
            table_uuid=table.table_uuid,
            table=name,
            metadata_location=table.metadata_location,
            observed_at=at + MINUTE,
            app_name="etl",
            added_data_files=files,
            total_bytes=files * 5 * MIB,
            target_file_bytes=512 * MIB,
            debt_saved_files=max(0, files - 1),
            debt_files=files,
        )

    def start(self, prices: Prices = Prices()) -> ServerServices:  # noqa: B008  # immutable
        """A server that has read the meta tables."""
        made = parts(self.engine, clock=self.clock, inbox=self.inbox)
        return with_advice(made, self.source, prices, self.states)

    def later(self, made: ServerServices, micros: int) -> None:
        """Time passes, the server reads the meta tables and evaluates findings and advice."""
        self.clock.micros += micros
        made.store.probed(Micros(self.clock.micros), ("lake",), ())
        made.store.refresh()
        made.evaluator.evaluate()
        evaluate(made)


def evaluate(made: ServerServices) -> int:
    """Evaluate all tables that are due; their number."""
    assert made.advisor is not None
    count = 0
    while made.advisor.evaluate_next():
        count += 1
    return count
