"""Scenarios: one that fails names itself and stops no other; the summary is what the check prints."""

from __future__ import annotations

from lakehouse.check.scenario import Scenario, ScenarioLog, run_all, summary
from limnograph.demo.progress import Progress


def holds(log: ScenarioLog) -> None:
    log.equal("two and two", 2 + 2, 4)
    log.figures["sum"] = 4


def is_wrong(log: ScenarioLog) -> None:
    log.equal("two and two", 2 + 2, 5)


def breaks(_: ScenarioLog) -> None:
    raise OSError("the store is away")


def test_a_failed_scenario_names_itself_and_the_others_go_on() -> None:
    scenarios = [Scenario("wrong", is_wrong, holds), Scenario("broken", breaks, holds), Scenario("good", holds, holds)]
    logs = run_all(scenarios, Progress())
    found = summary(logs, 1.0)
    assert (found["ok"], found["failed"], found["scenarios"]) == (False, ["wrong", "broken"], 3)
    assert "4 instead of 5" in logs[0].failures[0]
    assert "the store is away" in logs[1].failures[0]
    assert logs[0].claims == 1, "the second half of a failed scenario does not run"
    assert found["figures"]["good"]["sum"] == 4


def test_no_scenario_is_no_success() -> None:
    assert summary([], 0.0)["ok"] is False
