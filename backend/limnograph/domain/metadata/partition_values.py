"""Raw partition values from their texts: the inverse of `adapters/iceberg/manifests/partition_text.py`. Pure."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal, InvalidOperation
from uuid import UUID

from limnograph.domain.metadata.partition_text import MAX_TEXT, NULL

RawValue = int | float | str | bytes | bool | None
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_INTEGER = re.compile(r"-?\d{1,19}")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?")
_TIME = re.compile(r"\d\d:\d\d:\d\d(\.\d{6})?")
_ESCAPED = {"%25": "%", "%2F": "/", "%22": '"'}


class UnknownValue(ValueError):
    """The raw value cannot be derived from its text."""


def split_values(text: str, names: Sequence[str]) -> list[str] | None:
    """Texts of the values of `day=2026-11-20/region=eu` in the order of the fields; None if the text has other fields.
    Names may contain `/`, values do not.
    """
    found, rest = [], text
    for name, following in zip(names, [*names[1:], None], strict=True):
        if not rest.startswith(f"{name}="):
            return None
        rest = rest[len(name) + 1 :]
        cut = len(rest) if following is None else rest.find(f"/{following}=")
        if cut < 0 or "/" in rest[:cut]:
            return None
        found.append(rest[:cut])
        rest = rest[cut + 1 :]
    return found


def raw_value(text: str, transform: str, kind: str) -> RawValue:
    """The value as the manifest's partition record has it. `kind`: type of the source column. Raises UnknownValue: the
    text was shortened, is damaged, or the type is not supported.
    """
    if text == NULL:
        return None
    if len(text) > MAX_TEXT:
        raise UnknownValue(text)
    parse = _PERIODS.get(transform) or (_integer if transform.startswith("bucket[") else _parser(kind))
    try:
        return parse(text)
    except (ValueError, OverflowError, InvalidOperation, binascii.Error) as error:
        raise UnknownValue(text) from error


def _parser(kind: str) -> Callable[[str], RawValue]:
    name = kind.partition("(")[0].partition("[")[0]
    if name == "decimal":
        scale = int(kind.removesuffix(")").rpartition(",")[2])
        return lambda text: _decimal(text, scale)
    return _TYPES.get(name, _unknown)


def _matched(pattern: re.Pattern[str], text: str) -> str:
    if not pattern.fullmatch(text):
        raise UnknownValue(text)
    return text


def _integer(text: str) -> int:
    return int(_matched(_INTEGER, text))


def _decimal(text: str, scale: int) -> int:
    unscaled = Decimal(text).scaleb(scale)
    if unscaled != unscaled.to_integral_value():
        raise UnknownValue(text)
    return int(unscaled)


def _boolean(text: str) -> bool:
    if text not in {"true", "false"}:
        raise UnknownValue(text)
    return text == "true"


def _string(text: str) -> str:
    if text == f'"{NULL}"':
        return NULL
    return re.sub("|".join(_ESCAPED), lambda found: _ESCAPED[found.group()], text)


def _bytes(text: str) -> bytes:
    return base64.b64decode(text, validate=True)


def _day(text: str) -> int:
    return date.fromisoformat(_matched(_DAY, text)).toordinal() - _EPOCH.toordinal()


def _timestamp(text: str) -> int:
    return (datetime.fromisoformat(_matched(_TIMESTAMP, text)).replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND


def _clock(text: str) -> int:
    at = time.fromisoformat(_matched(_TIME, text))
    return ((at.hour * 60 + at.minute) * 60 + at.second) * 1_000_000 + at.microsecond


def _unknown(text: str) -> RawValue:
    raise UnknownValue(text)


def _year(text: str) -> int:
    return _integer(text) - 1970


def _month(text: str) -> int:
    at = datetime.strptime(text, "%Y-%m").replace(tzinfo=UTC)
    return (at.year - 1970) * 12 + at.month - 1


def _hour(text: str) -> int:
    at = datetime.strptime(text, "%Y-%m-%d-%H").replace(tzinfo=UTC)
    return (at - _EPOCH) // timedelta(hours=1)


_PERIODS: dict[str, Callable[[str], RawValue]] = {"year": _year, "month": _month, "day": _day, "hour": _hour}
_TYPES: dict[str, Callable[[str], RawValue]] = {
    "boolean": _boolean,
    "int": _integer,
    "long": _integer,
    "float": float,
    "double": float,
    "date": _day,
    "time": _clock,
    "timestamp": _timestamp,
    "timestamptz": _timestamp,
    "string": _string,
    "binary": _bytes,
    "fixed": _bytes,
    "uuid": lambda text: UUID(text).bytes,
}
