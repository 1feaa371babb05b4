"""Breakers and back-off: what opens each, who opened it, how it closes, and what does not open it."""

from collections.abc import Sequence
from typing import Any

import pytest

from advised_facts import GIB
from limnograph.analysis.maintenance.backoff import conflict_delay_us, retry_at
from limnograph.analysis.maintenance.breakers import BREAKERS, BreakerFacts, closed_by, harmed, opened, verification
from limnograph.analysis.maintenance.effects import MeasuredOutcome, measured_outcomes
from limnograph.analysis.maintenance.harm import HarmedRun
from limnograph.domain.facts.effects import EffectFact
from limnograph.domain.facts.plans import PlanFact
from limnograph.domain.maintenance.leases import BudgetSpent
from limnograph.domain.maintenance.policy import MaintenancePolicy
from limnograph.domain.time import Micros
from maintained_facts import DAY_US, HOUR_US, NAME, NOW_US, UUID, plan_fact, policy, rule

GROUPS = '{"groups":[{"files_sha256":"same"}]}'


def plan(number: int, state: str, ago_us: int = 0, **fields: Any) -> PlanFact:
    """A transition of one of several plans."""
    identity = f"{number:032x}"
    return plan_fact(state, ago_us=ago_us, plan_id=identity, arguments_sha256=identity, **fields)


def after(*history: PlanFact, **fields: Any) -> BreakerFacts:
    """Facts after the last of some transitions."""
    given: dict[str, Any] = {"policy": policy(), "rule": rule(), "live_bytes": 100 * GIB, "currency": "USD"}
    return BreakerFacts(NOW_US, NAME, history[-1], history, **{**given, **fields})


def runs(count: int, **fields: Any) -> list[PlanFact]:
    """Verified plans, an hour apart, the last one now."""
    return [plan(number, "verified", (count - number) * HOUR_US, **fields) for number in range(1, count + 1)]


def outcomes(*verdicts: str) -> list[MeasuredOutcome]:
    return [MeasuredOutcome(f"{number:032x}", "compact", each, "churn") for number, each in enumerate(verdicts, 1)]


