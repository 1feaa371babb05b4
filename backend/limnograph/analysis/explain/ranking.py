"""From posteriors to a verdict: the rank of each hypothesis, the blamed commit if any, and one sentence.

Never "root cause": a commit "coincides with" a change or is the "most likely" suspect until a person confirms it.
"""

from __future__ import annotations

import numpy as np

from limnograph.domain.answers.explanations import Confidence, Explanation, Hypothesis, LevelChange

TAU = 0.5
"""Minimum posterior for blaming a commit: more likely than not."""
WORDS: tuple[tuple[float, Confidence], ...] = ((0.85, "strong"), (TAU, "possible"), (0.2, "weak"))
SPEED_UP = 0.3
"""Weight of a speed-up relative to a slowdown of the same size: users investigate slow jobs."""
FAINT = 0.02
"""Log size below which a change does not stand out."""
LASTING = 12.0
"""Runs after which a change has half of its rank: three retried runs do not count as a slowdown."""


def concluded(case: str, changes: list[LevelChange], hypotheses: list[Hypothesis]) -> Explanation:
    """Rank, blame and verdict, derived from the posteriors."""
    hypotheses = sorted(hypotheses, key=lambda each: -_weight(changes, each)) or [Hypothesis("none", 1.0)]
    suspects = [each for each in hypotheses if _is_blamed(changes, each)]
    blamed = list(dict.fromkeys(each.commit_id for each in suspects if each.commit_id is not None))
    verdict, confidence = _verdict(changes, hypotheses)
    return Explanation(case, changes, hypotheses, blamed, verdict, confidence)


def _weight(changes: list[LevelChange], each: Hypothesis) -> float:
    """Rank: the expected share of the change of duration that a hypothesis explains, weighted by how long it lasted."""
    if each.change is None:
        return each.posterior * FAINT
    change = changes[each.change]
    size = float(np.log(change.effect_ratio))
    lasting = change.runs / (change.runs + LASTING)
    return each.posterior * lasting * (size if size > 0 else -SPEED_UP * size)


def _is_blamed(changes: list[LevelChange], suspect: Hypothesis) -> bool:
    """Maintenance that made the job faster is credited by its rank and by the verdict; that is not blame."""
    if suspect.kind != "commit" or suspect.change is None or suspect.posterior < TAU:
        return False
    return changes[suspect.change].effect_ratio > 1


def _verdict(changes: list[LevelChange], hypotheses: list[Hypothesis]) -> tuple[str, Confidence]:
    if not changes:
        return "No change of this job's duration stands out.", "none"
    told = [each for each in hypotheses if each.change is not None]
    best = told[0] if told else hypotheses[0]
    # Users investigate slowdowns: the commit that ended one comes after the one that began it, and explains nothing if
    # there was none.
    blamed = (each for each in told if _is_blamed(changes, each))
    of_best = (each for each in told if each.kind == "commit" and each.change == best.change)
    commit = next(blamed, None) or next(of_best, None)
    confidence: Confidence = "none"
    if commit is not None:
        confidence = next((word for least, word in WORDS if commit.posterior >= least), "none")
        if commit.posterior >= TAU and commit.change is not None:
            return _named(changes[commit.change], commit), confidence
    change = changes[best.change or 0]
    if best.kind == "infrastructure":
        return f"Other jobs changed at the same time: infrastructure most likely explains {size_words(change)}.", "none"
    if best.kind == "load":
        return f"The job's load changed at the same time and most likely explains {size_words(change)}.", "none"
    return f"No commit explains {size_words(change)}.", "weak" if confidence == "weak" else "none"


def _named(change: LevelChange, commit: Hypothesis) -> str:
    word = "Most likely" if commit.posterior >= WORDS[0][0] else "Possibly"
    where = f" of {commit.table}" if commit.table else ""
    return f"{word}: commit {commit.commit_id}{where} coincides with {size_words(change)}."


def size_words(change: LevelChange) -> str:
    """`the slowdown from 52 s to 160 s`."""
    way = "slowdown" if change.effect_ratio >= 1 else "speed-up"
    return f"the {way} from {change.before_seconds:.3g} s to {change.after_seconds:.3g} s"
