"""The index of decisions: `python tests/support/adr_index.py > docs/adr/README.md`. A test compares the two.

Titles and statuses come from the decisions themselves; numbers without a decision are named.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

ADRS = Path(__file__).parents[2] / "docs" / "adr"
_TITLE = re.compile(r"# (\d+)\. (.+)")
_STATUS = re.compile(r"Date: (\d{4}-\d{2}-\d{2}).*?\. Status: (\w+)\.")


class Decision(NamedTuple):
    """One decision; `date` as its file has it, ISO 8601."""

    number: int
    title: str
    date: str
    status: str
    file: str


def decisions(folder: Path = ADRS) -> list[Decision]:
    """All decisions by number. ValueError names a file without a title, a date or a status."""
    return [_decision(path) for path in sorted(folder.glob("[0-9][0-9][0-9][0-9]-*.md")) if not _is_appendix(path)]


def missing(found: list[Decision]) -> list[int]:
    """Numbers below the greatest one that no decision has."""
    numbers = {decision.number for decision in found}
    return [number for number in range(1, max(numbers)) if number not in numbers]


def render(found: list[Decision]) -> str:
    """The page."""
    rows = [f"| {each.number} | [{each.title}]({each.file}) | {each.status} | {each.date} |" for each in found]
    unused = ", ".join(f"{number:04d}" for number in missing(found))
    return "\n".join(
        [
            "# Decisions",
            "",
            "Generated from the files of this folder: run `make types` after a change.",
            "",
            "Each decision is one page: context, decision, alternatives, consequence. Numbers are never reused.",
            *([f"Numbers without a decision, which were reserved and not used: {unused}."] if unused else []),
            "",
            "| number | decision | status | date |",
            "|---:|---|---|---|",
            *rows,
        ]
    )


def _decision(path: Path) -> Decision:
    text = path.read_text(encoding="utf-8")
    title, status = _TITLE.match(text), _STATUS.search(text)
    if title is None or status is None or int(title[1]) != int(path.name[:4]):
        raise ValueError(f"{path.name}: begins with `# N. Title`, then `Date: YYYY-MM-DD. Status: accepted.`")
    return Decision(int(title[1]), title[2], status[1], status[2], path.name)


def _is_appendix(path: Path) -> bool:
    return path.stem.endswith("-appendix")


if __name__ == "__main__":
    print(render(decisions()))
