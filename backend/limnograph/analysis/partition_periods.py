"""The period of time that a partition holds, from its text, `day=2026-11-20/region=eu`. Texts are alike in all formats,
so no transform needs to be known.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import NamedTuple

from limnograph.domain.time import MICROS_PER_SECOND, Micros

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_HOUR, _DAY = timedelta(hours=1), timedelta(days=1)
_DATE = re.compile(r"(\d{4})-?(\d\d)(?:-?(\d\d)(?:[-T ](\d\d))?)?")
_TWO_DIGITS = re.compile(r"\d{1,2}")
_PARTS = {"year": "year", "yyyy": "year", "month": "month", "mm": "month", "day": "day", "dd": "day"}
_UNITS = ("year", "month", "day", "hour")
_HOURS = frozenset({"hour", "hh", "hr", "h"})


class PartitionPeriod(NamedTuple):
    """From `start` to `end`, microseconds. `peers`: the same text for all partitions that differ in their period only;
    periods of different lengths are no peers.
    """

    start: Micros
    end: Micros
    peers: str

    @property
    def next_end(self) -> Micros:
        """When the period after it ends, microseconds."""
        return Micros(2 * self.end - self.start)

    @property
    def is_day(self) -> bool:
        """Whether it is one day."""
        return self.end - self.start == _DAY // timedelta(microseconds=1)


@lru_cache(maxsize=1 << 14)
def period_of(partition: str) -> PartitionPeriod | None:
    """The period of a partition; None if its text names none. A date, month or hour in one field
    (`ts_day=2026-11-20`, `dt=20261120`), or spread over fields (`year=2026/month=11/day=20/hour=05`, `dt=…/hour=05`,
    `2026/11/20`).
    """
    named: dict[str, int] = {}
    rest: list[str] = []
    for part in partition.split("/"):
        name, _, value = part.rpartition("=")
        if found := _time(name.lower(), value, named):
            named |= found
            rest.append(name + "=")
        else:
            rest.append(part)
    if not named.keys() >= {"year", "month"}:
        return None
    try:
        start = datetime(named["year"], named["month"], named.get("day", 1), named.get("hour", 0), tzinfo=UTC)
        end = _end(start, named)
    except (ValueError, OverflowError):
        return None
    return PartitionPeriod(_micros(start), _micros(end), f"{len(named)} {'/'.join(rest)}")


def _time(name: str, value: str, known: dict[str, int]) -> dict[str, int]:
    """What a field adds to the period of the fields before it; nothing for a field of another kind."""
    if "day" in known:
        is_hour = "hour" not in known and (not name or name in _HOURS) and _TWO_DIGITS.fullmatch(value)
        return {"hour": int(value)} if is_hour else {}
    unit = _PARTS.get(name) if name else _UNITS[len(known)]
    if unit == "year" and not known and len(value) == 4 and value.isdecimal():
        return {"year": int(value)}
    if unit in ("month", "day") and _TWO_DIGITS.fullmatch(value):
        follows = known.keys() == ({"year"} if unit == "month" else {"year", "month"})
        return {unit: int(value)} if follows else {}
    date = None if known else _DATE.fullmatch(value)
    if date is None or (len(value) == 6 and value.isdecimal()):  # 202611 may as well be a number
        return {}
    return {each: int(digits) for each, digits in zip(_UNITS, date.groups(), strict=True) if digits}


def _end(start: datetime, named: dict[str, int]) -> datetime:
    if "hour" in named:
        return start + _HOUR
    if "day" in named:
        return start + _DAY
    return (start + 31 * _DAY).replace(day=1)


def _micros(instant: datetime) -> Micros:
    return Micros((instant - _EPOCH) // timedelta(seconds=1) * MICROS_PER_SECOND)
