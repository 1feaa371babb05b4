"""Trino's JSON rows as polars columns in the meta tables' types: instants as microseconds, maps as key-value lists.

Rows are in the protocol's encoding (the client's value mappers would take ten times as long): numbers are numbers,
instants text, arrays lists, rows lists by position, maps objects.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from limnograph.adapters.embedded import frames
from limnograph.domain.facts.columns import Column, ListOf, MapOf, Primitive, Type

_FORMAT = "%Y-%m-%d %H:%M:%S%.f UTC"
_FLOATS = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


def frame(
    rows: Sequence[Sequence[Any]], signatures: Sequence[dict[str, Any]], columns: Sequence[Column]
) -> pl.LazyFrame:
    """A frame of `columns` from rows whose columns the signatures describe (name, typeSignature)."""
    found = {signature["name"]: index for index, signature in enumerate(signatures)}
    held = list(zip(*rows, strict=True)) if rows else [()] * len(signatures)
    series = []
    for column in columns:
        index = found.get(column.name)
        if index is None:
            series.append(pl.Series(column.name, [None] * len(rows), dtype=frames.data_type(column.type)))
        else:
            series.append(_series(column, held[index], signatures[index]["typeSignature"]))
    return pl.DataFrame(series).lazy()


def _series(column: Column, values: Sequence[Any], signature: dict[str, Any]) -> pl.Series:
    kind, wanted = column.type, frames.data_type(column.type)
    if isinstance(kind, Primitive):
        if kind.name == "timestamptz":
            return micros(values).alias(column.name)
        if kind.name == "double":
            values = [_FLOATS.get(value, value) if isinstance(value, str) else value for value in values]
        return pl.Series(column.name, values, dtype=wanted)
    return pl.Series(column.name, [_nested(kind, value, signature) for value in values], dtype=wanted)


def micros(values: Sequence[str | None]) -> pl.Series:
    """Instants from Trino's text; one out of the calendar's range is unknown."""
    texts = pl.Series(values, dtype=pl.String)
    return texts.str.strptime(pl.Datetime("us"), _FORMAT, strict=False).cast(pl.Int64)


def _nested(kind: Type, value: Any, signature: dict[str, Any]) -> Any:
    if value is None:
        return None
    arguments = [argument["value"] for argument in signature["arguments"]]
    if isinstance(kind, ListOf):
        return [_nested(kind.element, item, arguments[0]) for item in value]
    if isinstance(kind, MapOf):
        return [{"key": key, "value": _nested(kind.value, item, arguments[1])} for key, item in value.items()]
    if isinstance(kind, Primitive):
        if kind.name == "timestamptz":
            return micros([value])[0]
        return _FLOATS.get(value, value) if kind.name == "double" and isinstance(value, str) else value
    by_name = {
        (argument.get("fieldName") or {}).get("name"): (item, argument["typeSignature"])
        for item, argument in zip(value, arguments, strict=True)
    }
    nothing: tuple[Any, dict[str, Any]] = (None, {})
    return {field.name: _nested(field.type, *by_name.get(field.name, nothing)) for field in kind.fields}
