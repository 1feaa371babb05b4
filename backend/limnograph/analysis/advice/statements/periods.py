"""Ranges of time that a partition of transform `year`, `month`, `day` or `hour` covers, in the unit of its column: days
of a date, microseconds of a timestamp (Iceberg's specification, "Partition Transforms"). Pure.
"""

from __future__ import annotations

from datetime import date

PERIODS = ("year", "month", "day", "hour")
US_PER_HOUR = 3_600_000_000
US_PER_DAY = 24 * US_PER_HOUR
DAYS_OF_YEAR = 366
"""Of the longest."""
_EPOCH = date(1970, 1, 1).toordinal()
_LAST_YEAR = 9998
"""Its following year can still be written."""


def days_of(transform: str, value: int) -> tuple[int, int] | None:
    """The days `[start, end)` since 1970 of a year, month or day; None before the year 1 and after 9998."""
    if transform == "day":
        known = 1 - _EPOCH <= value < date(_LAST_YEAR + 1, 1, 1).toordinal() - _EPOCH
        return (value, value + 1) if known else None
    start = _first_day(value if transform == "month" else 12 * value)
    end = _first_day(value + 1 if transform == "month" else 12 * (value + 1))
    return None if start is None or end is None else (start, end)


def micros_of(transform: str, value: int) -> tuple[int, int] | None:
    """The same in microseconds, also of an hour."""
    if transform == "hour":
        day = days_of("day", value // 24)
        return None if day is None else (value * US_PER_HOUR, (value + 1) * US_PER_HOUR)
    days = days_of(transform, value)
    return None if days is None else (days[0] * US_PER_DAY, days[1] * US_PER_DAY)


def _first_day(month: int) -> int | None:
    """The first day of a month since 1970."""
    year = 1970 + month // 12
    return date(year, month % 12 + 1, 1).toordinal() - _EPOCH if 1 <= year <= _LAST_YEAR + 1 else None
