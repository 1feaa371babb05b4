"""A table's commits are dated over a range of instants, in their order, and nothing else of its metadata changes."""

from __future__ import annotations

from lakehouse.maintain.history import date_back

METADATA = {
    "table-uuid": "7b1e",
    "last-updated-ms": 9_000,
    "snapshots": [
        {"snapshot-id": 30, "sequence-number": 3, "timestamp-ms": 9_000},
        {"snapshot-id": 10, "sequence-number": 1, "timestamp-ms": 7_000},
        {"snapshot-id": 20, "sequence-number": 2, "timestamp-ms": 8_000},
    ],
    "snapshot-log": [{"snapshot-id": 10, "timestamp-ms": 7_001}, {"snapshot-id": 30, "timestamp-ms": 9_000}],
    "metadata-log": [{"metadata-file": "s3://lake/00000.metadata.json", "timestamp-ms": 7_000}],
}


def test_commits_are_spread_over_the_range_in_their_order() -> None:
    dated = date_back(METADATA, 1_000, 2_000)
    assert {each["snapshot-id"]: each["timestamp-ms"] for each in dated["snapshots"]} == {
        10: 1_000,
        20: 1_500,
        30: 2_000,
    }
    assert [each["timestamp-ms"] for each in dated["snapshot-log"]] == [1_000, 2_000]
    assert (dated["last-updated-ms"], dated["metadata-log"]) == (2_000, [])
    assert dated["table-uuid"] == "7b1e"
    assert METADATA["last-updated-ms"] == 9_000
