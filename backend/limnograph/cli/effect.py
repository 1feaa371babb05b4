"""`limnograph effect --cases FILE`: reads cases as JSON lines and writes their effects as JSON lines, in the same
order.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import BinaryIO

import click

from limnograph.cli.cases import CaseReader, answer_lines
from limnograph.domain.answers.effects import Effect, EffectCase
from limnograph.domain.errors import InvalidInput
from limnograph.domain.time import LAST_DATE_MS

_EXAMPLES = (
    "The format of cases and answers: docs/effects.md.\n\n"
    "Exit status: 0 all cases answered; 1 some lines are not cases, each reported on stderr as a JSON object; 2 wrong "
    "usage.\n\n"
    "\b\nExamples:\n  limnograph effect --cases cases.jsonl > effects.jsonl\n"
    "  jq -c 'select(.verdict == \"worse\")' effects.jsonl"
)


@click.command("effect", epilog=_EXAMPLES)
@click.option(
    "--cases",
    type=click.File("rb"),
    required=True,
    metavar="FILE",
    help="One case per line: a job's runs, an operation, other jobs, load, other events. - reads standard input.",
)
def command(cases: BinaryIO) -> None:
    """Measure what an operation did to a job: helped, worse, none, or why nothing can be claimed.

    One answer per line: a verdict, the ratio of durations after to before with bounds at 95 %, and how many further
    runs an unknown verdict needs.
    """
    answer_lines(cases, answer)


def answer(line: bytes) -> Effect:
    """The answer to one line. Raises InvalidInput, which names the invalid field."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when numpy loads: small matrices lose time on more
    from limnograph.analysis.effect import measure_effect

    return measure_effect(parse(line))


def parse(line: bytes) -> EffectCase:
    """Parse one line, and check that its lists match. Raises InvalidInput, which names the field."""
    case = _READER.parse(line)
    _check_lengths("runs.duration_seconds", case.runs.times, case.runs.duration_seconds)
    if case.runs.read_bytes is not None:
        _check_lengths("runs.read_bytes", case.runs.times, case.runs.read_bytes)
    _check_times("runs.times", case.runs.times)
    for number, control in enumerate(case.controls or ()):
        _check_lengths(f"controls[{number}].duration_seconds", control.times, control.duration_seconds)
        _check_times(f"controls[{number}].times", control.times)
    if case.load:
        _check_lengths("load.value", case.load.times, case.load.value)
        _check_times("load.times", case.load.times)
    _check_times("others.at", [each.at for each in case.others or ()])
    _check_times("operation", [case.operation.started_at, case.operation.committed_at])
    if case.operation.committed_at < case.operation.started_at:
        raise InvalidInput("operation.committed_at", "must not be before operation.started_at")
    return case


def _check_lengths(field: str, times: Sequence[object], values: Sequence[object]) -> None:
    if len(values) != len(times):
        raise InvalidInput(field, f"has {len(values)} values for {len(times)} times")


def _check_times(field: str, times: Iterable[int]) -> None:
    if any(abs(each) > LAST_DATE_MS for each in times):
        raise InvalidInput(field, "must be epoch milliseconds")


_READER = CaseReader(EffectCase)
