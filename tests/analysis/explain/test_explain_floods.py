"""Many small commits in a row are one suspect; a stream that always commits so has none, nor hides a large commit."""

from __future__ import annotations

from typing import Any

from explain_cases import answered, case, commit, ordinary, runs, slowed

FIRST = 300


def flood(count: int, at: float, **told: Any) -> list[dict[str, Any]]:
    """Appends of one small file, a fifth of a second apart."""
    numbers = {"added_data_files": 1, "added_bytes": 200_000, "added_records": 500, **told}
    return [commit(f"flood-{index}", at + index / 300, **numbers) for index in range(count)]


def test_a_flood_is_named_by_its_first_commit_and_shown_as_one() -> None:
    found = answered(case(slowed(runs(), FIRST, 1.5), [*ordinary(), *flood(60, FIRST * 5 - 4)]))
    assert found.blamed == ["flood-0"]
    said = [told.text for told in found.hypotheses[0].evidence or ()]
    assert any("first of 60 commits" in text for text in said)


def test_a_flood_of_an_unknown_writer_is_one_too() -> None:
    commits = [*ordinary(), *flood(60, FIRST * 5 - 4, app_id="backfill")]
    assert answered(case(slowed(runs(), FIRST, 1.5), commits)).blamed == ["flood-0"]


def test_a_large_commit_among_many_small_ones_is_named_itself() -> None:
    commits = flood(60, FIRST * 5 - 4)
    commits[30] = {**commits[30], "id": "large", "added_data_files": 5_000, "added_bytes": 10**9}
    assert answered(case(slowed(runs(), FIRST, 1.5), [*ordinary(), *commits])).blamed == ["large"]


def test_a_stream_that_always_commits_in_sequences_has_no_floods() -> None:
    rows = [{**each, "id": f"{k}-{each['id']}"} for k in range(80) for each in flood(12, 30.0 * k, added_data_files=2)]
    found = answered(case(slowed(runs(), FIRST, 1.5), rows))
    assert not any("in a row" in told.text for each in found.hypotheses for told in each.evidence or ())


def test_a_flood_is_not_blamed_when_the_job_did_not_change() -> None:
    assert answered(case(runs(), [*ordinary(), *flood(60, FIRST * 5 - 4)])).blamed == []
