"""Runs of users' jobs that failed because of maintenance: which count, and which do not."""

from typing import Any

import pytest

from limnograph.analysis.maintenance.harm import (
    RETRIES_US,
    ActionSpan,
    harmed_by_all,
    harmed_runs,
    is_conflict,
    spans_of,
)
from limnograph.domain.facts.events import ReportFact, RunFact, RunTable
from limnograph.domain.ids import TableName
from limnograph.domain.time import Micros
from maintained_facts import plan_fact

LEASED, COMMITTED = Micros(1_000_000_000), Micros(1_060_000_000)
SPAN = ActionSpan(TableName("lake", "sales", "orders"), "s3://lake/orders", LEASED, COMMITTED)
LOST = "org.apache.iceberg.exceptions.ValidationException: Cannot commit, missing data files: [s3://…]"
ORDERS = RunTable(catalog="lake", namespace="sales", table="orders", role="writes")


def run(**fields: Any) -> RunFact:
    """A row-level delete that failed a second after the commit."""
    given: dict[str, Any] = {
        "run_id": "r1",
        "status": "failed",
        "job_name": "erase",
        "started_at": Micros(LEASED - 1),
        "ended_at": Micros(COMMITTED + 1_000_000),
        "message": LOST,
        "tables": [ORDERS],
    }
    return RunFact(**{**given, **fields})


def report(**fields: Any) -> ReportFact:
    given: dict[str, Any] = {
        "event_id": "e1",
        "kind": "commit",
        "at": COMMITTED,
        "catalog": "lake",
        "namespace": "sales",
        "table": "orders",
        "outcome": "conflict",
        "job_name": "erase",
    }
    return ReportFact(**{**given, **fields})


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"started_at": None},
        {"started_at": COMMITTED},
        {"ended_at": LEASED},
        {"ended_at": Micros(COMMITTED + RETRIES_US)},
        {"ended_at": None, "at": COMMITTED},
        {"tables": [RunTable(namespace="sales", table="orders", role="writes")]},
        {"tables": [RunTable(namespace="x", table="y", role="writes", location="s3://lake/orders")]},
        {"message": "pyiceberg.exceptions.CommitFailedException: branch main has changed"},
        {"message": "io.delta.exceptions.ConcurrentDeleteReadException: …"},
    ],
)
def test_a_run_that_lost_against_the_action_counts(changed: dict[str, Any]) -> None:
    assert [each.job for each in harmed_runs(SPAN, [run(**changed)])] == ["erase"]


@pytest.mark.parametrize(
    "changed",
    [
        {"status": "ok"},
        {"status": "running", "ended_at": None},
        {"ended_at": Micros(LEASED - 1)},
        {"ended_at": Micros(COMMITTED + RETRIES_US + 1)},
        {"started_at": Micros(COMMITTED + 1)},
        {"ended_at": None},
        {"message": "java.lang.OutOfMemoryError"},
        {"message": None},
        {"tables": None},
        {"tables": [RunTable(catalog="lake", namespace="sales", table="items", role="writes")]},
        {"tables": [RunTable(catalog="other", namespace="sales", table="orders", role="writes")]},
        {"tables": [RunTable(catalog="lake", namespace="sales", table="orders", role="reads")]},
    ],
)
def test_other_failures_do_not_count(changed: dict[str, Any]) -> None:
    assert harmed_runs(SPAN, [run(**changed)]) == []


def test_a_run_counts_once_whatever_else_reports_it() -> None:
    begun = run(status="running", ended_at=None, message=None)
    assert len(harmed_runs(SPAN, [begun, run(), run()], [report(run_id="r1"), report(event_id="e2")])) == 1


def test_a_lost_commit_without_a_run_counts_and_one_of_a_run_that_succeeded_does_not() -> None:
    assert [each.job for each in harmed_runs(SPAN, [], [report()])] == ["erase"]
    assert harmed_runs(SPAN, [run(status="ok", message=None)], [report(run_id="r1")]) == []
    assert harmed_runs(SPAN, [], [report(outcome="ok")]) == []
    assert harmed_runs(SPAN, [], [report(table="items")]) == []
    assert harmed_runs(SPAN, [], [report(at=Micros(LEASED - 1))]) == []


def test_a_failed_run_without_a_message_counts_if_its_commit_was_lost() -> None:
    assert len(harmed_runs(SPAN, [run(message=None)], [report(run_id="r1")])) == 1


@pytest.mark.parametrize("message", [None, "", "Task failed: disk full", "java.io.FileNotFoundException"])
def test_other_messages_name_no_conflict(message: str | None) -> None:
    assert not is_conflict(message)


def test_spans_follow_from_the_transitions_of_plans() -> None:
    history = [
        plan_fact("conflicted", 5, at=Micros(100_000_000)),
        plan_fact("committed", 9, at=COMMITTED, result_seconds=60.0),
        plan_fact("verified", 10, at=Micros(COMMITTED + 5), result_seconds=60.0),
        plan_fact("verified", 3, at=Micros(4_000_000_000), plan_id="b"),
    ]
    one, other = spans_of(history, SPAN.name, SPAN.location)
    assert one == SPAN._replace(plan_id="a" * 32)
    assert (other.leased_at, other.plan_id) == (400_000_000, "b")


def test_a_run_that_two_actions_may_have_harmed_counts_once() -> None:
    (found,) = harmed_by_all([SPAN._replace(plan_id="a"), SPAN._replace(plan_id="b")], [run()], [report(run_id="r1")])
    assert found.plan_id == "a"
