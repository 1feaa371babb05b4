"""Whether a policy lets an action run, and the sentence that says so."""

import datetime as dt
from typing import Any

import pytest

from advised_facts import GIB
from limnograph.analysis.maintenance.decision import decide, decisions
from limnograph.domain.advice.document import Estimate, PlanValue, Predicted
from limnograph.domain.ids import Patterns
from limnograph.domain.maintenance.leases import BudgetSpent, MaintenanceBreaker
from limnograph.domain.maintenance.policy import DailyWindow, OrphanRule
from limnograph.domain.time import Micros
from maintained_facts import DAY_US, HOUR_US, NOW_US, UUID, approved, decided, plan_fact, planned, policy, rule

MINUTE = (NOW_US // 60_000_000) % 1_440
LATER = DailyWindow((MINUTE + 60) % 1_440, (MINUTE + 120) % 1_440)
NOW_OPEN = DailyWindow((MINUTE - 60) % 1_440, (MINUTE + 60) % 1_440)
TOMORROW = Micros((NOW_US // DAY_US + 1) * DAY_US)
COSTLY = Predicted(bytes_in=GIB, cost=Estimate(low=20, mid=30, high=60))


def breaker(scope: Any, subject: str, half_open_at: Micros | None = None) -> MaintenanceBreaker:
    return MaintenanceBreaker(
        key=f"{scope}:{subject}:x",
        scope=scope,
        subject=subject,
        code="x",
        opened_by="p",
        opened_at=NOW_US,
        text="It is open.",
        half_open_at=half_open_at,
    )


def manual(**fields: Any) -> Any:
    return policy(rule(mode="approve", **fields))


@pytest.mark.parametrize(
    ("changed", "verdict", "code", "words"),
    [
        ({}, "run", "run", '"sales" runs it: its mode is "auto".'),
        ({"policy": manual(), "approval": approved()}, "run", "run", "ann approved it"),
        (
            {"policy": policy(rule(tables=Patterns(("lake.crm.*",))))},
            "advise",
            "no_policy",
            "No policy names lake.sales",
        ),
        ({"plan": planned("writer")}, "advise", "advice_only", "only recommended, never executed"),
        ({"plan": planned("hudi_compaction")}, "advise", "advice_only", "hudi_compaction"),
        ({"policy": policy(rule(actions=frozenset({"expire"})))}, "advise", "action", "its actions: expire"),
        ({"policy": policy(rule(actions=frozenset({"expire"}))), "approval": approved()}, "refuse", "action", "permit"),
        ({"policy": policy(rule(actions=frozenset({"rewrite_data_files"})))}, "run", "run", ""),
        ({"policy": policy(rule(actions=frozenset()))}, "advise", "action", "its actions: none"),
        ({"policy": policy(rule(hold=True)), "plan": planned("expire")}, "advise", "hold", "legal hold"),
        ({"policy": policy(rule(hold=True))}, "run", "run", ""),
        ({"policy": policy(rule(mode=None))}, "advise", "mode", 'mode "advise" for rewrite_data_files'),
        ({"policy": policy(rule(), mode="off")}, "advise", "mode", 'mode "off"'),
        ({"policy": policy(rule(mode="off"), mode="auto"), "approval": approved()}, "refuse", "mode", "not executed"),
        ({"policy": policy(rule(min_payback_days=0.5))}, "advise", "payback", "pays back in 1 days"),
        ({"policy": policy(rule(min_payback_days=1.0))}, "run", "run", ""),
        ({"plan": planned(value=PlanValue()), "policy": policy(rule(min_payback_days=0.5))}, "run", "run", ""),
        ({"policy": manual()}, "wait", "approval", "waits for the approval of a user."),
        ({"policy": manual(), "approval": approved("policy:sales")}, "refuse", "approval", "needs the approval"),
        (
            {"policy": manual(), "approval": approved(ago_us=8 * DAY_US)},
            "refuse",
            "approval_expired",
            "propose it again",
        ),
        ({"approval": approved(ago_us=8 * DAY_US)}, "refuse", "approval_expired", "more than 7 days ago"),
        (
            {"policy": manual(), "approval": approved()._replace(approved_at=None)},
            "refuse",
            "approval_expired",
            "not known",
        ),
        ({"policy": policy(rule(mode="approve"), two_people=True), "approval": approved()}, "run", "run", ""),
        (
            {"policy": policy(rule(mode="approve"), two_people=True), "approval": approved(proposer="ann")},
            *("refuse", "two_people", "ann proposed and approved it"),
        ),
        (
            {"policy": policy(rule(mode="approve"), two_people=True), "approval": approved(proposer=None)},
            *("refuse", "two_people", "not known"),
        ),
        (
            {"plan": planned("expire"), "unknown_streams": None},
            "wait",
            "approval",
            "a stream whose position is unknown",
        ),
        ({"plan": planned("expire"), "unknown_streams": True, "approval": approved()}, "run", "run", "ann approved"),
        ({"plan": planned("orphans")}, "advise", "mode", 'mode "advise" for remove_orphan_files'),
        ({"plan": planned("orphans"), "policy": policy(rule(orphans=OrphanRule()))}, "wait", "approval", "a user"),
        ({"plan": planned("orphans"), "policy": policy(rule(orphans=OrphanRule(mode="auto")))}, "run", "run", ""),
        ({"breakers": [breaker("table", UUID)]}, "wait", "breaker_x", "It is open."),
        ({"breakers": [breaker("table", "another")]}, "run", "run", ""),
        ({"breakers": [breaker("action", "rewrite_data_files")]}, "wait", "breaker_x", ""),
        ({"breakers": [breaker("fleet", "")]}, "wait", "breaker_x", ""),
        ({"breakers": [breaker("rule", "compact")]}, "advise", "breaker_x", ""),
        ({"breakers": [breaker("table", UUID, Micros(NOW_US + 1))]}, "wait", "breaker_x", ""),
        ({"breakers": [breaker("table", UUID, NOW_US)]}, "run", "run", ""),
        ({"not_before": Micros(NOW_US + 900_000_000)}, "wait", "backoff", "retried in 15 min"),
        ({"policy": policy(rule(windows=(LATER,)))}, "wait", "window", "UTC only: in "),
        ({"policy": policy(windows=(LATER,))}, "wait", "window", ""),
        ({"policy": policy(rule(windows=()), windows=(LATER,))}, "run", "run", ""),
        ({"policy": policy(windows=(LATER, NOW_OPEN))}, "run", "run", ""),
        ({"live_bytes": None}, "advise", "rewrite_ratio", "not known"),
        ({"live_bytes": GIB // 4}, "advise", "rewrite_ratio", "rewrites 4.0 times the table"),
        (
            {"history": [plan_fact("verified", ago_us=HOUR_US, result_bytes_in=20 * GIB)]},
            *("wait", "rewrite_ratio", "20.0 GiB were rewritten within 7 days"),
        ),
        ({"history": [plan_fact("verified", ago_us=8 * DAY_US, result_bytes_in=20 * GIB)]}, "run", "run", ""),
        ({"history": [plan_fact("running", bytes_in=20 * GIB)]}, "wait", "rewrite_ratio", ""),
        (
            {"policy": policy(bytes_per_day=2 * GIB), "spent": BudgetSpent(day=0, bytes=GIB + 1)},
            "wait",
            "budget",
            "today's",
        ),
        ({"policy": policy(bytes_per_day=2 * GIB), "spent": BudgetSpent(day=0, bytes=GIB)}, "run", "run", ""),
        ({"policy": policy(bytes_per_day=GIB - 1)}, "advise", "budget", "more than the budget of a whole day"),
        ({"policy": policy(max_cost_per_day=20.0), "plan": planned(predicted=COSTLY)}, "advise", "budget", "30.00 USD"),
        (
            {"policy": policy(max_cost_per_day=20.0), "plan": planned(predicted=Predicted(bytes_in=1))},
            *("advise", "budget", "Its cost is not known"),
        ),
        (
            {"policy": policy(max_cost_per_day=1.0), "spent": BudgetSpent(day=0, cost=0.95)},
            "wait",
            "budget",
            "0.95 USD",
        ),
        ({"running": 1}, "wait", "concurrent", "1 action runs already"),
        ({"policy": policy(concurrent=2), "running": 1}, "run", "run", ""),
    ],
)
def test_the_policy_decides(changed: dict[str, Any], verdict: str, code: str, words: str) -> None:
    found = decide(decided(**changed))
    assert (found.verdict, found.code) == (verdict, code)
    assert words in found.text
    assert found.text.endswith(".")
    assert found.policy == (None if code == "no_policy" else "sales")


def test_the_last_policy_that_matches_decides_alone() -> None:
    narrow = rule(name="orders", tables=Patterns(("lake.sales.orders",)), mode="approve")
    assert decide(decided(policy=policy(rule(), narrow))).policy == "orders"
    assert decide(decided(policy=policy(narrow, rule()))).policy == "sales"


def test_a_wait_says_when_it_ends() -> None:
    assert decide(decided(policy=policy(windows=(LATER,)))).retry_at == NOW_US // 60_000_000 * 60_000_000 + HOUR_US
    spent = BudgetSpent(day=0, bytes=2 * GIB)
    assert decide(decided(policy=policy(bytes_per_day=2 * GIB), spent=spent)).retry_at == TOMORROW
    old = plan_fact("verified", ago_us=6 * DAY_US, result_bytes_in=20 * GIB)
    assert decide(decided(history=[old])).retry_at == NOW_US + DAY_US


def test_a_dry_run_names_everything_that_stands_against_an_action() -> None:
    found = decisions(decided(policy=policy(rule(mode="approve", windows=(LATER,))), running=1))
    assert [each.code for each in found] == ["approval", "window", "concurrent"]
    assert list(decisions(decided())) == []


def test_a_window_over_midnight() -> None:
    at = int(dt.datetime(2026, 11, 27, 23, 30, tzinfo=dt.UTC).timestamp()) * 1_000_000
    night = policy(windows=(DailyWindow(1_320, 300),))
    assert decide(decided(policy=night, now=Micros(at))).verdict == "run"
    assert decide(decided(policy=night, now=Micros(at + 5 * HOUR_US))).verdict == "run"
    assert decide(decided(policy=night, now=Micros(at + 6 * HOUR_US))).verdict == "wait"
