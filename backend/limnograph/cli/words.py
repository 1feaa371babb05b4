"""Formats numbers, sizes, instants and untrusted text for a terminal."""

from __future__ import annotations

from datetime import UTC, datetime

UNKNOWN = "unknown"


def plain(text: str) -> str:
    """Untrusted text without terminal control characters."""
    return "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text)


def counted(count: int | None, what: str) -> str:
    """A count with its noun."""
    return f"{number(count)} {what}{'' if count == 1 else 's'}"


def number(value: int | None) -> str:
    """A number with thousands separators."""
    return UNKNOWN if value is None else f"{value:,}"


def sized(value: int | None) -> str:
    """Bytes in the largest binary unit in which they are at least 1."""
    if value is None:
        return UNKNOWN
    found, unit = float(value), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB", "PiB"):
        if found < 1024:
            break
        found, unit = found / 1024, larger
    return f"{found:.0f} {unit}" if unit == "B" or found == int(found) else f"{found:.1f} {unit}"


def instant(millis: int | None) -> str:
    """An instant in UTC; one outside the calendar as its milliseconds."""
    if millis is None:
        return UNKNOWN
    try:
        return datetime.fromtimestamp(millis / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")
    except (ValueError, OverflowError, OSError):
        return str(millis)
