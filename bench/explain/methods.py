"""The compared methods: the product's engine, the engine with the true onsets (the oracle), and the simple baselines.

The product runs as a library or through its public command, with the same results.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from explain.cases import Answer, Labelled
from explain.score import Judged, judge
from limnograph.domain.answers.explanations import Case

Method = Callable[[Labelled], Answer]


class Run(msgspec.Struct):
    """A method's judged answers, and CPU milliseconds of each."""

    judged: list[Judged]
    milliseconds: list[float]


def ours(labelled: Labelled) -> Answer:
    """The product, which sees only the case."""
    from limnograph.analysis.explain import explain

    return _plain(explain(_question(labelled)))


def oracle(labelled: Labelled) -> Answer:
    """The product's own attribution, given the true onsets of the job's changes (none for an innocent case)."""
    from limnograph.analysis.explain import explain

    return _plain(explain(_question(labelled), onsets=[effect.onset for effect in labelled.truth.effects]))


def _question(labelled: Labelled) -> Case:
    return msgspec.convert(labelled.case, Case)


def _plain(answer: object) -> Answer:
    plain: Answer = msgspec.to_builtins(answer)
    return plain


def by_command(cases: Path) -> list[Answer]:
    """Answers of `limnograph explain --cases`, in the order of the cases."""
    done = subprocess.run(
        [sys.executable, "-m", "limnograph", "explain", "--cases", str(cases)],
        check=True,
        capture_output=True,
    )
    return [msgspec.json.decode(line) for line in done.stdout.splitlines()]


def run(method: Method, labelled: Sequence[Labelled]) -> Run:
    """Run a method on cases, one after the other."""
    judged, milliseconds = [], []
    for each in labelled:
        before = time.process_time()
        answer = method(each)
        milliseconds.append(1000 * (time.process_time() - before))
        judged.append(judge(each, answer))
    return Run(judged, milliseconds)
