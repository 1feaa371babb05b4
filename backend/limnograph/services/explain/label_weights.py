"""An explanation re-weighted by users' labels: on its suspects themselves, and on earlier commits of their kind.

A kind is table, operation and writer. A kind's earlier confirmed and rejected commits are the counts of a Beta(1, 1)
distribution of "it was to blame when it was suspected"; its odds are the factor. Pure.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from limnograph.analysis.explain.ranking import concluded, size_words
from limnograph.domain.answers.explanations import Evidence, Explanation, Hypothesis, Label, Similar

CERTAIN = 0.95
"""The lowest posterior of a commit that a user confirmed. It is below 1 because users err too."""
MOST_ODDS = 8.0
Kind = tuple[str | None, ...]
"""Table, operation, writer."""


class Words(NamedTuple):
    """The labels that count.

    `own`: the newest label on each suspect, by snapshot id
    `past`: labels on commits whose kind is known
    `kinds`: the kind of each suspect and of each commit in `past`
    """

    own: Mapping[str, Label]
    past: Sequence[Label]
    kinds: Mapping[str, Kind]


class _Counts(NamedTuple):
    confirmed: int
    rejected: int

    @property
    def factor(self) -> float:
        return min(max((self.confirmed + 1) / (self.rejected + 1), 1 / MOST_ODDS), MOST_ODDS)


def weighed(answer: Explanation, words: Words) -> Explanation:
    """The re-weighted explanation; unchanged if there are no labels."""
    told: dict[str, _Counts] = {
        each.commit_id: _counts(each.commit_id, words) for each in answer.hypotheses if each.commit_id is not None
    }
    spoken = words.own.keys() & told.keys()
    if not spoken and not any(counts != (0, 0) for counts in told.values()):
        return answer
    found: list[Hypothesis] = []
    for change in dict.fromkeys(each.change for each in answer.hypotheses):
        own = [each for each in answer.hypotheses if each.change == change]
        found += _spoken_of(_kinds_weighed(own, told), words.own)
    again = concluded(answer.id, answer.changes, found)
    return _confirmed(again, words.own) or again


def _counts(commit_id: str, words: Words) -> _Counts:
    """Labels on other commits of the same kind."""
    kind = words.kinds.get(commit_id)
    others = [
        each.kind for each in words.past if each.snapshot_id != commit_id and words.kinds.get(each.snapshot_id) == kind
    ]
    if kind is None:
        return _Counts(0, 0)
    return _Counts(sum(is_confirmed(each) for each in others), sum(each == "rejected" for each in others))


def is_confirmed(kind: str) -> bool:
    """Whether a label confirms a commit. `expected` means that it caused the change, and that this is acceptable."""
    return kind in {"confirmed", "expected"}


def _kinds_weighed(own: list[Hypothesis], told: Mapping[str, _Counts]) -> list[Hypothesis]:
    """Posteriors of one change, re-weighted by labels on earlier commits; their sum is unchanged."""
    before = sum(each.posterior for each in own)
    found = []
    for each in own:
        counts = told.get(each.commit_id or "", _Counts(0, 0))
        if counts == (0, 0):
            found.append(each)
            continue
        similar = each.similar or Similar(0, 0)
        similar = msgspec.structs.replace(similar, confirmed=counts.confirmed, rejected=counts.rejected)
        found.append(
            msgspec.structs.replace(
                each,
                posterior=each.posterior * counts.factor,
                similar=similar,
                evidence=[*(each.evidence or ()), _evidence(counts)],
            )
        )
    return _scaled(found, before)


def _evidence(counts: _Counts) -> Evidence:
    text = f"Of earlier similar commits, users confirmed {counts.confirmed} and rejected {counts.rejected}."
    return Evidence("recurrence", "for" if counts.factor >= 1 else "against", text, counts.factor)


def _scaled(own: list[Hypothesis], to: float) -> list[Hypothesis]:
    whole = sum(each.posterior for each in own)
    if whole <= 0:
        return own
    return [msgspec.structs.replace(each, posterior=each.posterior * to / whole) for each in own]


def _spoken_of(own: list[Hypothesis], said: Mapping[str, Label]) -> list[Hypothesis]:
    """Rejected suspects get nothing of their change's posterior, confirmed ones nearly all of it."""
    groups: dict[str, list[Hypothesis]] = defaultdict(list)
    for each in own:
        label = said.get(each.commit_id or "")
        word = "left" if label is None else "confirmed" if is_confirmed(label.kind) else label.kind
        groups[word].append(msgspec.structs.replace(each, unlabelled=each.posterior))
    out, confirmed = groups["rejected"], groups["confirmed"]
    if not out and not confirmed:
        return own
    seemed, left = sum(each.posterior for each in confirmed), sum(each.posterior for each in groups["left"])
    sure = max(CERTAIN, seemed / max(seemed + left, 1e-12)) if confirmed else 0.0
    return [
        *_scaled(confirmed, sure),
        *_scaled(groups["left"], 1 - sure),
        *(msgspec.structs.replace(each, posterior=0.0) for each in out),
    ]


def _confirmed(answer: Explanation, said: Mapping[str, Label]) -> Explanation | None:
    """The explanation with a verdict that names the confirmed commit as the cause and the user; None if none is
    confirmed.
    """
    for each in answer.hypotheses:
        label = said.get(each.commit_id or "")
        if label is None or not is_confirmed(label.kind) or each.change is None:
            continue
        who = label.author or "a person"
        size = size_words(answer.changes[each.change])
        verdict = f"Caused by commit {each.commit_id}{_of(each)}, confirmed by {who}: {size}."
        return msgspec.structs.replace(answer, verdict=verdict, confidence="strong")
    return None


def _of(each: Hypothesis) -> str:
    return f" of {each.table}" if each.table else ""


def newest(labels: Iterable[Label]) -> dict[str, Label]:
    """The newest label on each commit."""
    return {each.snapshot_id: each for each in sorted(labels, key=lambda each: each.t)}
