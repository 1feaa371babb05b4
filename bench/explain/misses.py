"""Why guilty cases were missed: counts of reasons for the report."""

from __future__ import annotations

from collections.abc import Sequence

from explain.cases import Labelled
from explain.score import Judged

NEAR_SAMPLES = 12
REASONS = (
    "no change found within 12 runs of a true one",
    "change found, another commit ranked first; so does the oracle",
    "change found, another commit ranked first; the oracle is right",
)


def reasons(cases: Sequence[Labelled], ours: Sequence[Judged], oracle: Sequence[Judged]) -> dict[str, dict[str, int]]:
    """Per scenario, how many guilty cases missed top-1 for each of REASONS; scenarios without a miss are left out."""
    table: dict[str, dict[str, int]] = {}
    for case, mine, told in zip(cases, ours, oracle, strict=True):
        if not case.truth.guilty or mine.top1:
            continue
        ranked = REASONS[2] if told.top1 else REASONS[1]
        row = table.setdefault(case.truth.scenario, dict.fromkeys(REASONS, 0))
        row[REASONS[0] if min(mine.onset_errors) > NEAR_SAMPLES else ranked] += 1
    return table