CONFLICTS = [plan(number, "conflicted", (3 - number) * HOUR_US) for number in (1, 2, 3)]
OPENS: list[tuple[str, str, BreakerFacts, str]] = [
    ("table", "conflicts", after(*CONFLICTS), "The last 3 actions on lake.sales.orders lost against another writer"),
    (
        *("table", "conflicts"),
        after(*(plan_fact("conflicted", seq, (9 - seq) * HOUR_US) for seq in (3, 6, 9))),
        "The last 3 actions",
    ),
    ("table", "same_files", after(*runs(3, arguments=GROUPS)), "took up the same files of lake.sales.orders 3 times"),
    ("table", "same_files", after(plan(1, "verified", attempt=3)), "3 times"),
    (
        *("table", "reduction"),
        after(plan(1, "verified", result_files_in=1_000, result_files_out=991)),
        "replaced 1,000 files by 991",
    ),
    (
        *("table", "rewrite_ratio"),
        after(*runs(2, result_bytes_in=101 * GIB)),
        "202 GiB of lake.sales.orders were rewritten within 7 days, 2.0 times the table",
    ),
    (
        *("fleet", "cost"),
        after(*runs(1), policy=policy(max_cost_per_day=20.0), spent=BudgetSpent(day=0, cost=20.5)),
        "Today's actions cost 20.50 USD, more than the 20.00 USD that the policy permits",
    ),
    (
        *("table", "predictions"),
        after(*runs(3, seconds_mid=30.0, result_seconds=120.0)),
        "The last 3 predictions of rewrite_data_files",
    ),
    ("table", "predictions", after(*runs(3, bytes_out=10 * GIB, result_bytes_out=GIB)), "a factor of 3"),
    (
        "table",
        "writers_failed",
        after(*runs(2, writers_failed=1)),
        "2 runs of jobs that write lake.sales.orders failed",
    ),
    ("table", "writers_failed", after(*runs(1, writers_failed=2)), "because maintenance committed first"),
    ("rule", "effects", after(plan(1, "measured"), outcomes=outcomes("worse")), "made the job churn slower"),
    (
        *("rule", "effects"),
        after(plan(1, "measured", 1), plan(2, "measured"), outcomes=outcomes("none", "none")),
        "The last 2 actions of the rule compact had no effect on any job",
    ),
]
STAYS: dict[str, BreakerFacts] = {
    "two conflicts": after(*CONFLICTS[:2]),
    "a success between conflicts": after(*CONFLICTS[:2], plan(9, "verified", HOUR_US // 2), CONFLICTS[2]),
    "conflicts of another table": after(plan_fact("conflicted", table_uuid="other"), *CONFLICTS[1:]),
    "two runs on the same files": after(*runs(2, arguments=GROUPS)),
    "three runs on other files": after(*runs(3)),
    "a run that was proposed three times": after(plan(1, "proposed", 9), plan(1, "verified", attempt=3, seq=9)),
    "a reduction by 1 %": after(plan(1, "verified", result_files_in=1_000, result_files_out=990)),
    "an expiry": after(plan(1, "verified", rule="expire", result_files_in=10, result_files_out=10)),
    "an unknown result": after(plan(1, "verified", result_files_in=10)),
    "twice the table": after(*runs(2, result_bytes_in=100 * GIB)),
    "old rewrites": after(plan(1, "verified", 8 * DAY_US, result_bytes_in=900 * GIB), plan(2, "verified")),
    "the budget exactly": after(*runs(1), policy=policy(max_cost_per_day=20.0), spent=BudgetSpent(day=0, cost=20.0)),
    "slow, but short": after(*runs(3, seconds_mid=4.0, result_seconds=40.0)),
    "two predictions that were off": after(*runs(2, seconds_mid=30.0, result_seconds=120.0)),
    "a good prediction": after(*runs(2, seconds_mid=30.0, result_seconds=120.0), plan(9, "verified", seconds_mid=30.0)),
    "one harmed run": after(*runs(1, writers_failed=1)),
    "harm of last week": after(
        plan(1, "verified", 8 * DAY_US, writers_failed=1), plan(2, "verified", writers_failed=1)
    ),
    "no new harm": after(*runs(2, writers_failed=1), plan(9, "verified", writers_failed=0)),
    "one action without effect": after(plan(1, "measured"), outcomes=outcomes("none")),
    "help between": after(plan(3, "measured"), outcomes=outcomes("none", "helped", "none")),
    "an effect that is not known": after(plan(2, "measured"), outcomes=outcomes("none", "unknown")),
    "harm of an earlier plan": after(plan(2, "measured"), outcomes=outcomes("worse")),
    "an expiry without effect on jobs": after(
        plan(2, "measured", rule="expire"),
        outcomes=[each._replace(rule="expire") for each in outcomes("none", "none")],
    ),
}


@pytest.mark.parametrize(("scope", "code", "facts", "words"), OPENS)
def test_a_breaker_opens(scope: str, code: str, facts: BreakerFacts, words: str) -> None:
    (found,) = opened(facts)
    subject = {"table": UUID, "rule": "compact", "fleet": ""}[scope]
    assert (found.scope, found.code, found.key) == (scope, code, f"{scope}:{subject}:{code}")
    assert words in found.text
    assert (found.opened_by, found.opened_at) == (facts.fact.plan_id, NOW_US)
    assert f"Opened by plan {facts.fact.plan_id[:8]}." in found.text
    assert "until a user closes this breaker; then one plan is tried." in found.text
    midnight = (NOW_US // DAY_US + 1) * DAY_US
    assert found.half_open_at == (midnight if code == "cost" else NOW_US + DAY_US)


@pytest.mark.parametrize("case", STAYS)
def test_a_breaker_stays_closed(case: str) -> None:
    assert opened(STAYS[case]) == []


def test_every_breaker_is_among_the_cases() -> None:
    assert len({code for _, code, *_ in OPENS}) == len(BREAKERS)


def test_a_failed_verification_stops_the_action_until_a_user_closes_it() -> None:
    found = verification(after(plan(1, "failed")), "2 files are missing: s3://a, s3://b.")
    assert (found.key, found.half_open_at) == ("action:rewrite_data_files:verification", None)
    assert found.text == (
        "The verification of rewrite_data_files on lake.sales.orders failed: 2 files are missing: s3://a, s3://b. "
        "rewrite_data_files is stopped for all tables until a user closes this breaker. Opened by plan 00000000."
    )


def test_a_success_closes_a_breaker_that_is_half_open() -> None:
    (found,) = opened(after(*CONFLICTS))
    success = after(plan(9, "verified"))
    assert closed_by(success, [found]) == []
    later = success._replace(now=Micros(NOW_US + DAY_US))
    assert closed_by(later, [found]) == [found.key]
    assert closed_by(later._replace(fact=plan(9, "conflicted")), [found]) == []
    assert closed_by(later, [verification(success, "Rows differ.")]) == []


def test_what_was_known_before_a_user_closed_a_breaker_does_not_open_it_again() -> None:
    history: Sequence[PlanFact] = [*runs(2, writers_failed=1), plan(9, "leased"), plan(9, "verified")]
    assert opened(after(*history)) == []


@pytest.mark.parametrize(
    ("conflicts", "minutes"), [(0, 15), (1, 15), (2, 30), (3, 60), (6, 480), (7, 960), (8, 1_440), (500, 1_440)]
)
def test_the_delay_doubles_up_to_a_day(conflicts: int, minutes: int) -> None:
    assert conflict_delay_us(MaintenancePolicy(), conflicts) == minutes * 60_000_000


def test_a_retry_counts_the_conflicts_of_the_table() -> None:
    assert retry_at(policy(), CONFLICTS[:1], UUID, NOW_US) == NOW_US + HOUR_US // 4
    assert retry_at(policy(), CONFLICTS, UUID, NOW_US) == NOW_US + HOUR_US
    only_last = [plan(number, "queued", number, problem="conflict") for number in (1, 2)]
    assert retry_at(policy(), only_last, UUID, NOW_US) == NOW_US + HOUR_US // 2
    assert retry_at(policy(), [], UUID, NOW_US) == NOW_US + HOUR_US // 4


@pytest.mark.parametrize(
    ("minutes", "opens"),
    [((0, 0), True), ((9_000, 1_559), True), ((9_000, 1_561), False), ((11_000, 0), False), ((0,), False)],
)
def test_two_harmed_runs_in_a_week_open_a_breaker_if_the_last_one_is_new(minutes: tuple[int, ...], opens: bool) -> None:
    runs = [HarmedRun("erase", Micros(NOW_US - each * 60_000_000), str(each), f"plan {each}") for each in minutes]
    found = harmed(after(plan(1, "verified")), runs)
    assert (found is not None) is opens
    if found is not None:
        assert (found.key, found.opened_by) == (f"table:{UUID}:writers_failed", runs[-1].plan_id)
        assert (
            "2 runs of erase failed within 7 days because maintenance of lake.sales.orders committed first"
            in found.text
        )


def effect(snapshot: int, verdict: str, job: str = "churn", runs_after: int = 8) -> EffectFact:
    return EffectFact(
        table_uuid=UUID,
        operation_id=str(snapshot),
        job_name=job,
        measure="duration",
        runs_after=runs_after,
        verdict=verdict,
    )


@pytest.mark.parametrize(
    ("effects", "verdict", "job"),
    [
        ([effect(7, "helped")], "helped", "churn"),
        ([effect(7, "helped"), effect(7, "worse", "daily")], "worse", "daily"),
        ([effect(7, "none"), effect(7, "helped", "daily")], "helped", "daily"),
        ([effect(7, "none"), effect(7, "unknown", "daily")], "unknown", "churn"),
        ([effect(7, "none"), effect(7, "none", "daily")], "none", "churn"),
        ([effect(7, "worse"), effect(7, "none", runs_after=48)], "none", "churn"),
        ([effect(8, "worse"), effect(7, "helped", "daily")], "worse", "churn"),
        ([effect(7, "worse", "")], "worse", "scans"),
    ],
)
def test_the_verdict_on_a_plan_is_that_of_its_commits(effects: list[EffectFact], verdict: str, job: str) -> None:
    done = [plan(1, "committed", snapshot_ids=[7, 8]), plan(1, "verified", seq=2, snapshot_ids=[7, 8])]
    assert measured_outcomes(done, effects) == [MeasuredOutcome(f"{1:032x}", "compact", verdict, job)]


def test_commits_of_others_and_other_tables_are_no_outcome_of_a_plan() -> None:
    done = [plan(1, "verified", snapshot_ids=[7])]
    assert measured_outcomes(done, [effect(9, "worse")]) == []
    assert measured_outcomes([plan(1, "verified", snapshot_ids=[7], table_uuid="other")], [effect(7, "worse")]) == []
    assert measured_outcomes([plan(1, "conflicted", snapshot_ids=[7])], [effect(7, "worse")]) == []
