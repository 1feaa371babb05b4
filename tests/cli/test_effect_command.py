"""`limnograph effect --cases` as other programs call it: JSON lines, errors by line and field, exit codes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner

from limnograph.cli.effect import command

HOUR = 3_600_000


def effect(text: str) -> tuple[int, list[dict[str, Any]], list[dict[str, Any]]]:
    found = CliRunner().invoke(command, ["--cases", "-"], input=text, catch_exceptions=False)
    answers, errors = ([json.loads(line) for line in text.splitlines()] for text in (found.stdout, found.stderr))
    return found.exit_code, answers, errors


def line(**changes: Any) -> dict[str, Any]:
    times = [1_795_392_000_000 + number * HOUR for number in range(60)]
    seconds = [100 + number % 7 for number in range(40)] + [70 + number % 7 for number in range(20)]
    return {
        "id": "a",
        "runs": {"times": times, "duration_seconds": seconds, "read_bytes": None},
        "operation": {"started_at": times[40] - 2_000, "committed_at": times[40] - 1_000},
        "controls": [],
        "load": None,
        "others": [],
        **changes,
    }


def test_answers_come_in_input_order_in_the_shape_of_the_contract() -> None:
    code, answers, errors = effect("\n".join(json.dumps(line(id=name)) for name in ("b", "a")) + "\n\n")
    assert (code, errors, [each["id"] for each in answers]) == (0, [], ["b", "a"])
    first = answers[0]
    assert list(first) == [
        *("id", "verdict", "because", "estimate", "low", "high"),
        *("runs_before", "runs_after", "more_runs"),
    ]
    assert first["verdict"] == "helped"
    assert set(first["estimate"]) == {"ratio", "seconds"}
    assert first["low"]["ratio"] < first["estimate"]["ratio"] < first["high"]["ratio"] < 1


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"runs": {"times": [1], "duration_seconds": []}}, "runs.duration_seconds"),
        ({"runs": {"times": [1], "duration_seconds": [1], "read_bytes": []}}, "runs.read_bytes"),
        ({"runs": {"times": ["soon"], "duration_seconds": [1]}}, "runs.times[0]"),
        ({"runs": {"times": [1, 10**18], "duration_seconds": [1, 1]}}, "runs.times[1]"),
        ({"runs": {"times": [1, 2], "duration_seconds": [1, -1]}}, "runs.duration_seconds[1]"),
        ({"runs": {"times": [1], "duration_seconds": [1], "read_bytes": [-1]}}, "runs.read_bytes[0]"),
        ({"controls": [{"job": "c", "times": [1], "duration_seconds": [-1]}]}, "controls[0].duration_seconds[0]"),
        ({"controls": [{"job": "c", "times": [10**18], "duration_seconds": [1]}]}, "controls[0].times[0]"),
        ({"operation": {"started_at": 10**18, "committed_at": 10**18}}, "operation.started_at"),
        ({"others": [{"at": 1, "kind": "append"}, {"at": 10**18, "kind": "append"}]}, "others[1].at"),
        ({"others": [{"at": 1, "kind": "append", "files": -1}]}, "others[0].files"),
        ({"id": "\ud800"}, "line"),
        ({"operation": {"started_at": 2, "committed_at": 1}}, "operation.committed_at"),
        ({"operation": {"started_at": 2}}, "operation.committed_at"),
        ({"runs": {"times": [1]}}, "runs.duration_seconds"),
        ({"controls": [{"job": "c", "times": [1, 2], "duration_seconds": [1]}]}, "controls[0].duration_seconds"),
        ({"load": {"times": [1], "value": []}}, "load.value"),
        ({"others": [{"at": 1, "kind": "storm"}]}, "others[0].kind"),
    ],
)
def test_an_invalid_line_is_reported_by_field_and_the_others_are_answered(changes: dict[str, Any], field: str) -> None:
    code, answers, errors = effect(f"{json.dumps(line(**changes))}\n{json.dumps(line())}\n")
    assert code == 1
    assert [each["id"] for each in answers] == ["a"]
    assert [(each["line"], each["field"]) for each in errors] == [(1, field)]
    assert errors[0]["error"]


def test_nan_is_a_killed_run() -> None:
    text = json.dumps(line()).replace("103,", "NaN,", 1)
    code, answers, errors = effect(text)
    assert (code, errors, answers[0]["runs_before"]) == (0, [], 40)
