"""`limnograph explain --cases FILE`: reads cases as JSON lines and writes their answers as JSON lines, in the same
order.
"""

from __future__ import annotations

from typing import BinaryIO

import click

from limnograph.cli.cases import CaseReader, answer_lines
from limnograph.domain.answers.explanations import Case, Explanation
from limnograph.domain.errors import InvalidInput

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
    answer_lines(cases, answer)


def answer(line: bytes) -> Explanation:
    """The answer to one line. Raises InvalidInput, which names the invalid field."""
    from limnograph.analysis.explain import explain

    return explain(parse(line))


def parse(line: bytes) -> Case:
    """Parse one line. Raises InvalidInput, which names the field."""
    case = _READER.parse(line)
    chosen = case.selection
    if chosen and chosen.start is not None and chosen.end is not None and chosen.end < chosen.start:
        raise InvalidInput("selection.to", "must not be before selection.from")
    return case


_READER = CaseReader(Case)
