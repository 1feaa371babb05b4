"""Formats numbers and times for sentences: `50,000`, `0.9 MB`, `03:04`, `20 h`."""

from __future__ import annotations

import datetime as dt

from limnograph.domain.time import MICROS_PER_SECOND, Micros

_MINUTE, _DAY = 60 * MICROS_PER_SECOND, 86_400 * MICROS_PER_SECOND
_UNITS = ("B", "kB", "MB", "GB", "TB", "PB")


def count(value: float) -> str:
    """`51,202`."""
    return f"{round(value):,}"


def size(value: float) -> str:
    """Bytes in decimal units: `0.9 MB`, `128 MB`; below 0.8 of a unit the smaller one is used."""
    unit = 0
    while value >= 800 and unit < len(_UNITS) - 1:
        value, unit = value / 1000, unit + 1
    return f"{value:.0f} {_UNITS[unit]}" if value >= 10 or unit == 0 else f"{value:.1f} {_UNITS[unit]}"


def seconds(value: float) -> str:
    """`0.4 s`, `160 s`, `12 min`, `20 h`, `4 days`."""
    for limit, unit, name in ((300, 1, "s"), (7_200, 60, "min"), (172_800, 3_600, "h")):
        if value < limit:
            number = value / unit
            return f"{number:.1f} {name}" if number < 10 and number != round(number) else f"{number:.0f} {name}"
    return f"{value / 86_400:.0f} days"


def odds(p: float) -> str:
    """A probability: `7 of 10`."""
    if p < 0.05:
        return "less than 1 of 10"
    return "more than 9 of 10" if p > 0.95 else f"{round(p * 10)} of 10"


def clock(micros: Micros, other: Micros | None = None) -> str:
    """UTC time of day, with the date if `other` (the instant to compare with) is on another day."""
    if other is None or micros // _DAY == other // _DAY:
        hours, minutes = divmod(micros // _MINUTE % 1_440, 60)
        return f"{hours:02}:{minutes:02}"
    return f"{dt.datetime.fromtimestamp(micros / MICROS_PER_SECOND, tz=dt.UTC):%-d %b %H:%M}"
