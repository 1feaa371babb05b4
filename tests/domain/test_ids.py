"""Names and locations: one spelling for one thing, reversible text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from limnograph.domain.errors import InvalidInput
from limnograph.domain.ids import (
    TableName,
    escape_level,
    location_uuid,
    matches,
    normalise_location,
    path_segment,
    unescape_level,
)


@pytest.mark.parametrize("spelling", ["file:/w/t", "file:///w/t", "/w/t", "/w/t/", "file:////w/t"])
def test_a_local_place_has_one_spelling(spelling: str) -> None:
    assert normalise_location(spelling) == "file:///w/t"


@pytest.mark.parametrize("spelling", ["s3://b/t", "s3a://b/t", "s3n://b/t/"])
def test_an_object_store_place_has_one_spelling(spelling: str) -> None:
    assert normalise_location(spelling) == "s3://b/t"


def test_the_substitute_uuid_is_the_same_for_all_spellings() -> None:
    assert location_uuid("file:/w/t") == location_uuid("/w/t/")
    assert location_uuid("/w/t").startswith("loc:")
    assert len(location_uuid("/w/t")) == len("loc:") + 32


@given(st.lists(st.text(min_size=1), min_size=1))
def test_namespace_levels_survive_being_joined(levels: list[str]) -> None:
    assert TableName.of("lake", levels, "t").levels == tuple(levels)


@given(st.text())
def test_a_level_survives_a_path_segment(level: str) -> None:
    segment = path_segment(escape_level(level))
    assert "/" not in segment
    assert "." not in segment
    assert unescape_level(segment) == level


def test_ordinary_names_are_unchanged() -> None:
    assert str(TableName.of("lake", ["sales", "eu"], "orders")) == "lake.sales.eu.orders"
    assert TableName.parse("lake.sales.eu.orders") == ("lake", "sales.eu", "orders")


@pytest.mark.parametrize("text", ["", "orders", "sales.orders", "lake..orders"])
def test_a_name_with_too_few_levels_is_refused_by_field(text: str) -> None:
    with pytest.raises(InvalidInput, match=r"jobs\.reads"):
        TableName.parse(text, "jobs.reads")


@pytest.mark.parametrize(
    ("pattern", "name", "expected"),
    [
        ("**", "lake.sales.orders", True),
        ("lake.**", "lake.sales.eu.orders", True),
        ("lake.*.orders", "lake.sales.orders", True),
        ("lake.*.orders", "lake.sales.eu.orders", False),
        ("lake.sales.ord*", "lake.sales.orders", True),
        ("lake.sales", "lake.sales.orders", False),
        ("lake.sales.orders+", "lake.sales.orderss", False),
        ("lake.*", "lake.sales.orders", False),
        ("lake.*", "lake.orders", True),
        ("lake.**.orders", "lake.orders", True),
        ("lake.**.orders", "lake.sales.eu.orders", True),
        ("lake.**.orders", "lake.sales.reorders", False),
        ("**.orders", "lake.sales.orders", True),
        ("**.orders", "lake.sales.reorders", False),
        ("**orders", "lake.sales.reorders", True),
        ("lake.s**", "lake.sales.orders", True),
        ("lake.**", "lakes.orders", False),
        ("lake.**", "lake", False),
        ("lake.**", "lake.sales.two\nlines", True),
        ("lake.sales.*", "lake.sales.two\nlines", True),
        ("landing.**", "files.landing.web.clicks", True),
        ("files.landing.**", "files.landing.web.clicks", True),
        ("landing.**", "lake.landing.clicks", False),
        ("web.**", "files.landing.web.clicks", False),
    ],
)
def test_patterns_match_levels(pattern: str, name: str, expected: bool) -> None:
    assert matches(pattern, name) is expected
