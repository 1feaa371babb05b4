"""PromQL as values: selectors with quoted matchers, functions, aggregations. Text appears once, in `str()`.

Label values come from users and tables; they are quoted here and nowhere else. Names of metrics, labels and
functions are ours and are checked.
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


class Selector(NamedTuple):
    """An instant selector; with `window` seconds a range selector. Matchers compare for equality."""

    metric: str
    matchers: Mapping[str, str]
    window: int | None = None

    def __str__(self) -> str:
        inner = ",".join(f"{_name(label)}={quoted(value)}" for label, value in sorted(self.matchers.items()))
        text = _name(self.metric) + (f"{{{inner}}}" if inner else "")
        return f"{text}[{self.window}s]" if self.window is not None else text


class Call(NamedTuple):
    """A function of one expression, with a leading number if it takes one: `quantile_over_time(0.5, x[60s])`."""

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
        return f"{_name(self.operator)} by ({', '.join(map(_name, self.by))}) ({self.argument})"


class Labelled(NamedTuple):
    """Every series of `argument` with one more label of a fixed value."""

    argument: Expression
    label: str
    value: str

    def __str__(self) -> str:
        if not re.fullmatch(r"[a-z0-9_]+", self.value):
            raise ValueError(f"{self.value!r} is not a plain label value")
        target = f"{quoted(_name(self.label))}, {quoted(self.value)}"
        return f"label_replace({self.argument}, {target}, {quoted('')}, {quoted('')})"


class Union(NamedTuple):
    """Series of every part, told apart by a label."""

    parts: tuple[Expression, ...]

    def __str__(self) -> str:
        return " or ".join(str(part) for part in self.parts)


Expression = Selector | Call | Aggregate | Labelled | Union
