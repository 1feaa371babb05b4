"""Rule `expire`: thresholds, guards, money, and what it never removes."""

from __future__ import annotations

import pytest

from advised_facts import DAY, GIB, HOUR, MINUTE, commits, facts, group, metadata, survey
from limnograph.analysis.advice.expire import expire, least_freed
from limnograph.analysis.advice.facts import AdviceFacts
from limnograph.analysis.advice.planned import PlannedAction
from limnograph.analysis.advice.readers import ReaderNeed
from limnograph.analysis.advice.recommendation import recommendations
from limnograph.analysis.advice.statements.subject import StatementTable
from limnograph.domain.advice.document import NotKnown, NotWorth, TableBytes
from limnograph.domain.metadata.table import SnapshotRef, TableMetadata
from limnograph.domain.time import Micros

DAILY = commits(*range(9 * DAY, 0, -DAY))
"""Ids 1 to 9: the first is nine days old. Five days are the default retention."""


def table(**fields: object) -> TableMetadata:
    return metadata(DAILY, **fields)


def planned(known: AdviceFacts) -> PlannedAction:
    (answer,) = expire(known)
    assert isinstance(answer, PlannedAction), answer
    return answer


@pytest.mark.parametrize(("freed", "fires"), [(GIB - 1, False), (GIB, True)])
def test_a_gibibyte_must_be_freed(freed: int, fires: bool) -> None:
    (answer,) = expire(facts(table=table(), freed=freed))
    assert isinstance(answer, PlannedAction) is fires


@pytest.mark.parametrize(("freed", "fires"), [(5 * GIB - 1, False), (5 * GIB, True)])
def test_a_twentieth_of_the_live_bytes_must_be_freed(freed: int, fires: bool) -> None:
    held = TableBytes(live=100 * GIB, held=freed, metadata=0, by_ref={}, by_age=[])
    (answer,) = expire(facts(table=table(), freed=freed, held=held))
    assert isinstance(answer, PlannedAction) is fires


def test_without_a_sum_the_live_bytes_are_those_of_the_survey() -> None:
    assert least_freed(facts(survey(group(files=100_000)))) == pytest.approx(0.05 * 100_000 * 2**20)


@pytest.mark.parametrize(("snapshots", "fires"), [(500, False), (501, True)])
def test_more_than_500_snapshots_are_due_whatever_they_hold(snapshots: int, fires: bool) -> None:
    many = metadata(commits(*range(snapshots * HOUR, 0, -HOUR)))
    (answer,) = expire(facts(table=many, freed=0))
    assert isinstance(answer, PlannedAction) is fires


@pytest.mark.parametrize(("size", "fires"), [(5 * 2**20, False), (5 * 2**20 + 1, True)])
def test_a_large_metadata_file_is_due_whatever_the_snapshots_hold(size: int, fires: bool) -> None:
    (answer,) = expire(facts(table=table(size_bytes=size), freed=0))
    assert isinstance(answer, PlannedAction) is fires


def test_a_crowded_table_is_due_although_its_bytes_are_unknown() -> None:
    found = planned(facts(table=table(size_bytes=6 * 2**20), unsummed="a manifest is damaged"))
    assert (found.predicted.bytes_freed, found.value.money_per_month) == (None, None)


def test_unknown_bytes_are_not_known() -> None:
    assert expire(facts(table=table(), unsummed="a manifest is damaged")) == [
        NotKnown(rule="expire", missing="a manifest is damaged")
    ]


