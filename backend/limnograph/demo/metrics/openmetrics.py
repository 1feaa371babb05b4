"""Renders samples as OpenMetrics text, which promtool turns into blocks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple


class MetricSeries(NamedTuple):
    """One series: labels and samples `(epoch seconds, value)` in order of time."""

    labels: Mapping[str, str]
    samples: Sequence[tuple[int, float]]


class Family(NamedTuple):
    """All series of one metric. `name` is the name in PromQL, so a counter's ends in `_total`."""

    name: str
    kind: Literal["gauge", "counter"]
    help: str
    series: Sequence[MetricSeries]


def text(families: Iterable[Family], start: int, end: int) -> str:
    """The samples with `start <= time < end` (epoch seconds), terminated by `# EOF`, which promtool requires."""
    lines: list[str] = []
    for family in families:
        lines += _family(family, start, end)
    return "\n".join([*lines, "# EOF", ""])


def _family(family: Family, start: int, end: int) -> list[str]:
    name = family.name.removesuffix("_total") if family.kind == "counter" else family.name
    lines = [f"# HELP {name} {_escape(family.help)}", f"# TYPE {name} {family.kind}"]
    for series in family.series:
        labels = ",".join(f'{key}="{_escape(value)}"' for key, value in series.labels.items())
        head = f"{family.name}{{{labels}}}"
        lines += [f"{head} {value:.17g} {at}" for at, value in series.samples if start <= at < end]
    return lines


def _escape(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
