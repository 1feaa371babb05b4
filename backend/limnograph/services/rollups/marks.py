"""Progress of roll-ups and of the deletion of raw rows: properties of the meta tables, set when the work is done."""

from __future__ import annotations

import datetime as dt

from limnograph.domain.time import MICROS_PER_SECOND, Micros

ROLLED_SNAPSHOTS, ROLLED_CHANGES = "limnograph.rolled-snapshots", "limnograph.rolled-changes"
ROLLED_AT = "limnograph.rolled-at"
"""Properties of `snapshots_hourly`: sequence numbers up to which everything is rolled up, and when (microseconds)."""
ROLLED_REPORTS = "limnograph.rolled-reports"
"""Property of `reads_hourly`, which has the other two as well: the sequence number of `reports`."""
RAW_FLOOR = "limnograph.raw-floor"
"""Property of `snapshots` and of `reports`: the first day whose raw rows are complete, as a date."""


def raw_floor(properties: object) -> Micros | None:
    """Start of the first day whose raw rows are complete; None if no raw row was ever deleted."""
    text = properties.get(RAW_FLOOR) if isinstance(properties, dict) else None
    if not isinstance(text, str):
        return None
    return Micros(int(dt.datetime.fromisoformat(text).replace(tzinfo=dt.UTC).timestamp()) * MICROS_PER_SECOND)


def number(text: str | None) -> int:
    """The number in a property that we wrote; 0 if it is missing."""
    return int(text) if text and text.isdecimal() else 0