def test_what_frees_little_is_not_worth_it_with_the_amount() -> None:
    (answer,) = expire(facts(table=table(), freed=GIB // 2))
    assert answer == NotWorth(rule="expire", text="4 snapshots past retention hold only 512 MiB: 0.01 USD a month")
    (one,) = expire(facts(table=metadata(commits(6 * DAY, DAY, HOUR)), freed=0))
    assert one == NotWorth(rule="expire", text="1 snapshot past retention holds only 0 bytes: 0.00 USD a month")


def test_a_plan_names_its_snapshots_and_what_they_cost() -> None:
    found = planned(facts(table=table(), freed=10 * GIB, codes=["held_bytes", "small_files"]))
    assert found.snapshots == [1, 2, 3, 4]
    assert found.predicted.bytes_freed == 10 * GIB
    assert found.value.money_per_month == pytest.approx(0.23)
    assert found.because == ["held_bytes"]


def test_nothing_past_retention_is_no_answer() -> None:
    assert expire(facts(table=metadata(commits(3 * DAY, HOUR)), freed=0)) == []


def guards(known: AdviceFacts) -> dict[str, bool]:
    return {each.code: each.ok for each in planned(known).guards}


def test_unknown_readers_are_a_guard_that_does_not_hold() -> None:
    assert not guards(facts(table=table(), freed=GIB))["readers"]
    assert guards(facts(table=table(), freed=GIB, readers=[]))["readers"]


def test_a_reader_of_an_expiring_snapshot_is_named() -> None:
    reader = ReaderNeed("churn", (2,), None, Micros(0), "behind")
    (guard,) = [
        each for each in planned(facts(table=table(), freed=GIB, readers=[reader])).guards if each.code == "readers"
    ]
    assert (guard.ok, guard.text) == (False, "churn needs snapshot 2: it continues from it.")
    assert guards(facts(table=table(), freed=GIB, readers=[ReaderNeed("churn", (8,), None, Micros(0), "behind")]))[
        "readers"
    ]


def test_a_table_that_forbids_deletion_is_never_expired() -> None:
    assert guards(facts(table=table(), freed=GIB))["gc_enabled"]
    assert not guards(facts(table=table(properties={"gc.enabled": "False"}), freed=GIB))["gc_enabled"]


NAMED = StatementTable("lake", ("sales",), "orders", "s3://lake/sales/orders")


def spark_statement(refs: dict[str, SnapshotRef]) -> str | None:
    known = facts(table=table(refs={"main": SnapshotRef(9, "branch"), **refs}), freed=GIB)
    (found,) = recommendations(known, [planned(known)], NAMED)
    return found.statements.spark


def test_spark_gets_no_statement_where_it_would_apply_the_age_of_a_branch_or_tag() -> None:
    assert spark_statement({}) is not None
    assert spark_statement({"eternal": SnapshotRef(2, "tag")}) is not None
    assert spark_statement({"weekly": SnapshotRef(8, "tag", {"max-ref-age-ms": HOUR})}) is None
    assert spark_statement({"main": SnapshotRef(9, "branch", {"max-snapshot-age-ms": HOUR})}) is None
    assert (
        spark_statement({"audit": SnapshotRef(8, "branch", {"max-snapshot-age-ms": HOUR})}) is not None
    )  # main has it


def test_a_ref_past_its_own_age_is_named_and_kept() -> None:
    known = facts(
        table=table(refs={"main": SnapshotRef(9, "branch"), "weekly": SnapshotRef(1, "tag", {"max-ref-age-ms": HOUR})}),
        freed=GIB,
    )
    found = planned(known)
    assert found.snapshots == [2, 3, 4]
    assert any("weekly" in each.text for each in found.guards if each.code == "refs_kept")


def test_the_floors_hold_whatever_the_table_says() -> None:
    greedy = {"history.expire.max-snapshot-age-ms": "1", "history.expire.min-snapshots-to-keep": "1"}
    known = facts(table=metadata(commits(3 * DAY, 2 * DAY, DAY + MINUTE, HOUR), properties=greedy), freed=GIB)
    assert planned(known).snapshots == [1, 2]
    old = facts(table=metadata(commits(30 * DAY, 20 * DAY, 10 * DAY), properties=greedy), freed=GIB)
    assert planned(old).snapshots == [1]
