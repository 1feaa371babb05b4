"""`limnograph explain --cases` as other programs call it: JSON lines, errors by line and field, exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from explain_cases import GUILTY, guilty_case
from limnograph.cli.explain import command

OUT = {"id", "changes", "hypotheses", "blamed", "verdict", "confidence"}


def explain(text: str, source: str = "-") -> tuple[int, list[dict[str, Any]], list[dict[str, Any]]]:
    found = CliRunner().invoke(command, ["--cases", source], input=text, catch_exceptions=False)
    answers, errors = ([json.loads(line) for line in text.splitlines()] for text in (found.stdout, found.stderr))
    return found.exit_code, answers, errors


def test_a_file_of_cases_gives_an_answer_a_line_in_the_contracts_shape(tmp_path: Path) -> None:
    lines = tmp_path / "cases.jsonl"
    lines.write_text("\n".join(json.dumps({**guilty_case(), "id": name}) for name in ("a", "b")) + "\n\n")
    code, answers, errors = explain("", str(lines))
    assert (code, errors, [each["id"] for each in answers]) == (0, [], ["a", "b"])
    first = answers[0]
    assert set(first) == OUT
    assert {"onset", "kind", "effect_ratio", "effect_seconds"} <= set(first["changes"][0])
    assert {"kind", "commit_id", "posterior", "lag_seconds", "evidence"} <= set(first["hypotheses"][0])
    assert first["blamed"] == [GUILTY]


@pytest.mark.parametrize(
    ("line", "field"),
    [
        ("{", "line"),
        ("[1]", "case"),
        ('{"job":{"times":[],"duration_seconds":[]}}', "id"),
        ('{"id":"x","job":{"times":["soon"],"duration_seconds":[1]}}', "job.times[0]"),
        ('{"id":"x","job":{"times":[1,2],"duration_seconds":[1]}}', "job.duration_seconds"),
        ('{"id":"x","job":{},"commits":[{"id":7}]}', "commits[0].id"),
    ],
)
def test_a_line_that_is_no_case_is_told_and_the_others_go_on(line: str, field: str) -> None:
    code, answers, errors = explain(f"{line}\n{json.dumps(guilty_case())}\n")
    assert code == 1
    assert [each["id"] for each in answers] == ["case"]
    assert [(each["line"], each["field"]) for each in errors] == [(1, field)]
    assert errors[0]["error"]


def test_nan_as_programs_write_it_is_an_unknown_number() -> None:
    told = guilty_case()
    told["job"]["duration_seconds"][5] = float("nan")
    told["commits"][0]["manifests"] = float("inf")
    code, answers, errors = explain(json.dumps(told))
    assert (code, errors, answers[0]["blamed"]) == (0, [], [GUILTY])


def test_the_program_knows_the_verb_and_its_help_has_examples() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "limnograph", "explain", "--help"], capture_output=True, text=True, check=True
    )
    assert "limnograph explain --cases cases.jsonl" in run.stdout
