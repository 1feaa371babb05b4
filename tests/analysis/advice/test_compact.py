"""Rule `compact` at both sides of each threshold, and which partitions its plan takes up."""

from __future__ import annotations

import pytest

from advised_facts import (
    DAY,
    EU,
    GIB,
    MINUTE,
    READ_HOURLY,
    US,
    WHOLE,
    commits,
    facts,
    group,
    metadata,
    plan,
    region,
    survey,
)
from limnograph.analysis.advice.compact import PARTIAL_ABOVE, compact
from limnograph.analysis.advice.facts import ReadLoad
from limnograph.analysis.advice.planned import PlannedAction
from limnograph.analysis.advice.rewrite import MOST_PARTITIONS
from limnograph.domain.advice.document import NotKnown, NotWorth
from limnograph.domain.advice.survey import SurveyedField, SurveyedPartition, TableSurvey


def due(found: TableSurvey | None, **known: object) -> PlannedAction:
    """The only answer, which is a plan."""
    (answer,) = compact(facts(found, **known))
    assert isinstance(answer, PlannedAction), answer
    return answer


@pytest.mark.parametrize(("files", "outputs", "fires"), [(40, 20, True), (40, 21, False), (41, 21, False)])
def test_it_needs_half_of_the_files_to_go(files: int, outputs: int, fires: bool) -> None:
    assert bool(compact(facts(survey(group(compact=plan(files, outputs)))))) is fires


@pytest.mark.parametrize(("files", "fires"), [(20, False), (21, True)])
def test_it_needs_twenty_files_saved(files: int, fires: bool) -> None:
    assert bool(compact(facts(survey(group(compact=plan(files)))))) is fires


@pytest.mark.parametrize(("saved", "fires"), [(99, False), (100, True)])
def test_it_needs_two_hundredths_of_a_large_table_saved(saved: int, fires: bool) -> None:
    large = group(EU, compact=plan(saved + 1), files=2_500)
    assert bool(compact(facts(survey(large, group(US, files=2_500))))) is fires


def test_a_plan_names_its_files_bytes_and_cost() -> None:
    found = due(survey(group(compact=plan(1_024, 2, rows=100, deleted=25))))
    predicted = found.predicted
    assert (predicted.files_in, predicted.files_out, predicted.bytes_in) == (1_024, 2, GIB)
    assert predicted.bytes_out == GIB * 3 // 4
    assert predicted.seconds is not None
    assert predicted.cost is not None
    assert predicted.seconds.mid == pytest.approx(49.2)
    assert predicted.seconds.low < predicted.seconds.mid < predicted.seconds.high
    assert predicted.cost.low < predicted.cost.mid < predicted.cost.high
    assert found.options == {"max-file-group-size-bytes": str(10 * GIB)}


@pytest.mark.parametrize(("groups", "partial"), [(PARTIAL_ABOVE, False), (PARTIAL_ABOVE + 1, True)])
def test_many_groups_are_committed_on_the_way(groups: int, partial: bool) -> None:
    found = due(survey(*(group(region(number), compact=plan(30)) for number in range(groups))))
    assert ("partial-progress.enabled" in found.options) is partial


def test_a_partition_that_is_being_written_is_left_out_and_named_in_the_guard() -> None:
    found = due(survey(group(EU, compact=plan(90)), group(US, compact=plan(30), written=MINUTE)))
    assert found.partitions == [EU]
    assert found.guards[0].ok
    assert "1 partition written since then is left out" in found.guards[0].text


@pytest.mark.parametrize(("minutes", "left_out"), [(14, True), (15, False)])
def test_the_quiet_time_is_at_least_a_quarter_of_an_hour(minutes: int, left_out: bool) -> None:
    (answer,) = compact(facts(survey(group(EU, compact=plan(90), written=minutes * MINUTE))))
    assert isinstance(answer, NotWorth) is left_out
    if isinstance(answer, NotWorth):
        assert answer.text == (
            "1 partition with small files was written within the last 15 min, and left out until then"
        )


@pytest.mark.parametrize(("minutes", "left_out"), [(29, True), (30, False)])
def test_the_quiet_time_is_three_times_the_usual_gap_between_commits(minutes: int, left_out: bool) -> None:
    table = metadata(commits(*range(600 * MINUTE, 0, -10 * MINUTE)))
    (answer,) = compact(facts(survey(group(EU, compact=plan(90), written=minutes * MINUTE)), table))
    assert isinstance(answer, NotWorth) is left_out


def test_a_partition_whose_last_commit_is_not_retained_is_quiet() -> None:
    found = due(survey(group(EU, compact=plan(90), written=None)))
    assert found.guards[0].ok


def test_a_table_without_partitions_is_one_group_whose_guard_says_wait() -> None:
    found = due(survey(group(WHOLE, compact=plan(90), written=MINUTE), specs={0: []}))
    assert found.partitions == []
    assert found.arguments["whole_table"]
    assert (found.guards[0].code, found.guards[0].ok) == ("quiet", False)


def test_a_table_without_partitions_in_two_specs_predicts_all_that_the_statement_rewrites() -> None:
    older = SurveyedPartition(spec_id=1, text="", values=[])
    found = due(survey(group(WHOLE, compact=plan(90)), group(older, compact=plan(5, 4)), specs={0: [], 1: []}))
    assert (found.predicted.files_in, found.predicted.files_out) == (95, 5)


DAY_FIELD = SurveyedField(name="at_day", transform="day", column=("at",), type="timestamptz")
MONTH_FIELD = SurveyedField(name="at_month", transform="month", column=("at",), type="timestamptz")
THE_DAY = SurveyedPartition(spec_id=1, text="at_day=2026-11-20", values=[20_777])
SAME_MONTH = SurveyedPartition(spec_id=0, text="at_month=2026-11", values=[682])
OTHER_MONTH = SurveyedPartition(spec_id=0, text="at_month=2026-09", values=[680])


