"""`limnograph explain --cases` as other programs call it: JSON lines, errors by line and field, exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from explain_cases import GUILTY, guilty_case, ordinary
from limnograph.cli.explain import command

OUT = {"id", "changes", "hypotheses", "blamed", "verdict", "confidence"}


def explain(text: str, source: str = "-") -> tuple[int, list[dict[str, Any]], list[dict[str, Any]]]:
    found = CliRunner().invoke(command, ["--cases", source], input=text, catch_exceptions=False)
    answers, errors = ([json.loads(line) for line in text.splitlines()] for text in (found.stdout, found.stderr))
    return found.exit_code, answers, errors


def test_a_file_of_cases_yields_one_answer_per_line_in_the_contracts_shape(tmp_path: Path) -> None:
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
        ('{"id":"x","job":{},"selection":{"from":5,"to":1}}', "selection.to"),
        ('{"id":"x","job":' + '{"a":' * 5_000 + "1" + "}" * 5_000 + "}", "line"),
    ],
)
def test_an_invalid_line_is_reported_and_the_others_are_answered(line: str, field: str) -> None:
    code, answers, errors = explain(f"{line}\n{json.dumps(guilty_case())}\n")
    assert code == 1
    assert [each["id"] for each in answers] == ["case"]
    assert [(each["line"], each["field"]) for each in errors] == [(1, field)]
    assert errors[0]["error"]


def test_messy_measurements_are_not_errors_and_answers_keep_the_order_of_cases() -> None:
    told = guilty_case()
    job = told["job"]
    pairs = list(zip(job["times"], job["duration_seconds"], strict=True))
    upset = [*pairs[300:], *pairs[:300], *pairs[:20], (None, 5.0), (pairs[7][0], None), (pairs[9][0], -1.0)]
    unsorted = {"times": [at for at, _ in upset], "duration_seconds": [took for _, took in upset]}
    unknown = [dict.fromkeys(each, None) | {"id": each["id"]} for each in ordinary(4, seed=9)]
    cases = [
        {**told, "id": "upset", "job": unsorted},
        {"id": "empty", "job": {"times": [], "duration_seconds": []}},
        {**told, "id": "nulls", "commits": [*told["commits"], *unknown], "controls": None, "selection": {"from": None}},
    ]
    code, answers, errors = explain("\r\n".join(map(json.dumps, cases)))
    assert (code, errors) == (0, [])
    blamed = [(each["id"], each["blamed"]) for each in answers]
    assert blamed == [("upset", [GUILTY]), ("empty", []), ("nulls", [GUILTY])]
    assert answers[1]["verdict"].startswith("Not enough data")


def test_an_empty_file_has_no_answers(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_bytes(b"")
    assert explain("", str(tmp_path / "empty.jsonl")) == (0, [], [])


def test_an_answer_is_written_before_the_next_case_is_read() -> None:
    program = [sys.executable, "-m", "limnograph", "explain", "--cases", "-"]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as run:
        assert run.stdin is not None
        assert run.stdout is not None
        for name in ("a", "b"):
            run.stdin.write(json.dumps({**guilty_case(), "id": name}).encode() + b"\n")
            run.stdin.flush()
            assert json.loads(run.stdout.readline())["id"] == name
        run.stdin.close()
    assert run.returncode == 0


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
