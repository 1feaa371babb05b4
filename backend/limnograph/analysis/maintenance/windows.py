"""Parts of the day in which actions may start."""

from __future__ import annotations

from collections.abc import Sequence

from limnograph.domain.maintenance.policy import DAY_US, DailyWindow
from limnograph.domain.time import MICROS_PER_SECOND, Micros, truncated

_MINUTE_US = 60 * MICROS_PER_SECOND


def is_inside(windows: Sequence[DailyWindow], now: Micros) -> bool:
    """Whether an action may start; without windows, always."""
    minute = (now - truncated(now, DAY_US)) // _MINUTE_US
    return not windows or any(_contains(each, minute) for each in windows)


def next_start(windows: Sequence[DailyWindow], now: Micros) -> Micros | None:
    """When the next window begins; None without windows."""
    today = truncated(now, DAY_US)
    starts = [today + day * DAY_US + each.from_minute * _MINUTE_US for each in windows for day in (0, 1)]
    return min((start for start in starts if start > now), default=None)


def window_text(window: DailyWindow) -> str:
    """`22:00-05:00 UTC`."""
    return f"{_clock(window.from_minute)}-{_clock(window.to_minute)} UTC"


def _contains(window: DailyWindow, minute: int) -> bool:
    if window.from_minute < window.to_minute:
        return window.from_minute <= minute < window.to_minute
    return minute >= window.from_minute or minute < window.to_minute


def _clock(minute: int) -> str:
    return f"{minute // 60:02d}:{minute % 60:02d}"
