"""Dates, times of day and timestamps as both SQL dialects write them. Pure."""

from __future__ import annotations

from datetime import date, datetime, timedelta

from limnograph.analysis.advice.statements.subject import NoStatement

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - text without a zone; the dialects add it
_US_PER_DAY = 86_400_000_000


def date_text(days: int) -> str:
    """`2026-11-20` of days since 1970. Raises NoStatement: outside the years 1 to 9999."""
    try:
        return (date(1970, 1, 1) + timedelta(days=days)).isoformat()
    except OverflowError:
        raise NoStatement(f"The date {days} days from 1970 is outside the years 1 to 9999.") from None


def timestamp_text(value: int) -> str:
    """`2026-11-20 01:02:03.000004` of microseconds since 1970, in UTC. Raises NoStatement as above."""
    try:
        return (_EPOCH + timedelta(microseconds=value)).isoformat(" ")
    except OverflowError:
        raise NoStatement(f"The time {value} µs from 1970 is outside the years 1 to 9999.") from None


def time_text(value: int) -> str:
    """`01:02:03.000004` of microseconds since midnight. Raises NoStatement: not within a day."""
    if not 0 <= value < _US_PER_DAY:
        raise NoStatement(f"The time of day {value} µs is not within a day.")
    return (_EPOCH + timedelta(microseconds=value)).time().isoformat()


def decimal_text(unscaled: int, kind: str) -> str:
    """`-1.50` of an unscaled value and a type such as `decimal(9, 2)`."""
    precision, scale = decimal_size(kind)
    digits = f"{abs(unscaled):0{scale + 1}}"
    if len(digits.lstrip("0")) > precision:
        raise NoStatement(f"The value {unscaled} does not fit {kind}.")
    whole, fraction = (digits[:-scale], digits[-scale:]) if scale else (digits, "")
    return ("-" if unscaled < 0 else "") + whole + (f".{fraction}" if fraction else "")


def decimal_size(kind: str) -> tuple[int, int]:
    """Precision and scale. Raises NoStatement: not a decimal type."""
    precision, comma, scale = kind.removeprefix("decimal(").removesuffix(")").partition(",")
    if not (kind.startswith("decimal(") and comma and precision.strip().isdecimal() and scale.strip().isdecimal()):
        raise NoStatement(f"The type {kind} has no precision and scale.")
    return int(precision), int(scale)
