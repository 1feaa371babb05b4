"""A lake whose pipeline, clock and servers a test moves on, to see which findings open and close."""

from __future__ import annotations

from typing import Any

import msgspec

from limnograph.adapters.memory.inbox import MemoryInbox
from limnograph.domain.facts.findings import FindingFact
from limnograph.domain.facts.meta_tables import SnapshotFact
from limnograph.domain.facts.notes import NoteFact
from limnograph.domain.time import Micros
from limnograph.wiring.server import ServerServices
from serving_kit import HOUR, MINUTE, NOW, FixedClock, change, lake, moved, parts, row

GIB, MIB = 1 << 30, 1 << 20
DAY = 24 * HOUR
TABLE = {"total_bytes": 100 * GIB, "target_file_bytes": 512 * MIB}


class World:
    """A lake whose pipeline, clock and servers a test moves on."""

    def __init__(self, *, hours: int = 40) -> None:
        self.clock, self.inbox = FixedClock(), MemoryInbox()
        rows, log = [], []
        for number in range(hours):
            rows.append(self.row(number + 1, NOW - (hours - number) * HOUR, 100, added_data_files=2, added_bytes=GIB))
            log.append(moved(number + 1, NOW - (hours - number) * HOUR))
        self.engine = lake(rows, [*log, change("named", NOW - 40 * DAY, "x", subject="lake.sales.orders")])
        self.number = hours
        self.server = self.start()

    @staticmethod
    def row(number: int, at: int, files: int, **fields: Any) -> SnapshotFact:
        return row(number, at, files, parent_id=number - 1, observed_at=at + MINUTE, app_name="etl", **TABLE, **fields)

    def start(self) -> ServerServices:
        return parts(self.engine, clock=self.clock, inbox=self.inbox)

    def commit(self, operation: str = "append", **fields: Any) -> int:
        """A commit now, as the pipeline records it."""
        self.number += 1
        fact = self.row(self.number, self.clock.micros, fields.pop("files", 100), operation=operation, **fields)
        self.engine.append([fact], [moved(self.number, self.clock.micros)])
        return self.number

    def burst(self) -> int:
        return self.commit(files=50_100, added_data_files=50_000, removed_data_files=0, added_bytes=50_000 * MIB)

    def later(self, micros: int, *, heard: bool = True, server: ServerServices | None = None) -> list[FindingFact]:
        """Time passes, the pipeline looks at the lake, a server evaluates."""
        self.clock.micros += micros
        made = server or self.server
        if heard:
            made.store.probed(Micros(self.clock.micros), ("lake",), ())
        made.store.refresh()
        recorded = made.evaluator.evaluate()
        made.team.observe(made.evaluator.board)
        return recorded

    def open(self, server: ServerServices | None = None) -> dict[str, FindingFact]:
        return {fact.code or "": fact for fact in (server or self.server).evaluator.board.open}

    def drained(self) -> None:
        """The pipeline appends what the inbox holds."""
        facts = self.server.finding_records.waiting(Micros(0))
        notes = [msgspec.json.decode(item.payload, type=NoteFact) for item in self.inbox.items("note")]
        self.engine.append([], [], findings=facts, notes=notes)
