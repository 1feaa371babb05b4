"""One of 50 tables ends its reader: the pass appends the 49 others and says why, and the next pass is quiet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import pytest

from hostile_parser import COMMAND
from lakes import Lake, rows
from limnograph.adapters.memory.query_engine import MemoryEngine
from limnograph.adapters.meta.schema import arrow_table
from limnograph.adapters.sandbox.messages import StorageAccess
from limnograph.adapters.sandbox.pool import Pool
from limnograph.adapters.sandbox.tables import SandboxTables
from limnograph.adapters.system_clock import SystemClock
from limnograph.domain.facts.meta_tables import CHANGES, SNAPSHOTS
from limnograph.domain.metadata.due import DueTable
from limnograph.ports.catalog import TablePointer
from limnograph.ports.extraction import ExtractedRows
from limnograph.ports.lake import LakeListing
from limnograph.ports.tables import Tables
from limnograph.services.lake.store import WINDOW
from limnograph.services.watcher.rounds import Watcher
from limnograph.wiring.observe import SettingsLake
from memory_meta import MemoryMetaStore, local_passes

DEADLINE = 3.0
"""Of a table, in processor time of its reader, which needs milliseconds for one that is whole."""


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    made = Pool(COMMAND, size=2)
    yield made
    made.close()


@pytest.fixture(scope="module")
def fortynine(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """49 tables, each with one commit."""
    lake = Lake(tmp_path_factory.mktemp("hostile"))
    for number in range(49):
        lake.table(f"sales.t{number}").append(rows("eu"))
    return lake


class Hostile:
    """The lake, read by a parser that suffers at tables that are named for it."""

    def __init__(self, lake: Lake, pool: Pool) -> None:
        self._lake = SettingsLake(lake.settings())
        self._tables = SandboxTables(StorageAccess({"lake": lake.properties}, deadline_seconds=DEADLINE), pool)

    def listing(self) -> LakeListing:
        return self._lake.listing()

    def newest(self, pointer: TablePointer) -> TablePointer | None:
        return self._lake.newest(pointer)

    @property
    def tables(self) -> Tables:
        return self._tables

    def run(self, due: Sequence[DueTable]) -> ExtractedRows:
        """Port Extraction."""
        return ExtractedRows(arrow_table(SNAPSHOTS, [fact for table in due for fact in self._tables.extract(table)]))


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        ("segfault", "parser_crashed"),
        ("native_loop", "deadline_exceeded"),
        ("two_gigabytes", "memory_exceeded"),
        ("leave_at_once", "parser_crashed"),
        ("garbage", "parser_crashed"),
    ],
)
def test_49_rows_and_one_reason(fortynine: Lake, pool: Pool, fault: str, code: str) -> None:
    name = f"odd_{fault}"
    fortynine.table(f"sales.{name}").append(rows("eu"))
    hostile, store = Hostile(fortynine, pool), MemoryMetaStore()
    try:
        passes = local_passes(fortynine, store, observed=hostile, extraction=hostile)
        report, second = passes.run(), passes.run()
    finally:
        fortynine.catalog.drop_table(f"sales.{name}")
    found = store.rows(SNAPSHOTS).select(["table", "status", "problems"]).to_pylist()
    assert Counter(row["status"] for row in found) == {"ok": 49, "unreadable": 1}
    assert [(row["table"], row["problems"]) for row in found if row["problems"]] == [(name, [code])]
    assert (report.snapshots_appended, report.failed, second.snapshots_appended) == (50, (), 0)


def test_a_table_whose_metadata_crashes_the_parser_is_unreadable_and_the_others_continue(
    fortynine: Lake, pool: Pool
) -> None:
    fortynine.table("sales.bad_segfault").append(rows("eu"))
    hostile, store = Hostile(fortynine, pool), MemoryMetaStore()
    try:
        report = local_passes(fortynine, store, observed=hostile, extraction=hostile).run()
    finally:
        fortynine.catalog.drop_table("sales.bad_segfault")
    assert (report.snapshots_appended, report.unreadable, report.failed) == (49, 1, ())
    changes = store.rows(CHANGES).select(["table", "kind", "to_value"]).to_pylist()
    assert [(c["table"], c["to_value"]) for c in changes if c["kind"] == "unreadable"] == [
        ("bad_segfault", "parser_crashed")
    ]


def test_a_round_of_the_watcher_reports_the_other_tables_too(fortynine: Lake, pool: Pool) -> None:
    fortynine.table("sales.odd_panic").append(rows("eu"))
    try:
        watcher = Watcher(Hostile(fortynine, pool), MemoryEngine(), SystemClock(), WINDOW)
        told = [row for message in watcher.round() for row in message.snapshots]
    finally:
        fortynine.catalog.drop_table("sales.odd_panic")
    assert Counter(row.status for row in told) == {"ok": 49, "unreadable": 1}


def test_metadata_that_names_hostile_places_opens_none_of_them(lake: Lake, pool: Pool, tmp_path: Path) -> None:
    """The document claims this machine's disk as its place and a file outside of it as a manifest list."""
    table = lake.table("sales.claims")
    table.append(rows("eu"))
    source = Path(table.metadata_location.removeprefix("file://"))
    document = msgspec.json.decode(source.read_bytes())
    secret = tmp_path / "secret.avro"
    secret.write_bytes(Path(document["snapshots"][0]["manifest-list"].removeprefix("file://")).read_bytes())
    document["location"] = "file:///"
    document["properties"] = {"write.data.path": f"file://{tmp_path}", "write.metadata.path": "/etc"}
    document["snapshots"][0]["manifest-list"] = f"file://{secret}"
    source.write_bytes(msgspec.json.encode(document))
    reading = SandboxTables(StorageAccess({"lake": {}}, deadline_seconds=DEADLINE), pool)
    (row,) = reading.extract(
        DueTable(
            catalog="lake",
            namespace="sales",
            table="claims",
            table_uuid="u",
            metadata_location=table.metadata_location,
            snapshot_ids=[document["snapshots"][0]["snapshot-id"]],
        )
    )
    assert (row.status, row.problems, row.tier) == ("partial", ["manifest_list_refused"], "summary")