def evolved(*groups: object) -> TableSurvey:
    return survey(*groups, specs={0: [MONTH_FIELD], 1: [DAY_FIELD]})  # type: ignore[arg-type]


def test_a_condition_that_leaves_files_of_an_older_spec_alone_is_exact() -> None:
    found = due(evolved(group(THE_DAY, compact=plan(90)), group(OTHER_MONTH, files=3, compact=plan(3, 2))))
    assert found.partitions == [THE_DAY]


def test_without_an_exact_condition_the_plan_is_for_the_whole_table() -> None:
    found = due(evolved(group(THE_DAY, compact=plan(90)), group(SAME_MONTH, files=6, compact=plan(6, 4))))
    assert found.partitions == []
    assert found.arguments["whole_table"]
    assert (found.predicted.files_in, found.predicted.files_out) == (96, 5)


def test_without_an_exact_condition_a_written_table_has_to_wait() -> None:
    table = evolved(group(THE_DAY, compact=plan(90)), group(SAME_MONTH, compact=plan(6, 4), written=MINUTE))
    (answer,) = compact(facts(table))
    assert isinstance(answer, NotKnown)
    assert "selects only these partitions" in answer.missing


def test_a_column_that_was_dropped_leaves_no_condition() -> None:
    dropped = SurveyedField(name="region", transform="identity", column=None, type=None)
    (answer,) = compact(
        facts(survey(group(EU, compact=plan(90)), group(US, compact=plan(30), written=MINUTE), specs={0: [dropped]}))
    )
    assert isinstance(answer, NotKnown)


@pytest.mark.parametrize(
    "value",
    ["o'brien", '"; DROP TABLE x; --', "a/b=c", "\u202eeu", "", "null", "\x00", "${spark.app.id}", None, "x" * 5_000],
)
def test_hostile_values_of_partitions_are_selected_like_any_other(value: str | None) -> None:
    found = due(survey(group(region(value), compact=plan(90)), group(US, compact=plan(30), written=MINUTE)))
    assert [each.values for each in found.partitions] == [[value]]


def test_only_the_partitions_that_gain_most_are_taken_up() -> None:
    found = due(survey(*(group(region(n), compact=plan(6 + n)) for n in range(MOST_PARTITIONS + 50))))
    assert len(found.partitions) == MOST_PARTITIONS
    assert found.predicted.files_in == sum(6 + n for n in range(50, MOST_PARTITIONS + 50))


def test_partitions_beyond_those_of_a_plan_do_not_count_as_written() -> None:
    """The plan saves less than a fiftieth of the files, but the plans after it save the rest."""
    every = [group(region(number), compact=plan(6)) for number in range(10_000)]
    assert len(due(survey(*every)).partitions) == MOST_PARTITIONS


def test_what_is_missing_is_named() -> None:
    (unread,) = compact(facts(unread="the current files: manifest m0.avro is damaged"))
    assert unread == NotKnown(rule="compact", missing="the current files: manifest m0.avro is damaged")
    table = metadata(commits(DAY), properties={"write.target-file-size-bytes": "large"})
    (answer,) = compact(facts(survey(group(compact=plan(90))), table))
    assert isinstance(answer, NotKnown)
    assert "target file size" in answer.missing


def test_without_known_reads_its_value_is_unknown_and_it_is_due() -> None:
    value = due(survey(group(compact=plan(90)))).value
    assert (value.money_per_month, value.payback_days, value.seconds_per_day) == (None, None, None)


def test_with_known_reads_it_states_what_it_saves_and_when_it_pays_back() -> None:
    value = due(survey(group(compact=plan(2_000))), reads=READ_HOURLY).value
    assert value.money_per_month is not None
    assert value.money_per_month > 1
    assert value.payback_days is not None
    assert value.payback_days < 30


def test_a_table_that_is_hardly_read_is_not_worth_a_rewrite() -> None:
    (answer,) = compact(facts(survey(group(compact=plan(1_200))), reads=ReadLoad(scans_per_day=0.01)))
    assert isinstance(answer, NotWorth)
    assert answer.text == "saves less than 0.01 USD a month, costs less than 0.01 USD and a rewrite of 1 GB"


def test_measured_time_of_jobs_is_worth_a_rewrite_whatever_requests_cost() -> None:
    seldom = ReadLoad(scans_per_day=0.01)
    found = due(survey(group(compact=plan(90))), reads=seldom, saved={"compact": (120.0, "measured")})
    assert found.value.seconds_per_day is not None
    assert found.value.seconds_per_day.basis == "measured"


def test_borrowed_time_is_shown_but_does_not_pay_for_a_rewrite() -> None:
    borrowed = {"compact": (120.0, "borrowed")}
    (answer,) = compact(facts(survey(group(compact=plan(90))), reads=ReadLoad(0.01), saved=borrowed))
    assert isinstance(answer, NotWorth)
    found = due(survey(group(compact=plan(2_000))), reads=READ_HOURLY, saved=borrowed).value.seconds_per_day
    assert found is not None
    assert (found.mid, found.basis) == (120.0, "borrowed")


def test_a_rewrite_within_the_hour_is_other_maintenance() -> None:
    for minutes, ok in ((59, False), (60, True)):
        table = metadata(commits(minutes * MINUTE, operation="replace"))
        guards = {each.code: each.ok for each in due(survey(group(compact=plan(90))), table=table).guards}
        assert guards["no_other_maintenance"] is ok
