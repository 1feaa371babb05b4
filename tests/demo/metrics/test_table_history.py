"""The metrics of tables over the history, from recorded rows."""

import json
from pathlib import Path
from typing import Any

from limnograph.demo.metrics.tables import COLUMNS, MainMove, main_moves, table_families
from limnograph.demo.story.calendar import MINUTE, Calendar

MIDNIGHT = 1_795_219_200_000
CALENDAR = Calendar(MIDNIGHT, MIDNIGHT - 18 * 3_600_000 + 10 * MINUTE)
START = CALENDAR.start // 1000


def row(operation: str = "append", **known: Any) -> dict[str, Any]:
    return {**dict.fromkeys(COLUMNS), "operation": operation, **known}


def values(name: str, *moves: MainMove) -> list[float | None]:
    """The metric at each of the ten minutes; None where it has no sample."""
    (family,) = [family for family in table_families(CALENDAR, {"sales.t": moves}) if family.name == name]
    (series,) = family.series
    assert dict(series.labels) == {"catalog": "lake", "table_namespace": "sales", "table": "t"}
    samples = dict(series.samples)
    return [samples.get(START + minute * 60) for minute in range(10)]


def at(minute: int, **known: Any) -> MainMove:
    return MainMove(CALENDAR.start + minute * MINUTE, row(**known))


def test_a_gauge_has_the_value_of_mains_snapshot_and_none_while_that_is_unknown() -> None:
    moves = at(2, small_files=7), at(4, small_files=None), at(6, small_files=0)
    assert values("lakehouse_table_small_files", *moves) == [None, None, 7, 7, None, None, 0, 0, 0, 0]


def test_a_kept_gauge_keeps_its_last_known_value() -> None:
    moves = at(0), at(2, debt_files=7), at(4), at(6, debt_files=0)
    assert values("lakehouse_table_debt_files", *moves) == [None, None, 7, 7, 7, 7, 0, 0, 0, 0]


def test_a_counter_adds_up_commits_and_leaves_maintenance_out() -> None:
    moves = at(0, added_data_files=5), at(3, operation="replace", added_data_files=9), at(5, added_data_files=1)
    assert values("lakehouse_table_added_data_files_total", *moves) == [5, 5, 5, 5, 5, 6, 6, 6, 6, 6]
    assert values("lakehouse_table_commits_total", *moves) == [1, 1, 1, 1, 1, 2, 2, 2, 2, 2]


def test_times_of_commits_and_their_usual_gap_follow_main() -> None:
    moves = [at(minute) for minute in (0, 2, 4, 6, 8)]
    times = values("lakehouse_table_last_commit_timestamp_seconds", *moves)
    assert times == [START + minute // 2 * 120 for minute in range(10)]
    assert values("lakehouse_table_usual_commit_interval_seconds", *moves) == [*[None] * 8, 120, 120]


def test_moves_come_from_the_log_of_main_and_carry_the_recorded_row(tmp_path: Path) -> None:
    file = tmp_path / "1.metadata.json"
    log = [{"snapshot-id": number, "timestamp-ms": 10 * number} for number in (1, 2, 1, 9)]
    file.write_text(json.dumps({"snapshot-log": log}))
    first, second = row(total_records=1), row(total_records=2)
    assert main_moves(file, {1: first, 2: second}) == [MainMove(10, first), MainMove(20, second), MainMove(10, first)]
