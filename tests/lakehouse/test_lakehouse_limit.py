"""The check has a limit: it ends with the name of the scenario that waited, and each that was not reached fails."""

from __future__ import annotations

import contextlib
import signal
import threading
import time

import pytest

from lakehouse.check import limit
from lakehouse.check.catalogue import BATCH_ONLY, KINDS, STREAM, names
from lakehouse.check.limit import CheckOverdue, limited
from lakehouse.check.scenario import CurrentStep, Scenario, ScenarioLog, run_all, summary
from limnograph.demo.progress import Progress
from limnograph.domain.errors import InvalidInput


def holds(log: ScenarioLog) -> None:
    log.equal("two and two", 2 + 2, 4)


def waits(log: ScenarioLog) -> None:
    log.equal("the store is up", 1, 1)
    time.sleep(60)


def test_the_scenario_that_waited_is_named() -> None:
    step = CurrentStep()
    scenarios = [Scenario("good", holds, holds), Scenario("slow", waits, holds), Scenario("late", holds, holds)]
    with limited(0.2, lambda: step.name):
        logs = run_all(scenarios, Progress(), step)
    found = summary(logs, 1.0)
    assert found["failed"] == ["good", "slow", "late"], "a scenario whose second half was not reached did not hold"
    assert logs[0].failures == ["not reached, not over after 0 s"]
    assert "waited" in logs[1].failures[0]
    assert "the store is up" in logs[1].failures[0]
    assert "not reached" in logs[2].failures[0]
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_what_does_not_end_is_ended(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(limit, "GRACE_S", 0.1)
    ended, codes = threading.Event(), list[int]()

    def end(code: int) -> None:
        codes.append(code)
        ended.set()

    def hang() -> None:
        """Ignores the interrupt."""
        with contextlib.suppress(CheckOverdue):
            ended.wait(30)
        assert ended.wait(30)

    with limited(0.1, lambda: "FR3 (happen)", end):
        hang()
    assert codes == [1]
    assert "FR3 (happen)" in capsys.readouterr().err


def test_a_block_that_ends_in_time_is_left_alone() -> None:
    with limited(30.0, lambda: ""):
        pass
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_the_short_form_has_every_scenario_but_those_of_batch_alone() -> None:
    assert names("batch") == list(KINDS)
    assert set(names("batch")) - set(names("short")) == BATCH_ONLY


def test_a_scenario_comes_with_the_one_that_it_builds_on() -> None:
    first, *_ = KINDS
    assert names("short", ["evolution"]) == [first, "FR7 evolution"]
    with pytest.raises(InvalidInput, match="short form has '50 writers'"):
        names("short", ["50 writers"])


def test_each_scenario_of_the_stream_can_be_chosen() -> None:
    for name in STREAM:
        assert names("stream", [name]) == [name]
