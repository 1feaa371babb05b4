"""The DataSource's parts without a JVM: what a task yields, and when the stream says that a pass is due."""

from __future__ import annotations

import time
from pathlib import Path

import msgspec
import pyarrow as pa

from lakes import Lake, rows
from limnograph.adapters.inbox.store import SqlInbox
from limnograph.adapters.sandbox.messages import StorageAccess
from limnograph.adapters.spark.extraction import extracted
from limnograph.adapters.spark.source import SCHEMA, SnapshotsReader
from limnograph.adapters.spark.ticks import SPACING_S, Notices, TicksReader
from limnograph.domain.metadata.due import DueTable
from limnograph.ports.extraction import ExtractedRows
from limnograph.ports.inbox import InboxItem


def due(lake: Lake, name: str = "sales.orders") -> DueTable:
    table = lake.load(name)
    return DueTable(
        catalog="lake",
        namespace="sales",
        table="orders",
        table_uuid="u",
        metadata_location=table.metadata_location,
        snapshot_ids=[s.snapshot_id for s in table.snapshots()],
    )


def read(lake: Lake, *tables: DueTable, **bounds: str) -> ExtractedRows:
    access = msgspec.json.encode(StorageAccess({"lake": lake.properties})).decode()
    options = {"access": access, "due": msgspec.json.encode(list(tables)).decode(), "tasks": "4"} | bounds
    reader = SnapshotsReader(options)
    batches = [batch for partition in reader.partitions() for batch in reader.read(partition)]
    return extracted(pa.Table.from_batches(batches, SCHEMA))


def test_tasks_yield_the_rows_of_their_tables(lake: Lake) -> None:
    lake.table().append(rows("eu"))
    lake.table("sales.items").append(rows("eu"))
    found = read(lake, due(lake), due(lake, "sales.items")).rows
    assert found.num_rows == 2
    assert set(found.column("total_data_files").to_pylist()) == {1}


def test_an_unreadable_table_yields_nothing_and_stops_no_other(lake: Lake) -> None:
    lake.table().append(rows("eu"))
    gone = msgspec.structs.replace(due(lake), metadata_location="s3://nobody/none.metadata.json")
    cut = msgspec.structs.replace(due(lake), metadata_location=f"file://{lake.folder}/catalog.db")
    found = read(lake, cut, gone, due(lake))
    assert (found.rows.num_rows, set(found.missed), found.unreached) == (1, {0, 1}, frozenset())


def test_a_task_out_of_time_or_space_reports_what_it_did_not_reach(lake: Lake) -> None:
    lake.table().append(rows("eu"))
    three = [due(lake)] * 3
    for bounds in ({"task_seconds": "0"}, {"task_bytes": "1"}):
        found = read(lake, *three, tasks="1", **bounds)
        assert (found.rows.num_rows, found.missed, found.unreached) == (1, {}, {1, 2})
    assert read(lake, *three, tasks="1").rows.num_rows == 3


def test_the_stream_ticks_when_its_time_has_come_and_not_before() -> None:
    reader = TicksReader({"seconds": "1000"})
    assert reader.initialOffset() == {"tick": 0}
    first = reader.latestOffset()
    assert first["tick"] > 0
    assert reader.latestOffset() == first
    reader._last -= 1000
    assert reader.latestOffset()["tick"] > first["tick"]


def test_the_stream_ticks_after_a_while_even_when_nothing_moved() -> None:
    reader = TicksReader({"seconds": "0"})
    assert reader.latestOffset()["tick"] < reader.latestOffset()["tick"]


def test_the_stream_ticks_when_the_inbox_has_a_newer_notification(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/inbox.db"
    reader = TicksReader({"seconds": "1000", "inbox_url": url})
    inbox = SqlInbox(url)
    inbox.put([InboxItem("notification", "before", b"{}", 5, 5)])
    ticks = [reader.latestOffset()["tick"]]
    for accepted_at in (9, 7):
        inbox.put([InboxItem("notification", f"n{accepted_at}", b"{}", accepted_at, accepted_at)])
        reader._last = time.monotonic() - SPACING_S
        ticks.append(reader.latestOffset()["tick"])
        # A flood right after a pass waits; so does what was told before.
        inbox.put([InboxItem("notification", f"flood {accepted_at}", b"{}", 8, 8)])
        assert reader.latestOffset()["tick"] == ticks[-1]
    assert ticks[0] < ticks[1] == ticks[2]


def test_an_inbox_that_does_not_answer_leaves_the_stream_to_the_clock(tmp_path: Path) -> None:
    (tmp_path / "inbox.db").write_bytes(b"this is no database, and long enough to be taken for one" * 20)
    notices = Notices(f"sqlite:///{tmp_path}/inbox.db")
    assert not notices.newer()
    assert not Notices("").newer()
