""" "No data yet" is not "no effect": what an explanation says while no run started after the commit."""

import pytest

from limnograph.domain.answers.explanations import CaseCommit, Explanation, Hypothesis, Pending
from limnograph.domain.time import MICROS_PER_MS
from limnograph.services.explain.baseline import HOUR_MS, windows
from limnograph.services.explain.pending import pending, told, verdict
from limnograph.services.jobs.run_log import RunRecord

NOON = 1_795_262_400_000
"""2026-11-21 12:00 UTC, epoch ms."""
MINUTE = 60_000
ASKED = windows(NOON, NOON + HOUR_MS, "before")


def run(minutes: float, status: str = "ok") -> RunRecord:
    at = round(NOON + minutes * MINUTE) * MICROS_PER_MS
    return RunRecord("churn", "reads", at, None if status == "running" else at + 50_000_000, status)


def commit(minutes: float, files: float | None, name: str = "7") -> CaseCommit:
    return CaseCommit(id=name, committed_at=NOON + minutes * MINUTE, added_data_files=files)


def test_the_effect_of_a_commit_after_the_last_run_is_not_known_yet() -> None:
    found = pending(ASKED, [run(minutes) for minutes in range(0, 50, 5)], [commit(3, 5, "6"), commit(47, 2_000)])
    assert found == Pending(
        last_run=NOON + 45 * MINUTE,
        running_since=None,
        commits=1,
        commit_id="7",
        committed_at=NOON + 47 * MINUTE,
    )
    assert verdict(found, "churn") == (
        "Not known yet: no run of churn started after the commit at 2026-11-21 12:47:00 UTC and succeeded; "
        "the last one started at 2026-11-21 12:45:00 UTC."
    )


@pytest.mark.parametrize("later", [run(48, "running"), run(48, "failed")])
def test_a_running_or_failed_run_is_no_evidence_yet(later: RunRecord) -> None:
    found = pending(ASKED, [run(45), later], [commit(47, 2_000)])
    assert found is not None
    assert found.last_run == NOON + 45 * MINUTE
    assert found.running_since == (NOON + 48 * MINUTE if later.status == "running" else None)
    assert ("is still running" in verdict(found, "churn")) == (later.status == "running")


def test_a_range_without_runs_shows_when_the_last_one_was() -> None:
    found = pending(ASKED, [run(-30)], [])
    assert found == Pending(
        last_run=NOON - 30 * MINUTE, running_since=None, commits=0, commit_id=None, committed_at=None
    )
    assert "in this range" in verdict(found, "churn")


def test_a_job_without_any_run_has_no_last_one() -> None:
    found = pending(ASKED, [], [commit(10, 2_000)])
    assert found is not None
    assert (found.last_run, found.commits) == (None, 1)
    assert "no earlier run is known" in verdict(found, "churn")


def test_one_run_after_the_heaviest_commit_is_enough() -> None:
    usual = [commit(minutes, 3, str(minutes)) for minutes in range(0, 60, 2)]
    assert pending(ASKED, [run(45), run(48)], [*usual, commit(47, 2_000)]) is None
    assert pending(ASKED, [run(45), run(48)], usual) is None, "small commits come all the time"


def test_a_change_that_was_found_keeps_its_verdict() -> None:
    waits = Pending(last_run=None, running_since=None, commits=0, commit_id=None, committed_at=None)
    quiet = Explanation("x", [], [Hypothesis("none", 1.0)], [], "No change of this job's duration stands out.", "none")
    assert told(quiet, None, "churn") is quiet
    assert told(quiet, waits, "churn").verdict.startswith("Not known yet")
