"""Instants in alerts: RFC 3339, with the year 1 for a missing one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from limnograph.domain.time import Micros, Millis, to_micros

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST = _EPOCH + timedelta(days=1)


def instant(value: Any) -> Micros | None:
    """Epoch microseconds of RFC 3339 text, truncated to milliseconds, the precision of our API: it identifies an
    episode. None for Go's zero time (year 1), and for anything that is not an instant.
    """
    if not isinstance(value, str):
        return None
    try:
        found = datetime.fromisoformat(value)
        found = found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    if found < _FIRST or found.year > 2999:
        return None
    return to_micros(Millis((found - _EPOCH) // timedelta(milliseconds=1)))
