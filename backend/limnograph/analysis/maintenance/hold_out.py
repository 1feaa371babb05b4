"""The control group: a share of due tables, drawn by chance, whose actions wait for one period."""

from __future__ import annotations

import hashlib

from limnograph.domain.maintenance.policy import DAY_US
from limnograph.domain.time import Micros

PERIOD_US = 7 * DAY_US
_LARGEST = 2**64


def held_until(table_uuid: str, share: float, now: Micros) -> Micros | None:
    """When the wait of a table in the control group ends; None: it is not in it. Every process draws the same tables.

    A table never waits two periods in a row. So that the share is right nevertheless, it is drawn with the probability
    share / (1 - share) in a period after one in which it was not.
    """
    if share <= 0:
        return None
    number = now // PERIOD_US
    return Micros((number + 1) * PERIOD_US) if _is_drawn(table_uuid, share / (1 - share), number) else None


def _is_drawn(table_uuid: str, odds: float, number: int) -> bool:
    """Drawn, and not in the period before. O(periods in a row for which the draw alone says yes)."""
    first = number
    while first >= 0 and _fraction(table_uuid, first) < odds:
        first -= 1
    if first < 0:  # with a share of one half, each table waits every second period
        first -= round(_fraction(table_uuid, first))
    # Of the periods first + 1 .. number, every second one counts.
    return first < number and (number - first) % 2 == 1


def _fraction(table_uuid: str, number: int) -> float:
    digest = hashlib.sha256(f"{table_uuid}:{number}".encode()).digest()
    return int.from_bytes(digest[:8]) / _LARGEST
