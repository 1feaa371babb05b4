"""What people said weighs an explanation again: their word on a suspect, and on earlier commits of its kind."""

from __future__ import annotations

import pytest

from limnograph.domain.answers.explanations import Explanation, Hypothesis, Label, LabelKind, LevelChange
from limnograph.services.explain.label_weights import CERTAIN, MOST_ODDS, Words, weighed

STEP = LevelChange(1_000, "step", 3.0, 100.0, 1.0, 1_000, 1_000, 50.0, 150.0, 60)
KIND = ("lake.sales.orders", "append", "backfill")
NOBODY = Words({}, [], {})


def answer(first: float = 0.5, second: float = 0.3) -> Explanation:
    suspects = [
        Hypothesis("commit", posterior, 0, name, "lake.sales.orders")
        for name, posterior in (("1", first), ("2", second))
    ]
    told = [*suspects, Hypothesis("none", 1 - first - second, 0)]
    return Explanation("case", [STEP], told, ["1"], "Possibly: commit 1.", "possible")


def label(kind: LabelKind, of: str, author: str | None = None) -> Label:
    return Label(kind, of, 5, "churn", author)


def own(*labels: Label) -> Words:
    return Words({each.snapshot_id: each for each in labels}, labels, {})


def past(confirmed: int, rejected: int) -> Words:
    """Words on earlier commits of the kind of suspect 2."""
    said = [label("confirmed" if n < confirmed else "rejected", f"old-{n}") for n in range(confirmed + rejected)]
    return Words({}, said, {each.snapshot_id: KIND for each in said} | {"1": ("other",), "2": KIND})


def shares(found: Explanation) -> dict[str | None, float]:
    return {each.commit_id: round(each.posterior, 4) for each in found.hypotheses}


def test_without_labels_the_explanation_is_unchanged() -> None:
    assert weighed(answer(), NOBODY) == answer()


def test_a_commit_that_was_ruled_out_leaves_its_share_to_the_others_and_is_not_blamed() -> None:
    found = weighed(answer(), own(label("rejected", "1")))
    assert shares(found) == {"2": 0.6, None: 0.4, "1": 0.0}
    assert found.blamed == ["2"]
    assert found.verdict.startswith("Possibly: commit 2")
    assert {each.commit_id: each.unlabelled for each in found.hypotheses}["1"] == 0.5


def test_caused_is_said_only_of_a_confirmed_commit_and_with_the_author() -> None:
    assert "aused" not in weighed(answer(), past(3, 0)).verdict
    found = weighed(answer(), own(label("confirmed", "2", "ada")))
    assert (
        found.verdict == "Caused by commit 2 of lake.sales.orders, confirmed by ada: the slowdown from 50 s to 150 s."
    )
    assert (found.hypotheses[0].commit_id, found.hypotheses[0].posterior) == ("2", CERTAIN)
    assert (found.blamed, found.confidence) == (["2"], "strong")


def test_a_confirming_label_never_makes_a_commit_less_likely() -> None:
    assert shares(weighed(answer(0.98, 0.01), own(label("confirmed", "1"))))["1"] == 0.98
    assert shares(weighed(answer(0.5, 0.3), own(label("confirmed", "1"), label("rejected", "2"))))["1"] == CERTAIN


@pytest.mark.parametrize(("confirmed", "rejected"), [(3, 0), (0, 3), (1, 1), (50, 0)])
def test_labels_on_earlier_commits_of_a_kind_move_its_suspects_by_the_odds_of_the_counts(
    confirmed: int, rejected: int
) -> None:
    found = weighed(answer(), past(confirmed, rejected))
    before, after = shares(answer()), shares(found)
    odds = min((confirmed + 1) / (rejected + 1), MOST_ODDS)
    assert after["2"] / after["1"] == pytest.approx(odds * before["2"] / before["1"], rel=1e-3)
    assert sum(after.values()) == pytest.approx(1, abs=1e-3)
    second = next(each for each in found.hypotheses if each.commit_id == "2")
    assert second.similar is not None
    assert (second.similar.confirmed, second.similar.rejected) == (confirmed, rejected)
    assert second.evidence is not None
    assert f"confirmed {confirmed} and rejected {rejected}" in second.evidence[-1].text


def test_a_label_on_the_suspect_itself_does_not_count_as_one_on_an_earlier_commit() -> None:
    said = label("expected", "2")
    found = weighed(answer(), Words({"2": said}, [said], {"2": KIND}))
    assert next(each for each in found.hypotheses if each.commit_id == "2").similar is None
    assert found.verdict.startswith("Caused by commit 2")
