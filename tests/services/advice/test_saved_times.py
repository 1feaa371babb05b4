"""Time that actions save jobs: measured on the table, or borrowed from others where there are enough verdicts."""

from __future__ import annotations

import pytest

from limnograph.domain.advice.document import BORROWED, MEASURED
from limnograph.domain.facts.effects import EffectFact
from limnograph.domain.time import Micros
from limnograph.services.advice.saved_times import savings
from serving_kit import HOUR, NOW

DAY = 24 * HOUR


def effect(
    table: str, change: float | None, *, verdict: str = "helped", job: str = "churn", **given: object
) -> EffectFact:
    """Of an action two days ago; 10 runs of the job were measured since."""
    told = {"action": "rewrite_data_files", "measure": "duration", "runs_after": 10, "operation_id": "1"} | given
    committed = Micros(NOW - 2 * DAY)
    return EffectFact(
        table_uuid=table,
        job_name=job,
        verdict=verdict,
        change=change,
        committed_at=committed,
        measured_at=Micros(NOW),
        **told,  # type: ignore[arg-type]
    )


FIVE = [effect(f"u{number}", -seconds) for number, seconds in enumerate((4.0, 8.0, 12.0, 16.0, 60.0))]


def test_a_table_without_a_verdict_borrows_the_median_of_five_others() -> None:
    found = savings(FIVE)
    assert found.of_table("new") == {"compact": (60.0, BORROWED), "compact_deletes": (60.0, BORROWED)}
    assert found.of_table("u0")["compact"] == (20.0, MEASURED)


def test_four_verdicts_are_too_few_and_those_without_a_claim_do_not_count() -> None:
    four = FIVE[:4]
    undecided = [
        effect("u8", -90.0, verdict="unknown"),
        effect("u9", None, verdict="not_separable"),
        effect("u9", -9.0, measure="planning"),
    ]
    assert savings([*four, *undecided]).of_table("new") == {}


def test_jobs_that_were_not_helped_count_as_they_are() -> None:
    others = [
        effect("v1", None, verdict="none"),
        effect("v2", 6.0, verdict="worse"),
        effect("v3", None, verdict="none"),
    ]
    assert savings([*FIVE[:2], *others]).of_table("new") == {}
    assert savings([*FIVE, others[0], others[1]]).of_table("new")["compact"] == (40.0, BORROWED)


@pytest.mark.parametrize("verdict", ["none", "worse"])
def test_a_verdict_of_its_own_is_never_replaced_by_a_borrowed_one(verdict: str) -> None:
    found = savings([*FIVE, effect("own", 3.0 if verdict == "worse" else 0.0, verdict=verdict)])
    assert found.of_table("own") == {}


def test_an_own_verdict_that_a_later_measurement_leaves_open_still_keeps_others_out() -> None:
    later = effect("own", None, verdict="unknown", operation_id="2")
    found = savings([*FIVE, effect("own", -2.0, runs_after=8), later])
    assert found.of_table("own") == {}


def test_a_rule_borrows_from_no_other_rule_and_no_other_format() -> None:
    delta = [effect(f"d{number}", -10.0, action="optimize") for number in range(5)]
    found = savings([*FIVE[:4], *delta])
    assert found.of_table("new") == {"delta_compact": (50.0, BORROWED), "delta_purge": (50.0, BORROWED)}
