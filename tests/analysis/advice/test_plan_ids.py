"""A plan's id is the same at every evaluation, and another one as soon as its effect is another."""

from __future__ import annotations

from advised_facts import DAY, EU, HOUR, MINUTE, US, commits, delete_group, facts, group, metadata, plan, region, survey
from limnograph.analysis.advice.compact import compact
from limnograph.analysis.advice.expire import expire
from limnograph.analysis.advice.facts import AdviceFacts
from limnograph.analysis.advice.manifests import manifests
from limnograph.analysis.advice.planned import PlannedAction, arguments_sha256, plan_id
from limnograph.analysis.advice.rules import ICEBERG, answers
from limnograph.domain.advice.survey import SurveyedManifests

UUID = metadata().table_uuid


def ids(known: AdviceFacts) -> list[str]:
    return [plan_id(UUID, each) for each in answers(known, ICEBERG) if isinstance(each, PlannedAction)]


def test_an_id_has_32_hexadecimal_digits_and_depends_on_table_rule_and_arguments() -> None:
    (found,) = compact(facts(survey(group(compact=plan(90)))))
    assert isinstance(found, PlannedAction)
    one = plan_id(UUID, found)
    assert len(one) == 32
    assert int(one, 16) >= 0
    others = {
        plan_id("other", found),
        plan_id(UUID, found._replace(rule="x")),
        plan_id(UUID, found._replace(action="x")),
    }
    assert len(others | {one}) == 4
    assert len(arguments_sha256(found)) == 64


def test_every_evaluation_of_the_same_table_yields_the_same_ids() -> None:
    def known() -> AdviceFacts:
        eu = group(EU, compact=plan(90), delete_files=60, deleted=900, purge=plan(90, deleted=900), every=plan(90))
        table = survey(eu, group(US), deletes=[delete_group(EU, 40)])
        return facts(table, metadata(commits(*range(40 * DAY, 0, -HOUR))), freed=2**31)

    assert len(ids(known())) >= 3
    assert ids(known()) == ids(known())


def test_the_order_in_which_groups_are_found_does_not_matter() -> None:
    one, two = group(EU, compact=plan(90)), group(US, compact=plan(50))
    assert ids(facts(survey(one, two))) == ids(facts(survey(two, one)))


def test_commits_outside_the_chosen_partitions_leave_the_id() -> None:
    quiet = group(EU, compact=plan(90))
    before = survey(quiet, group(US, compact=plan(30), written=MINUTE))
    after = survey(quiet, group(US, compact=plan(35), written=MINUTE), snapshot_id=2, data_files=130)
    assert ids(facts(before)) == ids(facts(after, metadata(commits(DAY, DAY - MINUTE, MINUTE, 0))))


def test_another_file_in_a_chosen_partition_changes_the_id() -> None:
    one, two = (survey(group(EU, compact=plan(90, version=version))) for version in (0, 1))
    assert ids(facts(one)) != ids(facts(two))


def test_another_partition_with_the_same_files_changes_the_id() -> None:
    one, two = (survey(group(region(name), compact=plan(90))) for name in ("eu", "us"))
    assert ids(facts(one)) != ids(facts(two))


def test_the_time_of_evaluation_money_and_reads_are_no_part_of_the_id() -> None:
    found = survey(group(EU, compact=plan(90)))
    known = facts(found)
    later = AdviceFacts(known.metadata, known.now + HOUR, survey=found, saved={"compact": (9.0, "measured")})  # type: ignore[arg-type]
    assert ids(known) == ids(later)


def test_an_expiry_is_another_plan_as_soon_as_another_snapshot_is_past_retention() -> None:
    table = metadata(commits(*range(10 * DAY, 0, -HOUR)))
    first, same, later = (
        expire(AdviceFacts(table, facts().now + age, freed=2**31))[0]  # type: ignore[arg-type]
        for age in (MINUTE, 2 * MINUTE, HOUR + MINUTE)
    )
    assert isinstance(first, PlannedAction)
    assert isinstance(same, PlannedAction)
    assert isinstance(later, PlannedAction)
    assert plan_id(UUID, first) == plan_id(UUID, same) != plan_id(UUID, later)


def test_a_rewrite_of_manifests_stays_the_same_plan_while_commits_arrive() -> None:
    def known(count: int, snapshot: int) -> PlannedAction:
        many = [SurveyedManifests(spec_id=0, deletes=False, count=count, bytes=count * 9_000)]
        (found,) = manifests(facts(survey(group(), manifests=many, snapshot_id=snapshot)))
        assert isinstance(found, PlannedAction)
        return found

    assert plan_id(UUID, known(40, 1)) == plan_id(UUID, known(41, 2))
