"""PromQL text is one selector, whatever a user writes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from limnograph.domain.metrics.promql import Aggregate, Call, LabelledExpression, Selector, quoted


def test_expressions_print_as_prometheus_reads_them() -> None:
    inner = Call("max_over_time", Selector("x_seconds", {"b": "2", "a": "1"}, 60))
    text = str(LabelledExpression(Aggregate("max", ("a", "b"), inner), "stat", "max"))
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


def test_names_of_prometheus_3_are_quoted_where_they_are_not_identifiers() -> None:
    matchers = {"k8s.namespace": "données", "table": "a.b"}
    assert str(Selector("spark.job.dauer", matchers, 60)) == (
        '{"spark.job.dauer","k8s.namespace"="données",table="a.b"}[60s]'
    )
    assert str(Aggregate("max", ("job_name", "k8s.pod"), Selector("up", {}))) == 'max by (job_name, "k8s.pod") (up)'
    assert str(Selector(("x", "y"), {"a-b": "1"})) == '{__name__=~"x|y","a-b"="1"}'


def test_several_values_are_a_regex_in_which_each_is_literal() -> None:
    assert str(Selector("x", {"job": ("a", "b.c (d)|e\\")})) == 'x{job=~"a|b\\\\.c \\\\(d\\\\)\\\\|e\\\\\\\\"}'


@pytest.mark.parametrize("name", ['a"', "a}", 'x"} or up{a="', "a\nb", "a\\"])
def test_a_hostile_name_stays_within_its_quotes(name: str) -> None:
    assert str(Selector(name, {})) == "{" + quoted(name) + "}"
    assert str(Selector("up", {name: "x"})) == "up{" + quoted(name) + '="x"}'


@pytest.mark.parametrize("name", ["a-b", 'a"', "", "a b", "1a", "a}"])
def test_names_of_functions_are_checked(name: str) -> None:
    with pytest.raises(ValueError, match="PromQL name"):
        str(Call(name, Selector("up", {})))
    with pytest.raises(ValueError, match="PromQL name"):
        str(Selector((name, "up"), {}))


def test_a_label_without_a_name_is_refused() -> None:
    with pytest.raises(ValueError, match="has no name"):
        str(Selector("up", {"": "x"}))
