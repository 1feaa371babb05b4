"""What main pointed at, and when."""

from limnograph.domain.ids import TableName
from limnograph.services.lake.history import history_of
from serving_kit import HOUR, NOW, UUID, moved, row

NAME = TableName("lake", "sales", "orders")


def history(rows, changes=()):
    return history_of(UUID, NAME, rows, changes)


def test_main_follows_its_log_through_a_rollback() -> None:
    rows = [row(1, NOW - 3 * HOUR, 10), row(2, NOW - 2 * HOUR, 99, parent_id=1)]
    log = [moved(1, NOW - 3 * HOUR), moved(2, NOW - 2 * HOUR), moved(1, NOW - HOUR)]
    found = history(rows, log)
    assert found.column("total_data_files") == [10, 99, 10]
    assert found.main_at(NOW - 90 * 60_000_000).snapshot_id == 2
    assert found.head.snapshot_id == 1


def test_a_rolled_back_commit_is_not_an_ancestor_of_main() -> None:
    rows = [row(1, NOW - 3 * HOUR, parent_id=None), row(2, NOW - 2 * HOUR, parent_id=1)]
    log = [moved(1, NOW - 3 * HOUR), moved(2, NOW - 2 * HOUR), moved(1, NOW - HOUR)]
    assert history(rows, log).main_ancestors == {1}


def test_a_commit_on_a_branch_never_moves_main() -> None:
    rows = [row(1, NOW - 3 * HOUR, 10), row(2, NOW - 2 * HOUR, 500, parent_id=1, on_main=False)]
    assert history(rows, [moved(1, NOW - 3 * HOUR)]).column("total_data_files") == [10]


def test_without_a_log_ancestors_of_main_are_used_by_their_commit_time() -> None:
    rows = [row(1, NOW - 3 * HOUR), row(2, NOW - 2 * HOUR, on_main=False), row(3, NOW - HOUR)]
    assert [snapshot_id for _, snapshot_id in history(rows).main] == [1, 3]


def test_a_truncated_log_is_completed_by_older_ancestors() -> None:
    rows = [row(1, NOW - 3 * HOUR), row(2, NOW - 2 * HOUR)]
    assert [snapshot_id for _, snapshot_id in history(rows, [moved(2, NOW - 2 * HOUR)]).main] == [1, 2]


def test_a_snapshot_missing_from_the_store_is_unknown_and_not_the_previous_state() -> None:
    rows = [row(1, NOW - 3 * HOUR, 10)]
    assert history(rows, [moved(1, NOW - 3 * HOUR), moved(2, NOW - HOUR)]).column("total_data_files") == [10, None]


def test_moves_within_one_millisecond_are_in_the_order_of_their_chain() -> None:
    rows = [row(9, NOW - 2 * HOUR, 10), row(5, NOW - HOUR, 20), row(3, NOW - HOUR, 30), row(7, NOW - HOUR, 40)]
    log = [moved(9, NOW - 2 * HOUR)]
    pairs = [("3", 7), ("9", 5), ("5", 3)]
    found = history(rows, [*log, *(moved(to, NOW - HOUR, from_value=before) for before, to in pairs)])
    assert [snapshot_id for _, snapshot_id in found.main] == [9, 5, 3, 7]
    assert found.head.snapshot_id == 7


def test_a_move_and_its_reversal_in_one_millisecond_end_at_the_first_snapshot() -> None:
    there, back = moved(2, NOW, from_value="1"), moved(1, NOW, from_value="2")
    found = history([row(1, NOW - HOUR), row(2, NOW)], [moved(1, NOW - HOUR), back, there])
    assert found.head.snapshot_id == 1
