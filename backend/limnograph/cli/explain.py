"""`limnograph explain --cases FILE`: cases as JSON lines in, answers as JSON lines out, in the same order."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator
from typing import Any, BinaryIO

import click
import msgspec

from limnograph.domain.answers.explanations import Case, Explanation
from limnograph.domain.errors import InvalidInput

FAILED = 1
_EXAMPLES = (
    "The format of cases and answers: docs/explain.md.\n\nExit status: 0 all cases answered; 1 some lines were not "
    "valid cases, each reported on stderr as a JSON object; 2 wrong usage.\n\n\b\nExamples:\n  limnograph explain "
    "--cases cases.jsonl > answers.jsonl\n  jq -c '.cases[]' incident.json | limnograph explain --cases -"
)


@click.command("explain", epilog=_EXAMPLES)
@click.option(
    "--cases",
    type=click.File("rb"),
    required=True,
    metavar="FILE",
    help="JSON lines, one case per line: a job's runs, other jobs, load, commits; - reads standard input.",
)
def command(cases: BinaryIO) -> None:
    """Find the commit that a job's change in duration coincides with, or report that none explains it.

    Writes one JSON answer per line: changes, hypotheses in rank order with posteriors, commits worth naming, a verdict.
    """
    failed = False
    out = sys.stdout.buffer
    for number, line in _lines(cases):
        try:
            out.write(msgspec.json.encode(answer(line)) + b"\n")
            out.flush()
        except InvalidInput as error:
            failed = True
            told = {"line": number, "field": error.field, "error": error.detail}
            click.echo(msgspec.json.encode(told).decode(), err=True)
    if failed:
        raise SystemExit(FAILED)


def answer(line: bytes) -> Explanation:
    """The answer to one line. Raises InvalidInput naming the field that breaks the format."""
    from limnograph.analysis.explain import explain

    return explain(parse(line))


def parse(line: bytes) -> Case:
    """One line as a case. NaN and infinities, which are not JSON but which programs write, are read as unknown.

    Raises InvalidInput naming the field.
    """
    try:
        return _checked(_DECODER.decode(line))
    except msgspec.ValidationError as error:
        raise _named(error) from None
    except RecursionError:
        raise InvalidInput("line", "is too deeply nested") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        return _checked(_lenient(line, error))


def _checked(case: Case) -> Case:
    chosen = case.selection
    if chosen and chosen.start is not None and chosen.end is not None and chosen.end < chosen.start:
        raise InvalidInput("selection.to", "must not be before selection.from")
    return case


def _lenient(line: bytes, first: Exception) -> Case:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        raise InvalidInput("line", f"is not JSON: {first}") from None
    try:
        return msgspec.convert(_finite(found), Case)
    except msgspec.ValidationError as error:
        raise _named(error) from None


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list):
        return [_finite(each) for each in value]
    return {key: _finite(each) for key, each in value.items()} if isinstance(value, dict) else value


def _named(error: msgspec.ValidationError) -> InvalidInput:
    detail, _, path = str(error).partition(" - at `$")
    field = path.rstrip("`").lstrip(".")
    if not field and "`" in detail:
        field = detail.split("`")[-2] if "field" in detail else ""
    return InvalidInput(field or "case", detail)


def _lines(cases: BinaryIO) -> Iterator[tuple[int, bytes]]:
    for number, line in enumerate(cases, 1):
        if line.strip():
            yield number, line


_DECODER = msgspec.json.Decoder(Case)
