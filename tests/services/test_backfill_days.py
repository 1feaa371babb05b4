"""A backfill takes whole days, so that a day of a table comes in one pass and is rolled up once."""

from __future__ import annotations

from typing import Any

from lakes import Lake, rewrite_metadata, rows
from limnograph.domain.facts import SNAPSHOTS
from memory_meta import MemoryMetaStore, local_passes

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
BEGIN = 20_000 * DAY_MS


def test_the_window_of_a_pass_ends_with_a_day(lake: Lake) -> None:
    table = lake.table()
    for _ in range(4):
        table.append(rows("eu"))
    hours = (20, 31 * 24 - 1, 31 * 24 + 2, 31 * 24 + 19)  # the third is within 31 days of the first, but of a new day

    def long_ago(document: dict[str, Any]) -> None:
        for snapshot, hour in zip(document["snapshots"], hours, strict=True):
            snapshot["timestamp-ms"] = BEGIN + hour * HOUR_MS

    lake.move("sales.orders", rewrite_metadata(table, long_ago))
    store = MemoryMetaStore()
    passes = local_passes(lake, store)
    assert [passes.run().snapshots_appended for _ in range(3)] == [2, 2, 0]
    assert store.rows(SNAPSHOTS).num_rows == 4
