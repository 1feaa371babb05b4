"""`make bench-findings`: precision and recall of every code over generated cases, into bench/results.json; exits with 1
below the floors.

`--ci` makes fewer cases, writes nothing, and has the same floors. A case is decided by its seed, so that a miss can be
made again: `--only CODE --show`.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from findings_cases import (
    of_deletes,
    of_files,
    of_health,
    of_jobs,
    of_layout,
    of_metadata,
    of_readers,
    of_schema,
    of_slow_jobs,
    of_storage,
    of_writers,
)
from findings_cases.cases import KINDS, CaseKind

ROOMS = (
    *(of_deletes, of_files, of_health, of_jobs, of_layout, of_metadata),
    *(of_readers, of_schema, of_slow_jobs, of_storage, of_writers),
)
RESULTS = Path(__file__).parents[1] / "results.json"
CASES, CI_CASES = 40, 20
LEAST_KINDS = 3
POOLED, PER_CODE = 0.95, 0.90


class Score(NamedTuple):
    """Of one code, or of all: findings that were right, wrong and missing."""

    found: int = 0
    missed: int = 0
    false: int = 0
    calm: int = 0

    @property
    def precision(self) -> float:
        """Share of the findings that are right."""
        return self.found / (self.found + self.false) if self.found + self.false else 1.0

    @property
    def recall(self) -> float:
        """Share of the faults that are found."""
        return self.found / (self.found + self.missed) if self.found + self.missed else 1.0

    def and_also(self, other: Score) -> Score:
        """Both together."""
        return Score(*(one + more for one, more in zip(self, other, strict=True)))


def judged(kind: CaseKind, cases: int, seed: int, *, show: bool = False) -> Score:
    """The cases of one kind."""
    counts: Counter[bool] = Counter()
    for number in range(cases):
        is_open = kind.judge(random.Random(f"{seed} {kind.name} {number}"))  # noqa: S311 - cases, not secrets
        counts[is_open] += 1
        if show and is_open != kind.is_fault:
            print(f"{kind.code} {kind.name} seed {seed} case {number}: {'open' if is_open else 'not found'}")
    if kind.is_fault:
        return Score(found=counts[True], missed=counts[False])
    return Score(false=counts[True], calm=counts[False])


def cases_of(kinds: Sequence[CaseKind], cases: int) -> dict[str, int]:
    """Cases per kind, so that every code has at least as many faults as look-alikes are wanted of each."""
    faults = Counter(kind.code for kind in kinds if kind.is_fault)
    return {kind.name: cases if kind.is_fault else -(-cases // 2) for kind in kinds} | {
        kind.name: -(-cases // faults[kind.code]) for kind in kinds if kind.is_fault
    }


def measure(cases: int, seed: int, only: str | None, *, show: bool = False) -> dict[str, Score]:
    """Scores by code."""
    kinds = [kind for kind in KINDS if only in {None, kind.code}]
    counts, scores = cases_of(kinds, cases), dict[str, Score]()
    for kind in kinds:
        found = judged(kind, counts[kind.name], seed, show=show)
        scores[kind.code] = scores.get(kind.code, Score()).and_also(found)
    return scores


def below(scores: dict[str, Score]) -> list[str]:
    """What is below its floor, and codes with too few kinds of look-alikes."""
    pooled = Score()
    for score in scores.values():
        pooled = pooled.and_also(score)
    found = [
        f"{code}: precision {score.precision:.2f}, recall {score.recall:.2f}"
        for code, score in sorted(scores.items())
        if min(score.precision, score.recall) < PER_CODE
    ]
    if min(pooled.precision, pooled.recall) < POOLED:
        found.append(f"pooled: precision {pooled.precision:.3f}, recall {pooled.recall:.3f}")
    kinds = Counter(kind.code for kind in KINDS if not kind.is_fault and kind.code in scores)
    return found + [f"{code}: {kinds[code]} kinds of look-alikes" for code in scores if kinds[code] < LEAST_KINDS]


def main() -> int:
    """Exit code: 1 below a floor."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ci", action="store_true", help="half of the cases, nothing is written")
    parser.add_argument("--cases", type=int, help="faults of each code")
    parser.add_argument("--seed", type=int, default=2_026)
    parser.add_argument("--only", help="this code alone")
    parser.add_argument("--show", action="store_true", help="print what was wrong")
    asked = parser.parse_args()
    cases = asked.cases or (CI_CASES if asked.ci else CASES)
    scores = measure(cases, asked.seed, asked.only, show=asked.show)
    pooled = Score()
    for code, score in sorted(scores.items()):
        pooled = pooled.and_also(score)
        print(_line(code, score))
    print(_line("pooled", pooled))
    if not asked.ci and asked.only is None:
        rows = {f"findings.cases.{code}": _row(score) for code, score in sorted(scores.items())}
        known = json.loads(RESULTS.read_text())
        RESULTS.write_text(json.dumps(known | rows | {"findings.cases": _row(pooled)}, indent=2) + "\n")
    failed = below(scores)
    for each in failed:
        print(f"below the floor: {each}", file=sys.stderr)
    return 1 if failed else 0


def _line(name: str, score: Score) -> str:
    faults, look_alikes = score.found + score.missed, score.false + score.calm
    shares = f"precision {score.precision:.3f} recall {score.recall:.3f}"
    return f"{name:32} {shares} ({faults} faults, {look_alikes} look-alikes)"


def _row(score: Score) -> dict[str, Any]:
    faults, look_alikes = score.found + score.missed, score.false + score.calm
    return {
        "precision": round(score.precision, 4),
        "recall": round(score.recall, 4),
        "note": f"{faults} faults, {look_alikes} look-alikes",
    }


if __name__ == "__main__":
    sys.exit(main())
