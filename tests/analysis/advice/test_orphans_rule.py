"""Rule `orphans`: which files of a listing a plan takes up, and its exact arguments."""

from typing import Any, NamedTuple

import pytest

from advised_facts import DAY, GIB, MIB, NOW, facts, metadata
from limnograph.analysis.advice.facts import PlanLimits
from limnograph.analysis.advice.planned import PlannedAction, plan_id
from limnograph.analysis.advice.recommendation import recommendations
from limnograph.analysis.advice.statements.subject import StatementTable
from limnograph.analysis.advice.unlisted import listing_sha256, orphans, removable_files
from limnograph.domain.advice.document import NotKnown, NotWorth, StatementTexts

ROOT = "s3://lake/sales/orders"


class Listed(NamedTuple):
    location: str
    size: int = GIB
    modified_at_ms: int = NOW - 30 * DAY


def file(name: str = "1", age: int = 30 * DAY, size: int = GIB) -> Listed:
    return Listed(f"{ROOT}/data/{name}.parquet", size, NOW - age)


def answer(*files: Listed, **limits: Any) -> Any:
    found = orphans(facts(table=metadata(), unreferenced=files, limits=PlanLimits(**limits)))
    return found[0] if found else None


def test_without_a_listing_nothing_is_known() -> None:
    (found,) = orphans(facts())
    assert isinstance(found, NotKnown)
    assert answer() is None


@pytest.mark.parametrize(
    ("age", "limit", "taken"),
    [
        (7 * DAY, None, True),
        (7 * DAY - 1, None, False),
        (3 * DAY, 3 * DAY, True),
        (3 * DAY - 1, 3 * DAY, False),
        (3 * DAY - 1, 0, False),
        (3 * DAY - 1, DAY, False),
        (9 * DAY, 10 * DAY, False),
        (-DAY, 3 * DAY, False),
    ],
)
def test_files_must_be_old_enough(age: int, limit: int | None, taken: bool) -> None:
    assert isinstance(answer(file(age=age), orphan_age_ms=limit), PlannedAction) is taken


def test_the_arguments_are_the_number_the_bytes_and_a_digest() -> None:
    plan = answer(file("2"), file("1", size=5), file("3", age=DAY))
    assert plan.action == "remove_orphan_files"
    assert plan.files == [f"{ROOT}/data/1.parquet", f"{ROOT}/data/2.parquet"]
    assert plan.arguments == {
        "action": "remove_orphan_files",
        "files": 2,
        "bytes": GIB + 5,
        "files_sha256": listing_sha256([file("2"), file("1", size=5)]),
    }
    assert plan.predicted.bytes_freed == GIB + 5
    assert {each.code: each.ok for each in plan.guards} == {"gc_enabled": True, "age": True}


def test_the_plan_is_the_same_whatever_else_is_listed_and_in_which_order() -> None:
    one, other = answer(file("1"), file("2")), answer(file("2"), file("9", age=DAY), file("1"))
    assert plan_id("t", one) == plan_id("t", other)
    assert plan_id("t", one) != plan_id("t", answer(file("1"), file("2", size=GIB + 1)))


@pytest.mark.parametrize(
    "location",
    [f"{ROOT}/1.parquet", f"{ROOT}/backup/1.parquet", "s3://lake/sales/items/data/1", "s3://LAKE/sales/orders/data/1"],
)
def test_files_outside_of_the_tables_own_folders_are_never_taken_up(location: str) -> None:
    assert answer(Listed(location)) is None
    assert removable_files([Listed(location), file()], metadata()) == [file()]


def test_few_bytes_are_not_worth_it_unless_the_policy_says_so() -> None:
    assert isinstance(answer(file(size=MIB)), NotWorth)
    assert isinstance(answer(file(size=MIB), freed_bytes=MIB), PlannedAction)


def test_a_plan_has_no_statement_because_none_names_files() -> None:
    known = facts(table=metadata(), unreferenced=[file()])
    (found,) = recommendations(known, orphans(known), StatementTable("lake", ("sales",), "orders", ROOT))
    assert found.statements == StatementTexts()
