"""Evaluates the shipped alert rules over the history with Prometheus' own rule engine (`promtool test rules`): which
alerts were pending and firing at each minute, and what their annotations said.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from limnograph.demo.metrics.backfill import TABLE_STEP, grid
from limnograph.demo.metrics.openmetrics import Family, MetricSeries
from limnograph.demo.story.calendar import Calendar
from limnograph.domain.errors import EnvironmentFault
from limnograph.domain.time import Millis

_GROUP = "limnograph-tables"
"""The group of rules about tables. The others are about Limnograph itself, which did not run then."""
_CLOCKS = ("_timestamp_seconds",)
"""Endings of metrics whose value is an instant: the engine's clock begins at 0 with the history."""
_STATES = '{__name__=~"ALERTS|ALERTS_FOR_STATE"}'
_LABEL = r'\w+="(?:[^"\\]|\\.)*"'
_LABELS = rf"\{{((?:{_LABEL}(?:,\s*)?)*)\}}"
_PAIR = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
_EXPECTATION = re.compile(r"^    (?:alertname: \w+|expr: .*), time: ((?:\d+[dhms]+)+),", re.MULTILINE)
_FIRING = re.compile(rf"Labels:{_LABELS}\s+Annotations:{_LABELS}")
_SAMPLE = re.compile(rf"{_LABELS} ([-+0-9.eE]+)")
_PART = re.compile(r"(\d+)([dhms])")
_SECONDS = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}
Labels = frozenset[tuple[str, str]]


class PastAlert(msgspec.Struct, frozen=True):
    """One time that an alert fired, in epoch ms; `ends_at` is None if it still fired when the history ended."""

    labels: dict[str, str]
    annotations: dict[str, str]
    starts_at: Millis
    ends_at: Millis | None


class RuleHistory(NamedTuple):
    """What the rules did: the alerts that fired, in order of their starts, and the series that Prometheus records."""

    alerts: list[PastAlert]
    families: list[Family]


def evaluate(
    promtool: Path, scratch: Path, rules: Sequence[Path], calendar: Calendar, families: Sequence[Family]
) -> RuleHistory:
    """Evaluate the rules once a minute over the families of tables. Raises EnvironmentFault if promtool cannot."""
    files = [_about_tables(file, scratch) for file in rules]
    names = sorted({name for file in files for name in re.findall(r"- alert: (\w+)", file.read_text())})
    minutes = len(grid(calendar, TABLE_STEP))
    test = scratch / "rules-test.json"
    test.write_text(json.dumps(_test(files, names, minutes, calendar, families)))
    done = subprocess.run([str(promtool), "test", "rules", str(test)], capture_output=True, text=True, check=False)
    for file in (test, *(file for file in files if file.parent == scratch)):
        file.unlink()
    firing, states = _parse(done.stdout + done.stderr)
    # Every expectation is an empty one, so that promtool prints what it found instead. No alert at all would pass.
    if done.returncode and not firing and not states:
        raise EnvironmentFault(f"promtool could not evaluate the rules: {(done.stderr or done.stdout).strip()[:500]}")
    return RuleHistory(_alerts(firing, minutes, calendar), _recorded(states, calendar))


def _about_tables(file: Path, scratch: Path) -> Path:
    """The rule file, or a copy with nothing but the group about tables if it has other groups too."""
    head, *groups = re.split(r"(?m)^(?=  - name: )", file.read_text())
    chosen = [group for group in groups if group.startswith(f"  - name: {_GROUP}\n")]
    if not chosen:
        return file
    copy = scratch / f"rules-{file.name}"
    copy.write_text(head + "".join(chosen))
    return copy


