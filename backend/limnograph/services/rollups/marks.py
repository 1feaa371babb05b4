"""How far roll-ups and deletion of raw rows came: properties of the meta tables, set when the work is done."""

from __future__ import annotations

import datetime as dt

from limnograph.domain.time import MICROS_PER_SECOND, Micros

ROLLED_SNAPSHOTS, ROLLED_CHANGES = "limnograph.rolled-snapshots", "limnograph.rolled-changes"
ROLLED_AT = "limnograph.rolled-at"
"""Properties of `snapshots_hourly`: sequence numbers up to which all is rolled, and when (microseconds)."""
RAW_FLOOR = "limnograph.raw-floor"
"""Property of `snapshots`: the first day whose raw rows are all there, as a date."""


def raw_floor(properties: object) -> Micros | None:
    """Begin of the first day whose raw rows are all there; None while no raw row was ever deleted."""
    text = properties.get(RAW_FLOOR) if isinstance(properties, dict) else None
    if not isinstance(text, str):
        return None
    return Micros(int(dt.datetime.fromisoformat(text).replace(tzinfo=dt.UTC).timestamp()) * MICROS_PER_SECOND)


def number(text: str | None) -> int:
    """A property that we wrote; 0 when it is not there."""
    return int(text) if text and text.isdecimal() else 0
