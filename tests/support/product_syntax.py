"""Modules of the backend, each parsed once per process: several checks walk all of them."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

BACKEND = Path(__file__).parents[2] / "backend" / "limnograph"


@cache
def syntax_of(path: Path) -> ast.Module:
    """The syntax tree of a module. Callers must not change it."""
    return ast.parse(path.read_text(encoding="utf-8"))
