"""Numbers, sizes and durations as words of sentences in plans, guards and reasons."""

from __future__ import annotations

_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB")
_KIB = 1024
_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400


def size(number: float) -> str:
    """`38.2 GiB`."""
    unit = 0
    while number >= _KIB and unit + 1 < len(_UNITS):
        number, unit = number / _KIB, unit + 1
    return f"{number:,.0f} {_UNITS[unit]}" if unit == 0 or number >= 100 else f"{number:,.1f} {_UNITS[unit]}"


def counted(number: int, one: str, many: str | None = None) -> str:
    """`1 file`, `1,840 files`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def lasting(seconds: float) -> str:
    """`4 min`, `2 h`, `3 days`."""
    if seconds < 2 * _MINUTE:
        return f"{seconds:,.0f} s"
    if seconds < 2 * _HOUR:
        return f"{seconds / _MINUTE:,.0f} min"
    if seconds < 2 * _DAY:
        return f"{seconds / _HOUR:,.0f} h"
    return f"{seconds / _DAY:,.0f} days"


def money(amount: float, currency: str) -> str:
    """`0.27 USD`; tiny amounts are `less than 0.01 USD`."""
    return f"{amount:,.2f} {currency}" if amount == 0 or amount >= 0.01 else f"less than 0.01 {currency}"
