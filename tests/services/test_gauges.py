"""Counters of tables: what is past is not counted, what comes is counted once."""

from limnograph.services.lake import Facts
from serving_kit import HOUR, NOW, SECOND, lake, parts, row


def counters(made) -> dict[str, float]:
    return made.gauges.numbers()[1][0].counters


def commit(number: int, at: int, **fields):
    return row(number, at, number, added_data_files=5, parent_id=number - 1, **fields)


def test_counters_begin_at_zero_and_only_rise_with_new_commits() -> None:
    made = parts(lake([commit(i, NOW - (9 - i) * HOUR, observed_at=NOW) for i in range(1, 4)]))
    assert counters(made)["lakehouse_table_added_data_files_total"] == 0
    made.store.apply(Facts([commit(4, NOW - 5 * SECOND)], []))
    made.store.apply(Facts([commit(5, NOW - SECOND, operation="replace")], []))
    assert counters(made)["lakehouse_table_added_data_files_total"] == 5
    assert counters(made)["lakehouse_table_commits_total"] == 1


def test_a_restart_never_shows_less_than_it_will_and_more_than_zero() -> None:
    engine = lake([commit(i, NOW - (9 - i) * HOUR, observed_at=NOW) for i in range(1, 4)])
    assert set(counters(parts(engine)).values()) == {0.0}


def test_a_history_that_comes_in_pieces_is_no_new_commit() -> None:
    made = parts()
    made.store.apply(Facts([commit(1, NOW - 3 * HOUR)], []))
    assert counters(made) == {}
    made.store.apply(Facts([commit(2, NOW - 2 * HOUR)], []))
    made.store.probed(NOW, ["lake"], [])
    assert counters(made)["lakehouse_table_commits_total"] == 0
