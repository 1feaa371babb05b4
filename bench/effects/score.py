"""Scores of effect bounds: how often they cover the truth, how often an effect is claimed wrongly, or found."""

from __future__ import annotations

import math
import time
from collections import Counter
from typing import Any

import numpy as np

from effects.laws import Law
from limnograph.analysis.effect import measure_effect

EFFECT = 0.8
"""Ratio of the effect in the histories that have one."""
CLAIMS = ("helped", "worse")


def score(law: Law, histories: int, seed: int, ratio: float = EFFECT) -> dict[str, Any]:
    """Half of the histories have no effect. Values are shares; `covers` is over the results that have bounds."""
    rng = np.random.default_rng(seed)
    bounded = covered = 0
    widths: list[float] = []
    verdicts = {"nothing": Counter[str](), "effect": Counter[str]()}
    used = time.process_time()
    for number in range(histories):
        kind = "effect" if number % 2 else "nothing"
        history = law.history(math.log(ratio) if number % 2 else 0.0, rng)
        answer = measure_effect(history.case)
        verdicts[kind][answer.verdict] += 1
        if answer.low and answer.high:
            bounded += 1
            covered += answer.low.ratio <= math.exp(history.truth) <= answer.high.ratio
            widths.append(answer.high.ratio - answer.low.ratio)
    half = histories / 2
    return {
        "histories": histories,
        "bounded": bounded,
        "covered": covered,
        "covers": covered / bounded if bounded else None,
        "width": float(np.median(widths)) if widths else None,
        "false_claims": sum(verdicts["nothing"][each] for each in CLAIMS) / half,
        "found": verdicts["effect"]["helped" if ratio < 1 else "worse"] / half,
        "none": verdicts["nothing"]["none"] / half,
        "abstains": sum(each["not_separable"] for each in verdicts.values()) / histories,
        "cpu_ms": 1_000 * (time.process_time() - used) / histories,
    }


def pooled(rows: list[dict[str, Any]]) -> float:
    """Coverage over all scenes combined."""
    return float(sum(row["covered"] for row in rows) / max(1, sum(row["bounded"] for row in rows)))
