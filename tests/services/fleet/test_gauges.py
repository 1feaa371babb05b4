"""Counters of tables: what is past is not counted, what comes is counted once, over restarts too."""

import pytest

from limnograph.adapters.counters.file import CounterFile
from limnograph.adapters.memory.query_engine import MemoryEngine
from limnograph.services.lake.lake import Facts
from serving_kit import HOUR, NOW, SECOND, lake, moved, parts, row

ADDED, COMMITS = "lakehouse_table_added_data_files_total", "lakehouse_table_commits_total"


def counters(made) -> dict[str, float]:
    return made.gauges.numbers()[1][0].counters


def commit(number: int, at: int, **fields):
    return row(number, at, number, added_data_files=5, parent_id=number - 1, **fields)


def test_counters_begin_at_zero_and_only_rise_with_new_commits() -> None:
    made = parts(lake([commit(i, NOW - (9 - i) * HOUR, observed_at=NOW) for i in range(1, 4)]))
    assert counters(made)[ADDED] == 0
    made.store.apply(Facts([commit(4, NOW - 5 * SECOND)], []))
    made.store.apply(Facts([commit(5, NOW - SECOND, operation="replace")], []))
    assert counters(made)[ADDED] == 5
    assert counters(made)[COMMITS] == 1


def test_without_saved_state_counters_of_a_restart_begin_at_zero() -> None:
    engine = lake([commit(i, NOW - (9 - i) * HOUR, observed_at=NOW) for i in range(1, 4)])
    assert set(counters(parts(engine)).values()) == {0.0}


def test_a_history_that_arrives_in_pieces_is_not_a_new_commit() -> None:
    made = parts()
    made.store.apply(Facts([commit(1, NOW - 3 * HOUR)], []))
    assert counters(made) == {}
    made.store.apply(Facts([commit(2, NOW - 2 * HOUR)], []))
    made.store.probed(NOW, ["lake"], [])
    assert counters(made)[COMMITS] == 0


def lived(tmp_path, engine: MemoryEngine):
    return parts(engine, counters=CounterFile(tmp_path / "state" / "counters.json"))


def test_a_restart_resumes_the_counters_and_adds_commits_made_meanwhile(tmp_path) -> None:
    engine = lake([commit(1, NOW - 9 * HOUR, observed_at=NOW)])
    made = lived(tmp_path, engine)
    counters(made)
    engine.append([commit(2, NOW - 3 * HOUR)], [])
    made.store.refresh()
    assert counters(made)[ADDED] == 5
    made.gauges.save()
    engine.append([commit(3, NOW - 2 * HOUR), commit(4, NOW - HOUR, operation="replace")], [])
    assert counters(lived(tmp_path, engine))[ADDED] == 10
    assert counters(lived(tmp_path, engine))[ADDED] == 10


def test_a_kill_between_two_saves_loses_no_commit_and_counts_none_twice(tmp_path) -> None:
    engine = lake([commit(1, NOW - 9 * HOUR, observed_at=NOW)])
    made = lived(tmp_path, engine)
    counters(made)
    made.gauges.save()
    engine.append([commit(2, NOW - 3 * HOUR)], [])
    made.store.refresh()
    assert counters(made)[COMMITS] == counters(lived(tmp_path, engine))[COMMITS] == 1


def test_an_unreadable_state_file_is_a_counter_reset(tmp_path) -> None:
    (tmp_path / "counters.json").write_text("{")
    engine = lake([commit(1, NOW - 9 * HOUR, observed_at=NOW)])
    made = parts(engine, counters=CounterFile(tmp_path / "counters.json"))
    assert counters(made)[COMMITS] == 0


def test_a_rollback_is_not_counted_as_a_commit() -> None:
    rows = [commit(1, NOW - 3 * HOUR, observed_at=NOW), commit(2, NOW - 2 * HOUR)]
    engine = lake(rows, [moved(1, NOW - 3 * HOUR), moved(2, NOW - 2 * HOUR)])
    made = parts(engine)
    assert counters(made)[COMMITS] == 0
    engine.append([], [moved(1, NOW - HOUR)])
    made.store.refresh()
    assert counters(made)[COMMITS] == 0


def test_numbers_of_a_table_that_did_not_change_are_the_same_object() -> None:
    other = {"table_uuid": "other", "table": "other"}
    made = parts(lake([commit(1, NOW - HOUR, observed_at=NOW), commit(7, NOW - HOUR, **other)]))
    before = {one.name.table: one for one in made.gauges.numbers()[1]}
    made.store.apply(Facts([commit(2, NOW - SECOND)], []))
    after = {one.name.table: one for one in made.gauges.numbers()[1]}
    assert after["other"] is before["other"]
    assert after["orders"] is not before["orders"]


def gauges(made) -> dict[str, float]:
    return made.gauges.numbers()[1][0].gauges


def test_numbers_computed_now_and_then_keep_their_newest_known_value() -> None:
    rows = [
        commit(1, NOW - 5 * HOUR, observed_at=NOW, debt_files=40, skew_max_over_median=2.5),
        commit(2, NOW - 4 * HOUR, debt_files=60),
        commit(3, NOW - 3 * HOUR),
    ]
    told = gauges(parts(lake(rows)))
    assert told["lakehouse_table_debt_files"] == 60
    assert told["lakehouse_table_partition_skew_ratio"] == 2.5
    assert "lakehouse_table_delete_bytes" not in told


def test_the_usual_interval_is_known_with_five_moves() -> None:
    four = [commit(i, NOW - (9 - i) * HOUR, observed_at=NOW) for i in range(1, 5)]
    assert "lakehouse_table_usual_commit_interval_seconds" not in gauges(parts(lake(four)))
    five = [*four, commit(5, NOW - HOUR, total_delete_bytes=7, metadata_bytes=9)]
    told = gauges(parts(lake(five)))
    # Gaps of 1, 1, 1 and 4 hours: the 90th percentile lies between the last two.
    assert told["lakehouse_table_usual_commit_interval_seconds"] == pytest.approx(11_160)
    assert (told["lakehouse_table_delete_bytes"], told["lakehouse_table_metadata_bytes"]) == (7, 9)
