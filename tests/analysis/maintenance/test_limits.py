"""Limits of a policy in the rules: what they widen and narrow, and the floors that they never pass."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advised_facts import (
    DAY,
    EU,
    GIB,
    HOUR,
    MIB,
    MINUTE,
    NOW,
    US,
    commits,
    facts,
    group,
    metadata,
    plan,
    survey,
)
from limnograph.analysis.advice.compact import compact
from limnograph.analysis.advice.delta import delta_compact, delta_vacuum
from limnograph.analysis.advice.expire import expire
from limnograph.analysis.advice.facts import PlanLimits, ReadLoad
from limnograph.analysis.advice.manifests import manifests
from limnograph.analysis.advice.planned import PlannedAction
from limnograph.analysis.advice.retention import RetentionRule, expiry_within
from limnograph.analysis.maintenance.limits import limits_of, mode_of, retain_of, rule_of
from limnograph.domain.advice.document import NotWorth, TableBytes
from limnograph.domain.advice.reading import RemovableFiles
from limnograph.domain.advice.survey import SurveyedManifests
from limnograph.domain.ids import Patterns, TableName
from limnograph.domain.maintenance.policy import LeastWorth, OrphanRule, PolicyReader, RetainedSnapshots
from limnograph.domain.metadata.table import SnapshotRef
from maintained_facts import DAY_US, HOUR_US, NAME, policy, rule

DAILY = commits(*range(9 * DAY, 0, -DAY))
"""Ids 1 to 9: the first is nine days old."""


def due(answers: Any) -> bool:
    return any(isinstance(each, PlannedAction) for each in answers)


def limited(found: Any = None, table: Any = None, **known: Any) -> Any:
    """Facts; unknown names are limits."""
    limits = {key: known.pop(key) for key in list(known) if key in PlanLimits._fields}
    return facts(found, table, limits=PlanLimits(**limits), **known)


def test_without_a_policy_there_are_no_limits() -> None:
    assert rule_of(policy(rule(tables=Patterns(("lake.crm.*",)))), NAME) is None
    assert limits_of(policy(), None) == PlanLimits()
    assert retain_of(None) is None
    assert limits_of(policy(), rule()) == PlanLimits()
    assert mode_of(policy(mode="auto"), None, "expire_snapshots") == "advise"


def test_a_table_without_a_catalog_is_matched_by_its_own_name() -> None:
    own = policy(rule(tables=Patterns(("landing.*",))))
    assert rule_of(own, TableName("files", "landing", "orders")) is own.rules[0]


def test_limits_are_those_of_the_policy() -> None:
    found = limits_of(
        policy(),
        rule(
            quiet_us=60_000_000,
            partitions_older_us=DAY_US,
            retain=RetainedSnapshots(2 * DAY_US, 20),
            readers=(PolicyReader("churn", 36 * HOUR_US), PolicyReader("daily", 72 * HOUR_US)),
            orphans=OrphanRule(3 * DAY_US, "approve", 2 * DAY_US),
            worth=LeastWorth(3, 100, paying=False),
            min_payback_days=10.0,
        ),
    )
    assert found == PlanLimits(
        quiet_ms=DAY,
        retention=RetentionRule(72 * HOUR, 20),
        orphan_age_ms=6 * DAY,
        saved_files=3,
        freed_bytes=100,
        payback_days=10.0,
        paying=False,
    )


def test_readers_alone_raise_the_floor() -> None:
    assert retain_of(rule(readers=(PolicyReader("stream", HOUR_US),))) == RetainedSnapshots(DAY_US, 2)


@given(st.integers(0, 10 * DAY_US), st.integers(0, 100), st.integers(0, 10 * DAY_US))
def test_no_policy_passes_the_floors(age_us: int, last: int, orphan_age_us: int) -> None:
    own = rule(retain=RetainedSnapshots(age_us, last), orphans=OrphanRule(orphan_age_us))
    found = limits_of(policy(), own)
    assert found.retention is not None
    assert found.retention.age_ms >= DAY
    assert found.retention.kept >= 2
    assert found.orphan_age_ms is not None
    assert found.orphan_age_ms >= 3 * DAY


@given(st.integers(0, 12), st.integers(0, 12), st.sampled_from([None, HOUR, 3 * DAY]))
def test_a_plan_keeps_what_the_table_or_the_policy_keeps(days: int, kept: int, branch_age: int | None) -> None:
    retention = {} if branch_age is None else {"max-snapshot-age-ms": branch_age}
    table = metadata(DAILY, refs={"main": SnapshotRef(9, "branch", retention)})
    own = expiry_within(table, NOW, None).snapshot_ids
    both = expiry_within(table, NOW, RetentionRule(days * DAY, kept)).snapshot_ids
    assert both <= own
    assert not both & {each.snapshot_id for each in DAILY[len(DAILY) - kept :]}
    assert all(NOW - (DAILY[each - 1].timestamp_ms or 0) > days * DAY for each in both)


@pytest.mark.parametrize(("quiet", "left_out"), [(30 * MINUTE, True), (20 * MINUTE, True), (20 * MINUTE - 1, False)])
def test_the_quiet_time_is_that_of_the_policy(quiet: int, left_out: bool) -> None:
    found = survey(group(EU, written=DAY, compact=plan(100)), group(US, written=20 * MINUTE - 1, compact=plan(100)))
    (answer,) = compact(limited(found, quiet_ms=quiet))
    assert isinstance(answer, PlannedAction)
    assert (len(answer.partitions) == 1) is left_out


@pytest.mark.parametrize(("saved", "fires"), [(None, False), (10, False), (9, True)])
def test_a_rewrite_is_due_from_the_files_that_the_policy_names(saved: int | None, fires: bool) -> None:
    assert due(compact(limited(survey(group(compact=plan(10))), saved_files=saved))) is fires


def test_manifests_and_delta_files_have_the_same_threshold() -> None:
    few = survey(group(), manifests=[SurveyedManifests(spec_id=0, deletes=False, count=6, bytes=9_000)])
    assert not due(manifests(limited(few)))
    assert due(manifests(limited(few, saved_files=5)))
    assert not due(manifests(limited(few, saved_files=6)))
    delta = metadata(commits(DAY), format="delta")
    small = survey(group(compact=plan(10), small=10))
    assert not due(delta_compact(limited(small, delta)))
    assert due(delta_compact(limited(small, delta, saved_files=10)))


def test_freed_bytes_of_the_policy_make_an_expiry_or_a_vacuum_due() -> None:
    table = metadata(DAILY)
    assert not due(expire(limited(table=table, freed=MIB)))
    assert due(expire(limited(table=table, freed=MIB, freed_bytes=MIB)))
    assert not due(expire(limited(table=table, freed=2 * GIB, freed_bytes=3 * GIB)))
    held = TableBytes(live=GIB, held=0, metadata=0, by_ref={}, by_age=[])
    removable = RemovableFiles(files=1, bytes=MIB, hours=168, sha256="a")
    assert not due(delta_vacuum(limited(held=held, removable=removable)))
    assert due(delta_vacuum(limited(held=held, removable=removable, freed_bytes=MIB)))


def test_the_retention_of_the_policy_names_fewer_snapshots() -> None:
    table = metadata(DAILY)
    (own,) = expire(limited(table=table, freed=2 * GIB))
    (kept,) = expire(limited(table=table, freed=2 * GIB, retention=RetentionRule(7 * DAY, 2)))
    assert isinstance(own, PlannedAction)
    assert isinstance(kept, PlannedAction)
    assert (list(own.snapshots), list(kept.snapshots)) == ([1, 2, 3, 4], [1, 2])
    assert expire(limited(table=table, freed=2 * GIB, retention=RetentionRule(DAY, 9))) == []


def test_a_rewrite_must_pay_back_as_the_policy_says() -> None:
    often = ReadLoad(scans_per_day=2_400)
    found = survey(group(compact=plan(100)))
    (by_default,) = compact(limited(found, reads=often))
    assert isinstance(by_default, PlannedAction)
    days = by_default.value.payback_days
    assert days is not None
    assert due(compact(limited(found, reads=often, payback_days=days * 1.01)))
    assert isinstance(compact(limited(found, reads=often, payback_days=days * 0.99))[0], NotWorth)
    assert due(compact(limited(found, reads=often, payback_days=days * 0.99, paying=False)))


def test_what_is_stored_twice_until_the_expiry_costs_more_with_a_longer_retention() -> None:
    found = survey(group(compact=plan(100)))
    (short,) = compact(limited(found))
    (long,) = compact(limited(found, retention=RetentionRule(90 * DAY, 2)))
    assert isinstance(short, PlannedAction)
    assert isinstance(long, PlannedAction)
    assert short.predicted.cost is not None
    assert long.predicted.cost is not None
    assert long.predicted.cost.mid > short.predicted.cost.mid
