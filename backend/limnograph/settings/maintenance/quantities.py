"""Durations, sizes and windows as texts of the maintenance file: `15m`, `2 TiB`, `22:00-05:00 UTC`."""

from __future__ import annotations

import re
from typing import Annotated, Any

import msgspec

from limnograph.domain.errors import SettingsError
from limnograph.domain.maintenance.policy import DailyWindow
from limnograph.domain.time import MICROS_PER_SECOND

_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_BYTES = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40, "PiB": 2**50}
_MOST_SECONDS = 3_650 * 86_400
_MOST_BYTES = 2**60
_HOUR_MINUTES, _DAY_MINUTES = 60, 24 * 60
_DURATION = re.compile(r"(\d{1,9})\s*([smhdw])")
_SIZE = re.compile(r"(\d{1,9}(?:\.\d{1,3})?)\s*(B|KiB|MiB|GiB|TiB|PiB)")
_WINDOW = re.compile(r"(\d{1,2}):(\d{2})\s*-\s*(\d{1,2}):(\d{2})\s*UTC")
_OLDER = re.compile(r"older\s+than\s+(.+)")


def _spelled(words: str) -> Any:
    return msgspec.Meta(extra={"spelled": words})


DurationText = Annotated[str, _spelled('duration such as `"15m"`, `"36h"`, `"7d"`')]
SizeText = Annotated[int | str, _spelled('bytes, or size such as `"2 TiB"`')]
OlderText = Annotated[str, _spelled('`"older than 1d"`')]
WindowText = Annotated[str, _spelled('texts such as `"22:00-05:00 UTC"`')]


def duration_us(field: str, text: str) -> int:
    """A duration in microseconds. Raises SettingsError."""
    found = _DURATION.fullmatch(text.strip())
    if found is None:
        raise SettingsError(field, f'{text!r} is not a duration; write a number with s, m, h, d or w, such as "15m"')
    seconds = int(found[1]) * _SECONDS[found[2]]
    if seconds > _MOST_SECONDS:
        raise SettingsError(field, "must be at most 3650d")
    return seconds * MICROS_PER_SECOND


def older_us(field: str, text: str) -> int:
    """The duration of `older than 1d`, microseconds. Raises SettingsError."""
    found = _OLDER.fullmatch(text.strip())
    if found is None:
        raise SettingsError(field, f'{text!r} is not a choice of partitions; write "older than 1d"')
    return duration_us(field, found[1])


def size_bytes(field: str, size: str | int) -> int:
    """A size in bytes. Raises SettingsError."""
    if isinstance(size, int):
        found = size
    else:
        parts = _SIZE.fullmatch(size.strip())
        if parts is None:
            raise SettingsError(field, f'{size!r} is not a size; write a number with KiB, MiB, GiB or TiB: "2 TiB"')
        found = round(float(parts[1]) * _BYTES[parts[2]])
    if not 0 < found <= _MOST_BYTES:
        raise SettingsError(field, "must be above 0 and at most 1024 PiB")
    return found


def daily_window(field: str, text: str) -> DailyWindow:
    """A part of the day. Raises SettingsError."""
    found = _WINDOW.fullmatch(text.strip())
    if found is None:
        raise SettingsError(field, f'{text!r} is not a window; write "22:00-05:00 UTC"')
    from_minute, to_minute = (int(found[i]) * _HOUR_MINUTES + int(found[i + 1]) for i in (1, 3))
    if from_minute >= _DAY_MINUTES or to_minute > _DAY_MINUTES or max(int(found[2]), int(found[4])) >= _HOUR_MINUTES:
        raise SettingsError(field, f'{text!r} is not a time of day; write "22:00-05:00 UTC"')
    if from_minute == to_minute:
        raise SettingsError(field, "begins when it ends; leave the window out for the whole day")
    return DailyWindow(from_minute, to_minute)
