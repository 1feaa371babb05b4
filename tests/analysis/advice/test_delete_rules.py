"""Rules `compact_deletes` and `position_deletes` at both sides of each threshold."""

from __future__ import annotations

from typing import Any

import pytest

from advised_facts import DAY, EU, MINUTE, READ_HOURLY, US, WHOLE, commits, delete_group, facts, group, metadata, plan
from advised_facts import survey as survey_of
from limnograph.analysis.advice.deletes import compact_deletes, position_deletes
from limnograph.analysis.advice.planned import PlannedAction, RuleAnswer
from limnograph.domain.advice.document import NotKnown
from limnograph.domain.advice.survey import SurveyedGroup, SurveyedPartition


def deleted(rows: int, *, scoped: int | None = None, at: SurveyedPartition = EU, **more: Any) -> SurveyedGroup:
    """A partition of 10 files with 1,000 rows, of which some are deleted, by deletes of single files unless `scoped`
    says of how many.
    """
    own = rows if scoped is None else scoped
    given = {"delete_files": 10, "deleted": rows, "purge": plan(10, deleted=own) if own else None, "every": plan(10)}
    return group(at, files=10, **{**given, **more})


@pytest.mark.parametrize(("rows", "fires"), [(99, False), (100, True)])
def test_a_tenth_of_the_rows_must_be_deleted(rows: int, fires: bool) -> None:
    assert bool(compact_deletes(facts(survey_of(deleted(rows))))) is fires


@pytest.mark.parametrize(("files", "fires"), [(49, False), (50, True)])
def test_five_delete_files_a_data_file_suffice(files: int, fires: bool) -> None:
    assert bool(compact_deletes(facts(survey_of(deleted(10, scoped=0, delete_files=files))))) is fires


@pytest.mark.parametrize(("dangling", "fires"), [(0, True), (1, False)])
def test_delete_files_that_apply_to_nothing_do_not_count(dangling: int, fires: bool) -> None:
    found = survey_of(deleted(0, scoped=0, delete_files=50, dangling=dangling))
    assert bool(compact_deletes(facts(found))) is fires


def only(answers: list[RuleAnswer]) -> PlannedAction:
    (answer,) = answers
    assert isinstance(answer, PlannedAction), answer
    return answer


def test_deletes_of_single_files_are_applied_by_their_ratio() -> None:
    found = only(compact_deletes(facts(survey_of(deleted(300)))))
    assert (found.action, found.options["delete-ratio-threshold"]) == ("rewrite_data_files", "0.1")
    assert found.predicted.files_in == 10
    assert found.predicted.bytes_out == 7 * 2**20


def test_deletes_of_whole_partitions_are_applied_by_a_rewrite_of_all_their_files() -> None:
    found = only(compact_deletes(facts(survey_of(deleted(300, scoped=0, equality_files=10)))))
    assert found.options["rewrite-all"] == "true"
    assert found.predicted.files_in == 10


def test_both_kinds_in_two_partitions_are_two_plans() -> None:
    found = survey_of(deleted(300), deleted(300, scoped=0, at=US))
    assert [answer.options.get("rewrite-all") for answer in compact_deletes(facts(found))] == [None, "true"]  # type: ignore[union-attr]


def test_a_partition_that_is_being_written_is_left_out() -> None:
    assert compact_deletes(facts(survey_of(deleted(300, written=MINUTE)))) == []
    found = only(compact_deletes(facts(survey_of(deleted(300), deleted(300, at=US, written=MINUTE)))))
    assert found.partitions == [EU]


def test_a_partition_without_data_files_has_nothing_to_rewrite() -> None:
    empty = group(EU, files=0, delete_files=9, deleted=90)
    assert compact_deletes(facts(survey_of(empty))) == []


def test_a_table_without_rows_or_deletes_is_not_due() -> None:
    assert compact_deletes(facts(survey_of(group(WHOLE, files=3, rows=0)))) == []


def test_applying_deletes_is_not_judged_by_the_number_of_files_it_saves() -> None:
    found = only(compact_deletes(facts(survey_of(deleted(300, purge=plan(10, 10, deleted=300))), reads=READ_HOURLY)))
    assert found.value.money_per_month is None


@pytest.mark.parametrize("rule", [compact_deletes, position_deletes])
def test_without_the_current_files_nothing_is_known(rule: Any) -> None:
    (answer,) = rule(facts(unread="the current files: timeout"))
    assert isinstance(answer, NotKnown)
    assert answer.missing == "the current files: timeout"


def test_without_a_valid_target_deletes_are_not_planned() -> None:
    table = metadata(commits(DAY), properties={"write.target-file-size-bytes": "-1"})
    (answer,) = compact_deletes(facts(survey_of(deleted(300)), table))
    assert isinstance(answer, NotKnown)


@pytest.mark.parametrize(("outputs", "fires"), [(5, True), (6, False)])
def test_merging_position_deletes_leaves_half_of_the_files_at_most(outputs: int, fires: bool) -> None:
    found = survey_of(group(EU), deletes=[delete_group(EU, 10, outputs)])
    answers = position_deletes(facts(found))
    assert bool(answers) is fires
    if fires:
        plan_ = only(answers)
        assert (plan_.action, plan_.partitions, plan_.options) == ("rewrite_position_delete_files", [EU], {})
        assert (plan_.predicted.files_in, plan_.predicted.files_out) == (10, 5)


def test_position_deletes_of_a_written_partition_wait() -> None:
    found = survey_of(group(EU), group(US), deletes=[delete_group(EU, 10), delete_group(US, 10, written=MINUTE)])
    assert only(position_deletes(facts(found))).partitions == [EU]
