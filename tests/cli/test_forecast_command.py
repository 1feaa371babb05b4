"""`limnograph forecast --cases` as other programs call it: JSON lines fleet by fleet, errors by line and field."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner

from forecast_cases import AS_OF, HOUR_MS, case, rising, runs, sawtooth
from limnograph.analysis.forecast import load_model
from limnograph.cli.forecast import command
from limnograph.domain.errors import InvalidInput


def forecast(text: str, *arguments: str) -> tuple[int, list[dict[str, Any]], list[dict[str, Any]]]:
    found = CliRunner().invoke(command, ["--cases", "-", *arguments], input=text, catch_exceptions=False)
    answers, errors = ([json.loads(line) for line in text.splitlines()] for text in (found.stdout, found.stderr))
    return found.exit_code, answers, errors


def line(states: list[float] | None = None, **changes: Any) -> dict[str, Any]:
    given = case(
        rising(9) if states is None else states, [("small_files", 1_500), ("reader_seconds", 200)], runs=runs(9)
    )
    return {**msgspec.to_builtins(given), **changes}


def test_answers_come_in_input_order_in_the_shape_of_the_contract() -> None:
    lines = [line(id="b"), line(sawtooth(9), id="a"), line(id="c", fleet="g", unknown_field=[1])]
    code, answers, errors = forecast("\n".join(map(json.dumps, lines)) + "\n\n")
    assert (code, errors, [each["id"] for each in answers]) == (0, [], ["b", "a", "c"])
    first = answers[0]
    assert list(first) == ["id", "risk", "alert", "targets"]
    assert [each["hours"] for each in first["risk"]] == [24, 168]
    target = first["targets"][0]
    assert list(target) == ["metric", "horizons", "crosses_at", "drivers", "abstained"]
    assert list(target["horizons"][0]) == ["hours", "p10", "p50", "p90", "p_cross", "p_cross_if_maintained"]
    assert [each["metric"] for each in first["targets"]] == ["small_files", "reader_seconds"]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"as_of": "soon"}, "as_of"),
        ({"as_of": AS_OF + 1}, "as_of"),
        ({"first_seen": 10**18}, "first_seen"),
        ({"horizons_hours": [0]}, "horizons_hours[0]"),
        ({"facts": {"at": [1, 2], "span_hours": [1]}}, "facts.span_hours"),
        ({"facts": {"at": [1], "span_hours": [1], "manifests": []}}, "facts.manifests"),
        ({"facts": {"at": [2 * HOUR_MS, 0], "span_hours": [1, 1]}}, "facts.at[1]"),
        ({"facts": {"at": [1], "span_hours": [0]}}, "facts.span_hours[0]"),
        ({"runs": {"job": "j", "times": [1], "duration_seconds": [], "read_bytes": [1]}}, "runs.duration_seconds"),
        ({"runs": {"job": "j", "times": [10**18], "duration_seconds": [1], "read_bytes": [1]}}, "runs.times[0]"),
        ({"targets": [{"metric": "storms", "threshold": 1}]}, "targets[0].metric"),
        ({"targets": [{"metric": "manifests"}]}, "targets[0].threshold"),
        ({"targets": [{"metric": "manifests", "threshold": 1}] * 2}, "targets[1].metric"),
    ],
)
def test_an_invalid_line_is_reported_by_field_and_the_others_are_answered(changes: dict[str, Any], field: str) -> None:
    code, answers, errors = forecast(f"{json.dumps(line(**changes))}\n{json.dumps(line(id='good'))}\n")
    assert code == 1
    assert [each["id"] for each in answers] == ["good"]
    assert [(each["line"], each["field"]) for each in errors] == [(1, field)]
    assert errors[0]["error"]


def test_a_line_that_is_not_json_is_reported() -> None:
    code, answers, errors = forecast('{"id": \n')
    assert (code, answers, [each["line"] for each in errors]) == (1, [], [1])


def test_nothing_in_nothing_out() -> None:
    assert forecast("") == (0, [], [])


def test_empty_facts_and_no_targets_are_cases() -> None:
    empty = line(facts={"at": [], "span_hours": []}, runs=None)
    code, answers, errors = forecast(f"{json.dumps(empty)}\n{json.dumps(line(targets=[]))}\n")
    assert (code, errors) == (0, [])
    assert answers[0]["targets"][0]["abstained"] == "missing"
    assert answers[1]["targets"] == []


def test_nan_is_unknown() -> None:
    text = json.dumps(line()).replace('"small_files": [100.0,', '"small_files": [NaN,')
    assert "NaN" in text
    code, answers, errors = forecast(text)
    assert (code, errors, len(answers)) == (0, [], 1)


def test_another_model_can_be_used(tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    path.write_bytes(load_model().model._replace(name="mine").to_bytes())
    text = json.dumps(line())
    assert forecast(text, "--model", str(path))[1] == forecast(text)[1]


def test_help_has_examples() -> None:
    shown = CliRunner().invoke(command, ["--help"]).stdout
    assert "limnograph forecast --cases cases.jsonl > forecasts.jsonl" in shown


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        (["--cases", "-", "--once"], "--cases"),
        (["--cases", "-", "--train"], "--cases"),
        (["--once", "--every", "6h"], "--every"),
        (["--train", "--once"], "--train"),
        (["--every", "10m"], "--every"),
        (["--model", __file__], "--model"),
    ],
)
def test_options_that_do_not_fit_together_are_named(arguments: list[str], field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        CliRunner().invoke(command, arguments, catch_exceptions=False)
    assert refused.value.field == field