def _test(
    files: Sequence[Path], names: Sequence[str], minutes: int, calendar: Calendar, families: Sequence[Family]
) -> dict[str, Any]:
    """A unit test in promtool's format, whose expectations fail wherever there is an alert."""
    times = [f"{minute}m" for minute in range(minutes)]
    return {
        "rule_files": [str(file) for file in files],
        "evaluation_interval": "1m",
        "tests": [
            {
                "interval": "1m",
                "input_series": [
                    {"series": _name(family, one), "values": _values(family, one, minutes, calendar)}
                    for family in families
                    for one in family.series
                    if one.samples
                ],
                "alert_rule_test": [
                    {"eval_time": at, "alertname": name, "exp_alerts": []} for at in times for name in names
                ],
                "promql_expr_test": [{"expr": _STATES, "eval_time": at, "exp_samples": []} for at in times],
            }
        ],
    }


def _name(family: Family, series: MetricSeries) -> str:
    return family.name + "{" + ",".join(f"{name}={json.dumps(value)}" for name, value in series.labels.items()) + "}"


def _values(family: Family, series: MetricSeries, minutes: int, calendar: Calendar) -> str:
    """The samples as promtool writes them: `5x3` is four times 5, `_x4` four missing ones."""
    first = calendar.start // 1000
    base = first if family.name.endswith(_CLOCKS) else 0
    known = {(at - first) // TABLE_STEP: value - base for at, value in series.samples}
    found: list[str] = []
    minute = 0
    while minute < minutes:
        value, length = known.get(minute), 1
        while minute + length < minutes and known.get(minute + length) == value:
            length += 1
        found.append(f"_x{length}" if value is None else f"{value:.17g}x{length - 1}")
        minute += length
    return " ".join(found)


def _parse(output: str) -> tuple[dict[Labels, dict[int, dict[str, str]]], dict[Labels, dict[int, float]]]:
    """Annotations of firing alerts, and samples of the rules' own series, by labels and minute."""
    firing: dict[Labels, dict[int, dict[str, str]]] = defaultdict(dict)
    states: dict[Labels, dict[int, float]] = defaultdict(dict)
    for minute, text in _failed(output):
        for labels, said in _FIRING.findall(text):
            firing[frozenset(_pairs(labels).items())][minute] = _pairs(said)
        if "__name__=" in text:
            for labels, value in _SAMPLE.findall(text):
                states[frozenset(_pairs(labels).items())][minute] = float(value)
    return firing, states


def _failed(output: str) -> Iterator[tuple[int, str]]:
    """The minute and the text of each expectation that failed."""
    found = list(_EXPECTATION.finditer(output))
    ends = [*(one.start() for one in found[1:]), len(output)]
    for one, end in zip(found, ends, strict=False):
        seconds = sum(int(number) * _SECONDS[unit] for number, unit in _PART.findall(one[1]))
        yield seconds // 60, output[one.end() : end]


def _pairs(text: str) -> dict[str, str]:
    return {name: json.loads(f'"{value}"') for name, value in _PAIR.findall(text)}


def _alerts(firing: Mapping[Labels, Mapping[int, dict[str, str]]], minutes: int, calendar: Calendar) -> list[PastAlert]:
    found = []
    for labels, at_minute in firing.items():
        for first in (minute for minute in at_minute if minute - 1 not in at_minute):
            end = first
            while end in at_minute:
                end += 1
            starts_at, ends_at = Millis(calendar.start + first * 60_000), Millis(calendar.start + end * 60_000)
            found.append(PastAlert(dict(labels), at_minute[first], starts_at, None if end >= minutes else ends_at))
    return sorted(found, key=lambda alert: (alert.starts_at, sorted(alert.labels.items())))


def _recorded(states: Mapping[Labels, Mapping[int, float]], calendar: Calendar) -> list[Family]:
    """`ALERTS` and `ALERTS_FOR_STATE`, as Prometheus would have recorded them."""
    start, series = calendar.start // 1000, defaultdict(list)
    for labels, values in states.items():
        own = dict(labels)
        name = own.pop("__name__")
        base = start if name == "ALERTS_FOR_STATE" else 0
        samples = [(start + minute * 60, value + base) for minute, value in sorted(values.items())]
        series[name].append(MetricSeries(own, samples))
    return [Family(name, "gauge", "Recorded by the alert rules.", one) for name, one in sorted(series.items())]
