"""The pipeline as a program: when `--once` ends, what its sum counts, and that a stream outlives its passes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from limnograph.domain.errors import SourceUnavailable
from limnograph.jobs.pipeline import (
    RETRIES,
    drain_inbox,
    stream_drain,
    stream_pass,
    total_of,
    until_settled,
)
from limnograph.services.pipeline.drain import DrainReport
from limnograph.services.pipeline.report import PassReport


class Scripted:
    """Passes that report, or raise, what the test says."""

    def __init__(self, answers: Iterable[PassReport | Exception]) -> None:
        self.answers = iter(answers)

    def run(self) -> PassReport:
        answer = next(self.answers)
        if isinstance(answer, Exception):
            raise answer
        return answer


def report(appended: int = 0, **fields: Any) -> PassReport:
    fields.setdefault("pending", bool(fields.get("more") or fields.get("failed")))
    numbers = dict.fromkeys(("tables_seen", "tables_changed", "gaps", "unreadable"), 0)
    return PassReport(run_id="r", snapshots_appended=appended, seconds=0.0, **{**numbers, **fields})


def settle(*answers: PassReport) -> tuple[int, list[str]]:
    said: list[str] = []
    return len(until_settled(Scripted(answers), said.append, lambda _seconds: None)), said


def test_appends_to_other_tables_do_not_prolong_the_wait_for_a_failing_table() -> None:
    stuck = [report(1, failed=(f"lake.a: {left} of 9 snapshots could not be read",)) for left in range(9, 0, -1)]
    made, said = settle(*stuck)
    assert made == RETRIES
    assert said[0] == "still due: lake.a: 9 of 9 snapshots could not be read"


def test_a_backfill_continues_although_a_table_fails() -> None:
    backfill = [report(5, more=True, failed=("lake.a: down",)) for _ in range(9)]
    assert settle(*backfill, report(), report())[0] == 10


def test_a_different_failure_has_its_own_retries_and_a_success_resets_them() -> None:
    first, second = report(failed=("lake.a: down",)), report(failed=("lake.b: down",))
    assert settle(first, first, second, report(2))[0] == 4
    assert settle(*[first, second] * 9)[0] == 2 * RETRIES - 1


def test_the_total_counts_a_table_once_whichever_passes_changed_it() -> None:
    passes = [
        report(2, more=True, tables_seen=4, tables_changed=2, changed=frozenset({"a", "b"})),
        report(1, tables_seen=4, tables_changed=2, changed=frozenset({"b", "c"}), failed=("lake.d: down",)),
    ]
    total = total_of(passes, 1.5)
    assert total.document() == {
        "run_id": "r",
        "tables_seen": 4,
        "tables_changed": 3,
        "snapshots_appended": 3,
        "gaps": 0,
        "unreadable": 0,
        "seconds": 1.5,
    }
    assert total.failed == ("lake.d: down",)


def test_a_pass_that_fails_in_any_way_leaves_the_stream_running() -> None:
    said: list[str] = []
    passes = Scripted([KeyError("surprise"), SourceUnavailable("meta", "down"), report(), report(2, tables_changed=1)])
    for _ in range(4):
        stream_pass(passes, said.append)
    assert "KeyError" in said[0]
    assert "meta: down" in said[1]
    assert len(said) == 3
    assert '"snapshots_appended":2' in said[2]


class Inbox:
    """Drains that report, or raise, what the test says."""

    def __init__(self, answers: Iterable[DrainReport | Exception]) -> None:
        self.answers = iter(answers)

    def run(self) -> DrainReport:
        answer = next(self.answers)
        if isinstance(answer, Exception):
            raise answer
        return answer


def test_a_full_inbox_is_drained_to_its_end() -> None:
    said: list[str] = []
    assert drain_inbox(Inbox([DrainReport(appended=5, committed=6, more=True), DrainReport()]), said.append) == ()
    assert said == ["inbox: 5 rows appended, 0 items set aside"]


def test_an_unresponsive_inbox_is_reported_and_ends_neither_once_nor_the_stream() -> None:
    said: list[str] = []
    assert drain_inbox(Inbox([SourceUnavailable("inbox", "locked")]), said.append) == ("inbox: locked",)
    stream_drain(Inbox([KeyError("surprise")]), said.append)
    assert "locked" in said[0]
    assert "KeyError" in said[1]
