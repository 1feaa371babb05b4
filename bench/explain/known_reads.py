"""Cases of the generators in which it is known what each run read, as it is for jobs that report their read snapshots.

A run reads main's head at its start. A commit is first read by the next run; a guilty one by the run that it slowed,
and no later commit of its table before that, because heads are read in order.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import numpy as np

from explain.cases import Labelled

NEVER = 8.64e15
"""First read of a commit that no run has read."""
SEEN = 1.2
"""Smallest ratio of an effect that is clearly visible in one case."""


def with_reads(cases: Iterable[Labelled], *, innocent: bool = False) -> list[Labelled]:
    """The guilty cases (and the innocent ones), with `first_read_at` (epoch ms) of every commit."""
    return [Labelled(_reading(each), each.truth) for each in cases if innocent or each.truth.guilty]


def _reading(labelled: Labelled) -> dict[str, object]:
    case = labelled.case
    starts = np.sort(np.asarray(case["job"]["times"], np.float64))
    onsets = {commit: effect.onset for effect in labelled.truth.effects for commit in effect.commit_ids}
    reached: dict[object, float] = defaultdict(float)
    commits = []
    for commit in sorted(case["commits"], key=lambda each: each["committed_at"]):
        moment = max(float(onsets.get(commit["id"], commit["committed_at"])), reached[commit.get("table")])
        place = int(np.searchsorted(starts, moment))
        read = float(starts[place]) if place < starts.size else NEVER
        reached[commit.get("table")] = read
        commits.append({**commit, "first_read_at": read})
    return {**case, "commits": commits}


def alone(labelled: Labelled) -> bool:
    """Whether one run read a guilty commit first and no other one with it, and the job became slower by a fifth or more
    at once: what is read explains no slow rise, and smaller effects are hardly seen in the generators' noise.
    """
    reads = {commit["id"]: commit["first_read_at"] for commit in labelled.case["commits"]}
    effects = [effect for effect in labelled.truth.effects if effect.kind != "drop"]
    single = any(list(reads.values()).count(reads[commit]) == 1 for commit in labelled.truth.guilty)
    sudden = all(effect.kind in {"step", "pulse"} for effect in effects)
    return single and sudden and max(effect.effect_ratio for effect in effects) >= SEEN
