"""Every object that requests share says in its class how: immutable, thread-safe, guarded by a lock, or the loop's own.

The server is put together as it runs, and its objects are found by following their attributes.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
import types
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from limnograph.adapters.inbox.store import SqlInbox
from limnograph.adapters.memory.metrics_source import MemoryMetrics
from limnograph.services.sources.cold_reads import ColdEngine
from limnograph.wiring.server import build_services
from limnograph.wiring.server_options import ServerOptions
from limnograph.wiring.server_runtime import ServerRuntime
from serving_kit import NOW, FixedClock, application, lake, row

IMMUTABLE = "Immutable after construction"
RULES = re.compile(f"{IMMUTABLE}|Thread-safe|Guarded by|on the event loop only")
_LEAVES = (str, bytes, int, float, type, types.ModuleType)


def shared() -> dict[type, Any]:
    """Classes of ours with state, one object of each, in a server that has a metrics source and a second engine."""
    engine = lake([row(1, NOW)])
    options = ServerOptions(
        engine,
        SqlInbox("sqlite://"),
        FixedClock(),
        [MemoryMetrics("main", {})],
        cold=ColdEngine(engine, engine, FixedClock()),
    )
    made = build_services(options)
    found: dict[type, Any] = {}
    for each in reached([application(made), ServerRuntime(made)]):
        kind = type(each)
        value = isinstance(each, tuple | msgspec.Struct | BaseException)
        if kind.__module__.startswith("limnograph.") and not value and hasattr(each, "__dict__"):
            found[kind] = each
    return found


def reached(roots: list[Any]) -> Iterator[Any]:
    """Objects by attributes, items and closures."""
    waiting, seen = list(roots), set[int]()
    while waiting:
        each = waiting.pop()
        if id(each) in seen or isinstance(each, _LEAVES):
            continue
        seen.add(id(each))
        waiting += _next(each)
        yield each


def _next(each: Any) -> list[Any]:
    if isinstance(each, types.FunctionType):
        return [cell.cell_contents for cell in each.__closure__ or ()]
    if isinstance(each, types.MethodType):
        return [each.__self__]
    items = list(each.values()) if isinstance(each, dict) else []
    items += list(each) if isinstance(each, list | tuple | set | frozenset) else []
    mine = type(each).__module__.startswith(("limnograph.", "litestar."))
    return [*items, *vars(each).values()] if mine and hasattr(each, "__dict__") else items


SHARED = shared()


def test_the_objects_behind_every_route_are_found() -> None:
    assert len(SHARED) > 55
    assert {"HotStore", "FleetService", "MoveColumns", "Pages", "AlertRegistry"} <= {kind.__name__ for kind in SHARED}


@pytest.mark.parametrize("kind", SHARED, ids=lambda kind: f"{kind.__module__}.{kind.__name__}")
def test_a_class_states_its_rule_and_keeps_to_it(kind: type) -> None:
    said = " ".join((kind.__doc__ or "").split())
    assert RULES.search(said), "say who may touch it: see ARCHITECTURE, What threads share"
    if IMMUTABLE in said:
        assert [name for name in assigned(kind) if not _keeps_its_own_rule(vars(SHARED[kind]).get(name))] == []


def _keeps_its_own_rule(part: object) -> bool:
    """Whether a part is a shared object itself: then a call of its `add` or `update` is its own matter."""
    return type(part) in SHARED


def assigned(kind: type) -> list[str]:
    """Attributes of `self` that methods beside `__init__` assign, change item by item, or change by a call."""
    (body,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    assert isinstance(body, ast.ClassDef)
    found = []
    for method in body.body:
        if isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef) and method.name != "__init__":
            found += [name for node in ast.walk(method) if (name := _changed(node))]
    return found


_CHANGING = {"append", "add", "pop", "popitem", "update", "setdefault", "discard", "clear", "move_to_end", "remove"}


def _changed(node: ast.AST) -> str | None:
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign | ast.Delete):
        targets = node.targets
    elif isinstance(node, ast.AugAssign | ast.AnnAssign):
        targets = [node.target]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _CHANGING:
        targets = [node.func.value]
    for target in targets:
        for inner in ast.walk(target):
            if isinstance(inner, ast.Attribute) and isinstance(inner.value, ast.Name) and inner.value.id == "self":
                return inner.attr
    return None
