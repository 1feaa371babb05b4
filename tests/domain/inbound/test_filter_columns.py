"""Columns of a filter: from expressions only, never from text in which a literal may look like a name."""

from __future__ import annotations

import json
from typing import Any

import pytest

from limnograph.domain.inbound.filter_columns import DEEPEST, MOST, filter_columns

LESS = {"type": "lt", "term": "id", "value": 5}
DAY = {"type": "eq", "term": {"type": "transform", "transform": "day", "term": "at"}, "value": "2026-01-01"}
REFERENCE = {"type": "is-null", "term": {"type": "reference", "term": "a.b"}}
IN = {"type": "in", "term": "region", "values": ["secret", "id"]}


@pytest.mark.parametrize(
    ("expression", "columns"),
    [
        (LESS, ["id"]),
        ({"type": "and", "left": DAY, "right": {"type": "not", "child": REFERENCE}}, ["at", "a.b"]),
        ({"type": "or", "left": LESS, "right": {"type": "and", "left": IN, "right": LESS}}, ["id", "region"]),
        (json.dumps(IN), ["region"]),
        # Everything is selected.
        (True, []),
        ("true", []),
        ("", []),
        ({"type": "true"}, []),
        # Not known: no filter, or text.
        (None, None),
        ('ref(name="id") < 5', None),
        ("region = 'x, id = 5'", None),
        ("{not json", None),
        (5, None),
        ({"type": "eq", "term": 5}, []),
        ({"type": "eq", "term": "x" * 1_001}, []),
    ],
)
def test_a_filter_is_reduced_to_its_columns(expression: Any, columns: list[str] | None) -> None:
    assert filter_columns(expression) == columns


def test_a_deep_or_wide_expression_is_bounded() -> None:
    deep: Any = LESS
    for _ in range(10 * DEEPEST):
        deep = {"type": "not", "child": deep}
    assert filter_columns(deep) == []
    wide: Any = {"type": "true"}
    for number in range(DEEPEST - 1):
        pair = {"type": "and", "left": {"term": f"a{number}"}, "right": {"term": f"b{number}"}}
        wide = {"type": "and", "left": wide, "right": pair}
    assert len(filter_columns(wide) or ()) == MOST
