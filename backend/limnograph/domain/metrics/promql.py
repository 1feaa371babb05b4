"""PromQL as values: selectors with quoted matchers, functions, aggregations. `str()` alone makes text of them.

Label values are untrusted, since users and tables define them; they are quoted here and nowhere else. Names of
functions are ours and are checked. Names of metrics and labels other than classic ones (`k8s.namespace`) are quoted as
in Prometheus 3.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")


def quoted(value: str) -> str:
    """A label value as a PromQL string."""
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def _name(text: str) -> str:
    if not _NAME.fullmatch(text):
        raise ValueError(f"{text!r} is not a PromQL name")
    return text


def _label(text: str) -> str:
    """A label name: bare if any version of Prometheus accepts it, otherwise quoted, which requires Prometheus 3."""
    if not text:
        raise ValueError("a label has no name")
    return text if _NAME.fullmatch(text) else quoted(text)


def _matcher(label: str, value: str | tuple[str, ...]) -> str:
    if isinstance(value, str):
        return f"{_label(label)}={quoted(value)}"
    return f"{_label(label)}=~{quoted(_any_of(value))}"


def _any_of(values: tuple[str, ...]) -> str:
    """An RE2 regex, which Prometheus anchors, that matches exactly these texts."""
    return "|".join(re.sub(r"[\\.+*?()|\[\]{}^$]", r"\\\g<0>", value) for value in values)


class Selector(NamedTuple):
    """An instant selector; with `window_s` a range selector; with `at_s` evaluated at that instant in every step.

    Matchers compare for equality (several values: with any of them), those in `but` for inequality. One regex selects
    several metrics, so that one evaluation covers all of them.
    """

    metric: str | tuple[str, ...]
    matchers: Mapping[str, str | tuple[str, ...]]
    window_s: int | None = None
    at_s: int | None = None
    but: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        inner = [_matcher(label, value) for label, value in sorted(self.matchers.items())]
        inner += [f"{_label(label)}!={quoted(value)}" for label, value in self.but]
        if isinstance(self.metric, str):
            name = _label(self.metric)
            name, inner = (name, inner) if name == self.metric else ("", [name, *inner])
        else:
            name, inner = "", [f"__name__=~{quoted('|'.join(map(_name, self.metric)))}", *inner]
        text = name + (f"{{{','.join(inner)}}}" if inner else "")
        text += "" if self.window_s is None else f"[{self.window_s}s]"
        return text if self.at_s is None else f"{text} @ {self.at_s}"


class Call(NamedTuple):
    """A function of one expression, after a number if it requires one: `quantile_over_time(0.5, x[60s])`."""

    function: str
    argument: Expression
    scalar: float | None = None

    def __str__(self) -> str:
        leading = "" if self.scalar is None else f"{self.scalar:g}, "
        return f"{_name(self.function)}({leading}{self.argument})"


class Aggregate(NamedTuple):
    """`max by (a, b) (x)`."""

    operator: str
    by: tuple[str, ...]
    argument: Expression

    def __str__(self) -> str:
        return f"{_name(self.operator)} by ({', '.join(map(_label, self.by))}) ({self.argument})"


class LabelledExpression(NamedTuple):
    """Every series of `argument` with an additional label of a fixed value."""

    argument: Expression
    label: str
    value: str

    def __str__(self) -> str:
        if not re.fullmatch(r"[a-z0-9_]+", self.value):
            raise ValueError(f"{self.value!r} is not a plain label value")
        target = f"{quoted(_name(self.label))}, {quoted(self.value)}"
        return f"label_replace({self.argument}, {target}, {quoted('')}, {quoted('')})"


class Union(NamedTuple):
    """The series of all parts, distinguished by a label."""

    parts: tuple[Expression, ...]

    def __str__(self) -> str:
        return " or ".join(f"({part})" if isinstance(part, OnlyAt) else str(part) for part in self.parts)


class OnlyAt(NamedTuple):
    """The sample of a range query at one instant, which must be one of its steps."""

    argument: Expression
    at_s: int

    def __str__(self) -> str:
        return f"({self.argument}) and on() (vector(time()) == {self.at_s})"


Expression = Selector | Call | Aggregate | LabelledExpression | Union | OnlyAt
