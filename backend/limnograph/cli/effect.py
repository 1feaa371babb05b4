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
    runs, operation = case.runs, case.operation
    _check_series("runs", runs.times, duration_seconds=runs.duration_seconds)
    if runs.read_bytes is not None:
        _check_series("runs", runs.times, read_bytes=runs.read_bytes)
    for number, control in enumerate(case.controls or ()):
        _check_series(f"controls[{number}]", control.times, duration_seconds=control.duration_seconds)
    if case.load:
        _check_lengths("load.value", case.load.times, case.load.value)
        _check_times("load.times", case.load.times)
    for number, event in enumerate(case.others or ()):
        _check_time(f"others[{number}].at", event.at)
        _check_value(f"others[{number}].files", event.files)
    _check_time("operation.started_at", operation.started_at)
    _check_time("operation.committed_at", operation.committed_at)
    if operation.committed_at < operation.started_at:
        raise InvalidInput("operation.committed_at", "must not be before operation.started_at")
    return case


def _check_series(parent: str, times: Sequence[int], **columns: Sequence[float | None]) -> None:
    for name, values in columns.items():
        _check_lengths(f"{parent}.{name}", times, values)
        for place, value in enumerate(values):
            _check_value(f"{parent}.{name}[{place}]", value)
    _check_times(f"{parent}.times", times)


def _check_lengths(field: str, times: Sequence[object], values: Sequence[object]) -> None:
    if len(values) != len(times):
        raise InvalidInput(field, f"has {len(values)} values for {len(times)} times")


def _check_value(field: str, value: float | None) -> None:
    if value is not None and value < 0:
        raise InvalidInput(field, "must not be negative")


def _check_times(field: str, times: Iterable[int]) -> None:
    for place, each in enumerate(times):
        _check_time(f"{field}[{place}]", each)


def _check_time(field: str, at: int) -> None:
    if abs(at) > LAST_DATE_MS:
        raise InvalidInput(field, "must be epoch milliseconds")


_READER = CaseReader(EffectCase)
