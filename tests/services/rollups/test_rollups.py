"""The roll-up function against a brute-force oracle in plain Python: hours, days, and days folded from hours."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from limnograph.domain.facts.housekeeping import BY_REPLACE, DELTAS, OPERATIONS, STATES
from limnograph.domain.facts.meta_tables import DAILY, HOURLY
from limnograph.services.rollups.fold import DAY, HOUR, MOVE_COLUMNS, NAMES, ROW_COLUMNS, Stamp, fold_days, roll_hours

STAMP = Stamp(7, 5, 123)
TEXT = {"table_uuid", "operation", *NAMES}
Row = dict[str, Any]


def frame(rows: list[Row], columns: tuple[str, ...] = ROW_COLUMNS) -> pl.DataFrame:
    kinds = {name: pl.String if name in TEXT else pl.Int64 for name in columns}
    return pl.DataFrame([{name: row.get(name) for name in columns} for row in rows], schema=kinds, orient="row")


def commit(snapshot_id: int, at: int, operation: str | None = "append", series: str = "u", **numbers: Any) -> Row:
    row = dict.fromkeys(ROW_COLUMNS) | dict.fromkeys((*DELTAS, "changed_partitions"), 0)
    names = {"catalog": "c", "namespace": "n", "table": f"t{snapshot_id}", "format": "iceberg"}
    own = {"table_uuid": series, "snapshot_id": snapshot_id, "committed_at": at, "operation": operation}
    return row | names | own | numbers


def move(at: int, snapshot_id: int, place: int = 0, series: str = "u") -> Row:
    return {"table_uuid": series, "at": at, "place": place, "snapshot_id": snapshot_id}


def hours(rows: list[Row], moves: list[Row]) -> list[Row]:
    return roll_hours(frame(rows), frame(moves, MOVE_COLUMNS), frame(rows), STAMP).to_dicts()


def oracle(rows: list[Row], moves: list[Row], width: int, unit: str) -> list[Row]:
    """What the columns promise, one span at a time."""
    spans: dict[tuple[str, int], tuple[list[Row], list[Row]]] = defaultdict(lambda: ([], []))
    for row in rows:
        spans[row["table_uuid"], row["committed_at"] // width * width][0].append(row)
    for one in moves:
        spans[one["table_uuid"], one["at"] // width * width][1].append(one)
    by_id = {(row["table_uuid"], row["snapshot_id"]): row for row in rows}
    return [_span(key, unit, *spans[key], by_id) for key in sorted(spans)]


def _span(key: tuple[str, int], unit: str, rows: list[Row], moves: list[Row], by_id: dict[Any, Row]) -> Row:
    rows = sorted(rows, key=lambda row: (row["committed_at"], row["snapshot_id"]))
    moves = sorted(moves, key=lambda one: (one["at"], one["place"]))
    states = [by_id.get((key[0], one["snapshot_id"])) for one in moves]
    named = rows[-1] if rows else next((state for state in reversed(states) if state), {})
    found: Row = {"table_uuid": key[0], unit: key[1], **{name: named.get(name) for name in NAMES}}
    found["commits"] = len(rows)
    found["unknown_commits"] = sum(any(row[name] is None for name in DELTAS) for row in rows)
    found |= {column: sum(row["operation"] == name for row in rows) for name, column in OPERATIONS.items()}
    found["other_operations"] = sum(row["operation"] not in OPERATIONS for row in rows)
    found["main_moves"] = len(moves)
    found["main_snapshot_id"] = moves[-1]["snapshot_id"] if moves else None
    for name in ("changed_partitions", *DELTAS):
        found[name] = _total([row[name] for row in rows])
    for name in DELTAS:
        found[f"{name}_by_replace"] = _total([row[name] for row in rows if row["operation"] == "replace"])
    for name in STATES:
        values = [state[name] if state else None for state in states]
        known = [value for value in values if value is not None]
        found[f"{name}_first"] = values[0] if values else None
        found[f"{name}_last"] = values[-1] if values else None
        found[f"{name}_min"] = min(known, default=None)
        found[f"{name}_max"] = max(known, default=None)
    return found | STAMP._asdict()


def _total(values: list[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return None if values and not known else sum(known)


NUMBER = st.none() | st.integers(0, 2**50)
COMMITS = st.builds(
    lambda snapshot_id, at, operation, series, numbers: commit(
        snapshot_id, at, operation, series, **dict(zip((*DELTAS, *STATES, "changed_partitions"), numbers, strict=True))
    ),
    st.integers(-9, 9),
    st.integers(-DAY, 2 * DAY) | st.sampled_from([0, HOUR - 1, HOUR, DAY - 1, DAY]),
    st.sampled_from(["append", "replace", "overwrite", "delete", "truncate", None]),
    st.sampled_from(["u", "v"]),
    st.lists(NUMBER, min_size=len(DELTAS) + len(STATES) + 1, max_size=len(DELTAS) + len(STATES) + 1),
)
MOVES = st.builds(move, st.integers(-DAY, 2 * DAY), st.integers(-9, 9), st.just(0), st.sampled_from(["u", "v"]))
HISTORIES = st.tuples(
    st.lists(COMMITS, max_size=12, unique_by=lambda row: (row["table_uuid"], row["snapshot_id"])),
    st.lists(MOVES, max_size=12),
)


def placed(moves: list[Row]) -> list[Row]:
    return [one | {"place": place} for place, one in enumerate(moves)]


@settings(max_examples=150, deadline=None)
@given(HISTORIES)
def test_hours_and_days_equal_a_plain_evaluation_of_the_rows(history: tuple[list[Row], list[Row]]) -> None:
    rows, moves = history[0], placed(history[1])
    found = roll_hours(frame(rows), frame(moves, MOVE_COLUMNS), frame(rows), STAMP)
    assert found.to_dicts() == oracle(rows, moves, HOUR, "hour")
    assert found.columns == [column.name for column in HOURLY.columns]
    days = fold_days(found, STAMP)
    assert days.to_dicts() == oracle(rows, moves, DAY, "day")
    assert days.columns == [column.name for column in DAILY.columns]


@settings(max_examples=50, deadline=None)
@given(HISTORIES, st.randoms(use_true_random=False))
def test_the_order_in_which_rows_and_moves_arrive_does_not_matter(
    history: tuple[list[Row], list[Row]], rng: Any
) -> None:
    rows, moves = history[0], placed(history[1])
    before = hours(rows, moves)
    rng.shuffle(rows)
    rng.shuffle(moves)
    assert hours(rows, moves) == before


def test_a_rollback_is_a_move_to_an_older_snapshot_not_a_commit() -> None:
    rows = [commit(1, 5, total_data_files=10), commit(2, HOUR + 5, total_data_files=90)]
    found = hours(rows, [move(5, 1), move(HOUR + 5, 2), move(HOUR + 9, 1)])
    assert [row["commits"] for row in found] == [1, 1]
    second = found[1]
    assert (second["main_moves"], second["main_snapshot_id"]) == (2, 1)
    assert [second[f"total_data_files_{end}"] for end in ("first", "last", "min", "max")] == [90, 10, 10, 90]
    later = hours(rows, [move(5 * HOUR, 1)])[-1]
    assert (later["commits"], later["added_data_files"], later["total_data_files_last"], later["table"]) == (
        0,
        0,
        10,
        "t1",
    )


def test_a_move_to_a_snapshot_without_a_row_is_an_unknown_state() -> None:
    found = hours([commit(1, 5, total_records=7)], [move(5, 1), move(6, 99)])[0]
    assert (found["main_moves"], found["main_snapshot_id"]) == (2, 99)
    assert (found["total_records_first"], found["total_records_last"], found["total_records_max"]) == (7, None, 7)


def test_commits_on_a_branch_count_but_move_no_state() -> None:
    found = hours([commit(1, 5, added_records=3, total_records=8)], [])[0]
    assert (found["commits"], found["added_records"], found["main_moves"]) == (1, 3, 0)
    assert found["total_records_last"] is None


def test_sums_of_unknown_numbers_are_null_and_beyond_63_bits_too() -> None:
    found = hours([commit(1, 5, "replace", added_bytes=None)], [])[0]
    assert (found["added_bytes"], found["added_bytes_by_replace"], found["unknown_commits"]) == (None, None, 1)
    assert found["added_records"] == 0
    huge = hours([commit(i, 5, added_bytes=2**62) for i in range(3)], [])[0]
    assert huge["added_bytes"] is None
    assert set(BY_REPLACE) <= set(huge)


def test_the_state_of_main_before_a_span_is_not_carried_into_it() -> None:
    found = hours([commit(1, 5, total_records=8), commit(2, 3 * HOUR, total_records=9)], [move(5, 1)])
    assert [row["hour"] for row in found] == [0, 3 * HOUR]
    assert found[1]["total_records_last"] is None
