"""Instants and durations carry their unit: in the type (`Micros`, `Millis` of `domain/time.py`) or in the name.

Reads the syntax of services, domain, analysis and ports alone. What a name stands for is told by the name: an `int`
called `start` is an instant, one called `window` a duration. A number that is neither needs another name.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from product_syntax import BACKEND, syntax_of

ROOMS = ("services", "domain", "analysis", "ports")
INSTANTS = frozenset(
    (  # noqa: SIM905
        "at began begin beginning begins deadline earliest edge end ended ends expires floor instant known_to "
        "known_until latest micros moment newest now oldest open_since since start started starts t then time until "
        "watermark"
    ).split()
)
DURATIONS = frozenset(
    (  # noqa: SIM905
        "age delay duration gap horizon interval lag look_back patience period quiet step timeout wait width window "
        "within"
    ).split()
)
INSTANT_SUFFIX = re.compile(r"_(at|from|since|until|start|end)$")
UNIT_SUFFIX = re.compile(r"(^|_)(us|ms|s|seconds|minutes|hours|days)$")
BARE = frozenset({"int", "float"})

WIRE = frozenset(
    {
        "domain/answers/partitions.PartitionHeat.step",
        "domain/answers/timeline.Range.step",
        "domain/answers/explanations.CaseCommit.committed_at",
        "domain/answers/explanations.CaseCommit.first_read_at",
        "domain/answers/explanations.Selection.start",
        "domain/answers/explanations.Selection.end",
        "domain/cursors.CursorQuery.within",
    }
)
"""Fields of answers, of cursors and of recorded cases, which keep their names; each class says its unit."""

COUNTS = frozenset(
    {
        "analysis/explain/smoothing.running_median.width",
        "domain/time.TimeRange.parse.step",
    }
)
"""Numbers of values, and the parameter that errors name as the wire does."""


def unitless(syntax: ast.Module, module: str) -> Iterator[str]:
    """`module.Class.field`, `module.function.parameter` and `module.function` of bare numbers that are times."""
    yield from _of_body(syntax.body, module)


def _of_body(body: list[ast.stmt], owner: str) -> Iterator[str]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from _of_body(node.body, f"{owner}.{node.name}")
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _of_function(node, f"{owner}.{node.name}")
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            if _is_time(node.target.id) and _is_bare(node.annotation):
                yield f"{owner}.{node.target.id}"
        elif isinstance(node, ast.If | ast.With | ast.Try):
            yield from _of_body([child for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt)], owner)


def _of_function(node: ast.FunctionDef | ast.AsyncFunctionDef, owner: str) -> Iterator[str]:
    given = node.args
    for one in (*given.posonlyargs, *given.args, *given.kwonlyargs):
        if _is_time(one.arg) and one.annotation is not None and _is_bare(one.annotation):
            yield f"{owner}.{one.arg}"
    name = node.name.lstrip("_")
    if name in INSTANTS | DURATIONS and node.returns is not None and _is_bare(node.returns):
        yield owner
    yield from _of_body([child for child in node.body if isinstance(child, ast.FunctionDef | ast.ClassDef)], owner)


def _is_time(name: str) -> bool:
    named = name in INSTANTS | DURATIONS or INSTANT_SUFFIX.search(name) is not None
    return named and UNIT_SUFFIX.search(name) is None


def _is_bare(annotation: ast.expr) -> bool:
    """Whether it is `int` or `float`, alone or with None; of `Annotated` and `ClassVar` the first part counts."""
    if isinstance(annotation, ast.Subscript):
        wrapper, inner = annotation.value, annotation.slice
        if not isinstance(wrapper, ast.Name) or wrapper.id not in {"Annotated", "Final", "ClassVar"}:
            return False
        return _is_bare(inner.elts[0] if isinstance(inner, ast.Tuple) else inner)
    if isinstance(annotation, ast.BinOp):
        return _is_bare(annotation.left) or _is_bare(annotation.right)
    return isinstance(annotation, ast.Name) and annotation.id in BARE


def test_instants_and_durations_carry_their_unit() -> None:
    found = set()
    for room in ROOMS:
        for path in sorted((BACKEND / room).rglob("*.py")):
            module = str(path.relative_to(BACKEND).with_suffix(""))
            found.update(unitless(syntax_of(path), module))
    assert sorted(found - WIRE - COUNTS) == []
    assert sorted((WIRE | COUNTS) - found) == []  # what is excused is there


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("def cut(start: int, end: float | None = None) -> None: ...", ["m.cut.start", "m.cut.end"]),
        ("async def cut(*, read_at: int) -> None: ...", ["m.cut.read_at"]),
        ("class Span(NamedTuple):\n    since: int\n    window: float = 3.0", ["m.Span.since", "m.Span.window"]),
        ("class Fact(Struct):\n    at: Annotated[int | None, Col(1)]", ["m.Fact.at"]),
        ("class Clock(Protocol):\n    def now(self) -> int: ...", ["m.Clock.now"]),
        ("def outer():\n    def inner(until: int): ...", ["m.outer.inner.until"]),
        ("if True:\n    def cut(floor: int): ...", ["m.cut.floor"]),
    ],
)
def test_a_time_without_a_unit_is_found(source: str, names: list[str]) -> None:
    assert list(unitless(ast.parse(source), "m")) == names


@pytest.mark.parametrize(
    "source",
    [
        "def cut(start: Micros, end: Millis | None, window_s: float, hourly_days: int) -> None: ...",
        "class Fact(Struct):\n    at: Annotated[Micros | None, Col(1)]",
        "def cut(first: int, slots: Sequence[int], at: str) -> int: ...",
        "class Clock(Protocol):\n    def now(self) -> Micros: ...",
    ],
)
def test_a_unit_in_the_type_or_the_name_is_enough(source: str) -> None:
    assert list(unitless(ast.parse(source), "m")) == []
