"""Which run read a snapshot first: known between two runs that report their reads, not across one that does not."""

from __future__ import annotations

from collections.abc import Mapping

from limnograph.domain.ids import TableName
from limnograph.services.jobs.first_reads import NEVER, first_reads
from limnograph.services.jobs.run_log import RunRecord
from limnograph.services.lake.history import history_of
from serving_kit import MINUTE, NOW, UUID, moved, row

HISTORY = history_of(
    UUID,
    TableName("lake", "sales", "orders"),
    [row(n, NOW + n * MINUTE) for n in range(1, 7)],
    [moved(n, NOW + n * MINUTE) for n in range(1, 7)],
)


def found(*reads: int | None) -> Mapping[int, float]:
    """First reads if runs one hour apart read these snapshots."""
    starts = [NOW + 60 * n * MINUTE for n in range(len(reads))]
    runs = [
        RunRecord("churn", "reads", at, at + MINUTE, "ok", read_snapshot_id=snapshot)
        for at, snapshot in zip(starts, reads, strict=True)
    ]
    return first_reads(HISTORY, runs)


def at(run: int) -> float:
    return (NOW + 60 * run * MINUTE) / 1000


def test_between_two_runs_that_report_their_reads_the_later_one_read_first() -> None:
    assert found(1, 3, 4) == {2: at(1), 3: at(1), 4: at(2), 5: NEVER, 6: NEVER}


def test_a_run_that_does_not_report_its_read_may_have_read_first() -> None:
    assert found(1, None, 3, 4) == {4: at(3), 5: NEVER, 6: NEVER}


def test_after_such_a_run_no_snapshot_counts_as_unread() -> None:
    assert found(1, 3, None) == {2: at(1), 3: at(1)}


def test_without_reported_reads_nothing_is_known() -> None:
    assert found(None, None) == {}
