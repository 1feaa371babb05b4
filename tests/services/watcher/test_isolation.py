"""One table's surprise is that table's failure: the pass and the watcher's round tell it and go on with the others."""

from __future__ import annotations

from typing import Any

import pytest

from lakes import Lake, fresh_reader, rewrite_metadata, rows
from limnograph.adapters.memory.query_engine import MemoryEngine
from limnograph.adapters.system_clock import SystemClock
from limnograph.domain.errors import SourceUnavailable
from limnograph.domain.facts.meta_tables import SNAPSHOTS
from limnograph.domain.metadata.content import Reading, Want
from limnograph.domain.metadata.table import Snapshot, TableMetadata
from limnograph.ports.catalog import TablePointer
from limnograph.ports.lake import LakeListing
from limnograph.ports.tables import Tables
from limnograph.services.lake.store import WINDOW
from limnograph.services.watcher.rounds import Watcher
from limnograph.wiring.observe import SettingsLake
from memory_meta import MemoryMetaStore, local_passes
from near_tables import NearTables


class Reader:
    """A reader that raises `error` for everything of one table: at its metadata, or at its manifests only."""

    def __init__(self, table: str, error: Exception, *, metadata: bool) -> None:
        self._real, self._table, self._error, self._at_metadata = fresh_reader(), table, error, metadata

    def metadata(self, location: str) -> TableMetadata:
        if self._at_metadata:
            self._refuse(location)
        return self._real.metadata(location)

    def read(self, metadata: TableMetadata, snapshot: Snapshot, want: Want) -> Reading:
        self._refuse(snapshot.manifest_list or "")
        return self._real.read(metadata, snapshot, want)

    def _refuse(self, location: str) -> None:
        if f"/{self._table}/" in location:
            raise self._error


class Strange:
    """A lake whose reader is another one."""

    def __init__(self, lake: Lake, reader: Reader) -> None:
        self._lake, self._reader = SettingsLake(lake.settings()), reader

    def listing(self) -> LakeListing:
        return self._lake.listing()

    def newest(self, pointer: TablePointer) -> TablePointer | None:
        return self._lake.newest(pointer)

    @property
    def tables(self) -> Tables:
        return NearTables(self._reader)


@pytest.fixture
def two(lake: Lake) -> Lake:
    for name in ("sales.orders", "sales.odd"):
        lake.table(name).append(rows("eu"))
    return lake


@pytest.mark.parametrize("metadata", [True, False])
def test_a_round_of_the_watcher_reports_the_failing_table_and_continues(two: Lake, metadata: bool) -> None:
    strange = Strange(two, Reader("odd", KeyError("surprise"), metadata=metadata))
    watcher = Watcher(strange, MemoryEngine(), SystemClock(), WINDOW)
    for _ in range(2):
        messages = list(watcher.round())
        assert [(t.source, "surprise" in t.detail) for m in messages for t in m.troubles] == [("lake.sales.odd", True)]
        assert messages[-1].last
    assert {row.table for m in messages for row in m.snapshots} <= {"orders"}


def test_the_round_reported_the_other_tables(two: Lake) -> None:
    strange = Strange(two, Reader("odd", KeyError("surprise"), metadata=False))
    told = [row.table for m in Watcher(strange, MemoryEngine(), SystemClock(), WINDOW).round() for row in m.snapshots]
    assert told == ["orders"]


def test_a_pass_lists_the_failing_table_as_failed_and_appends_the_others(two: Lake) -> None:
    store = MemoryMetaStore()
    odd = Strange(two, Reader("odd", KeyError("surprise"), metadata=True))
    report = local_passes(two, store, observed=odd).run()
    assert store.rows(SNAPSHOTS).column("table").to_pylist() == ["orders"]
    assert [sentence.split(": ")[0] for sentence in report.failed] == ["lake.sales.odd"]
    assert report.pending


@pytest.mark.parametrize("error", [SourceUnavailable("storage", "503"), KeyError("surprise")])
def test_a_table_whose_manifests_are_refused_is_reported_and_stays_due(two: Lake, error: Exception) -> None:
    store = MemoryMetaStore()
    refused = Reader("odd", error, metadata=False)
    report = local_passes(two, store, reader=refused).run()
    assert report.failed == ("lake.sales.odd: 1 of 1 snapshots could not be read",)
    assert (report.snapshots_appended, report.pending, report.more) == (1, True, False)
    healed = local_passes(two, store).run()
    assert (healed.failed, healed.snapshots_appended) == ((), 1)


def test_an_old_table_that_is_refused_does_not_hold_back_the_backfill_of_others(two: Lake) -> None:
    odd = two.load("sales.odd")
    odd.append(rows("us"))

    def long_ago(document: dict[str, Any]) -> None:
        for months, snapshot in enumerate(document["snapshots"]):
            snapshot["timestamp-ms"] -= (9 - 3 * months) * 31 * 86_400_000

    two.move("sales.odd", rewrite_metadata(odd, long_ago))
    store = MemoryMetaStore()
    passes = local_passes(two, store, reader=Reader("odd", SourceUnavailable("storage", "503"), metadata=False))
    reports = [passes.run(), passes.run(), passes.run()]
    assert [(report.snapshots_appended, report.more, report.pending) for report in reports] == [
        (1, False, True),
        (0, False, True),
        (0, False, True),
    ]
    assert store.rows(SNAPSHOTS).column("table").to_pylist() == ["orders"]
