"""Partitions are told apart by their text: values that differ read differently, whatever their type."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from limnograph.adapters.iceberg.manifests.partition_text import partition_text
from limnograph.domain.metadata.partition_text import MAX_TEXT

NANOS = {"type": "long", "logicalType": "timestamp-nanos", "adjust-to-utc": False}
MICROS = {"type": "long", "logicalType": "timestamp-micros", "adjust-to-utc": True}


def text_of(kind: Any, *values: Any, transform: str = "identity") -> str:
    names = [chr(ord("a") + place) for place in range(len(values))]
    avro = [{"name": name, "type": ["null", kind], "field-id": 1000 + i} for i, name in enumerate(names)]
    spec = [{"name": name, "field-id": 1000 + i, "transform": transform} for i, name in enumerate(names)]
    return partition_text(spec, {"fields": avro})(values)


@pytest.mark.parametrize(
    ("kind", "value", "shown"),
    [
        (NANOS, 1_001, "a=1970-01-01T00:00:00.000001001"),
        (NANOS, -1, "a=1969-12-31T23:59:59.999999999"),
        (NANOS, 10**18, "a=2001-09-09T01:46:40"),
        (MICROS, 1, "a=1970-01-01T00:00:00.000001"),
        ("string", "null", 'a="null"'),
        ("string", '"null"', 'a=%22null"'),
        ("string", "a/b=50%", "a=a%2Fb=50%25"),
        ("string", "", "a="),
        ("string", None, "a=null"),
    ],
)
def test_different_values_are_shown_differently(kind: Any, value: Any, shown: str) -> None:
    assert text_of(kind, value) == shown


STRINGS = st.one_of(st.none(), st.text(alphabet='ab/=%"nul25F', max_size=6), st.sampled_from(["null", '"null"']))


@given(st.tuples(STRINGS, STRINGS), st.tuples(STRINGS, STRINGS))
def test_two_partitions_of_strings_have_two_texts(one: tuple[Any, ...], other: tuple[Any, ...]) -> None:
    assert (text_of("string", *one) == text_of("string", *other)) == (one == other)


@given(st.integers(-(2**63), 2**63 - 1), st.integers(-1_000, 1_000))
def test_nanoseconds_are_not_rounded(instant: int, apart: int) -> None:
    assert (text_of(NANOS, instant) == text_of(NANOS, instant + apart)) == (apart == 0)


def test_an_oversized_value_is_shortened_and_still_unique() -> None:
    one, other = text_of("string", "x" * 10_000 + "1"), text_of("string", "x" * 10_000 + "2")
    assert one != other
    assert len(one) < MAX_TEXT + 50
