"""Partition values as text, `day=2026-11-20/region=eu`, based on the spec in the manifest's own header."""

from __future__ import annotations

import base64
import uuid
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from limnograph.domain.metadata.partition_text import NULL, shortened, string_text

Show = Callable[[Any], str]
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_DAY = date(1970, 1, 1)


def partition_text(spec_fields: list[dict[str, Any]], record: Any) -> Callable[[tuple[Any, ...]], str]:
    """A function from the raw values of a partition record to text. `record`: Avro type of the partition field."""
    avro_fields = record.get("fields", []) if isinstance(record, dict) else []
    by_id = {field.get("field-id"): field for field in spec_fields}
    shows = [_named(field, by_id.get(field.get("field-id")), field["type"]) for field in avro_fields]

    def text(values: tuple[Any, ...]) -> str:
        return "/".join(
            f"{name}={NULL if value is None else shortened(show(value))}"
            for (name, show), value in zip(shows, values, strict=True)
        )

    return text


def _named(avro: dict[str, Any], spec: dict[str, Any] | None, kind: Any) -> tuple[str, Show]:
    name = str((spec or avro).get("name"))
    transform = str((spec or {}).get("transform", "identity"))
    return name, _guarded(_TRANSFORMS.get(transform) or _by_type(kind))


def _guarded(show: Show) -> Show:
    """`show`, but a value out of range for its type is shown raw: a label must never stop a count."""

    def guarded(value: Any) -> str:
        try:
            return show(value)
        except (ValueError, OverflowError, TypeError, ArithmeticError):
            return _plain(value)

    return guarded


def _by_type(kind: Any) -> Show:
    if isinstance(kind, list):
        kind = next((branch for branch in kind if branch != "null"), "null")
    if not isinstance(kind, dict):
        return _plain
    logical = kind.get("logicalType")
    if logical == "decimal":
        scale = int(kind.get("scale", 0))
        return lambda value: str(Decimal(int.from_bytes(value, "big", signed=True)).scaleb(-scale))
    return _LOGICAL.get(str(logical), _plain)


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return string_text(value) if isinstance(value, str) else str(value)


def _timestamp(micros: int) -> str:
    return (_EPOCH + timedelta(microseconds=micros)).replace(tzinfo=None).isoformat()


def _timestamp_ns(nanos: int) -> str:
    seconds, rest = divmod(nanos, 10**9)
    return _timestamp(seconds * 10**6) + (f".{rest:09}" if rest else "")


def _time(micros: int) -> str:
    return (_EPOCH + timedelta(microseconds=micros)).time().isoformat()


def _day(days: int) -> str:
    return (_FIRST_DAY + timedelta(days=days)).isoformat()


def _month(months: int) -> str:
    return f"{1970 + months // 12}-{months % 12 + 1:02}"


def _hour(hours: int) -> str:
    return (_EPOCH + timedelta(hours=hours)).strftime("%Y-%m-%d-%H")


_TRANSFORMS: dict[str, Show] = {
    "year": lambda years: str(1970 + years),
    "month": _month,
    "day": _day,
    "hour": _hour,
}
_LOGICAL: dict[str, Show] = {
    "date": _day,
    "timestamp-micros": _timestamp,
    "timestamp-millis": lambda millis: _timestamp(millis * 1000),
    "timestamp-nanos": _timestamp_ns,
    "local-timestamp-micros": _timestamp,
    "local-timestamp-millis": lambda millis: _timestamp(millis * 1000),
    "local-timestamp-nanos": _timestamp_ns,
    "time-micros": _time,
    "uuid": lambda value: str(uuid.UUID(bytes=value)) if isinstance(value, bytes) else str(value),
}
