"""PromQL text is one selector, whatever a user writes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from limnograph.domain.promql import Aggregate, Call, Labelled, Selector, quoted


def test_expressions_print_as_prometheus_reads_them() -> None:
    inner = Call("max_over_time", Selector("x_seconds", {"b": "2", "a": "1"}, 60))
    text = str(Labelled(Aggregate("max", ("a", "b"), inner), "stat", "max"))
    assert text == 'label_replace(max by (a, b) (max_over_time(x_seconds{a="1",b="2"}[60s])), "stat", "max", "", "")'


@given(st.text())
def test_a_quoted_value_ends_where_it_should(value: str) -> None:
    text = quoted(value)
    position, inside = 1, text[1:-1]
    while position - 1 < len(inside):
        char = inside[position - 1]
        assert char not in {'"', "\n"}
        position += 2 if char == "\\" else 1
    assert position - 1 == len(inside)


@pytest.mark.parametrize("name", ["a-b", 'a"', "", "a b", "1a", "a}"])
def test_names_are_checked(name: str) -> None:
    with pytest.raises(ValueError, match="PromQL name"):
        str(Selector(name, {}))
    with pytest.raises(ValueError, match="PromQL name"):
        str(Selector("up", {name: "x"}))
