"""An interval in which a condition held: the part of an episode that rules keep while they read on."""

from __future__ import annotations

from typing import NamedTuple

from limnograph.domain.time import Micros

PAST_KEPT = 32
"""Ended stretches that a rule remembers: enough for 30 days at one a day."""


class Stretch(NamedTuple):
    """Instants in microseconds.

    began      when the condition began
    opened     when the rule opened a finding, which may be later
    commit     snapshot with which it began; None if none did
    closed     when the finding closed; None while open
    closed_by  a snapshot id as text, or one of `ClosedBy`
    peak       largest value of the measure
    truncated  the condition held at the first known fact: it began at that time or earlier
    """

    began: Micros
    opened: Micros
    commit: int | None = None
    closed: Micros | None = None
    closed_by: str | None = None
    peak: float | None = None
    truncated: bool = False


def ended(past: tuple[Stretch, ...], stretch: Stretch) -> tuple[Stretch, ...]:
    """The past with one more stretch."""
    return (*past, stretch)[-PAST_KEPT:]
