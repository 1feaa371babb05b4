"""Limits of a child process. Time is its own: processor time and sleep, not time spent waiting for a processor."""

from __future__ import annotations

from limnograph.adapters.processor_time import OwnTime

RESIDENT_BYTES = 512 << 20
FRAME_BYTES = 128 << 20
ANSWER_BYTES = 256 << 20
START_CPU_SECONDS = 600.0
"""Limit until it is ready. Loading and compiling take 5 on a desktop: no machine takes a hundred times as long."""
START_IDLE_SECONDS = 60.0
"""Continuous sleep before it is ready that counts as a hang."""
STORAGE_SECONDS = 30.0
"""For one file or listing, regardless of the deadline of the request."""
PATIENCE = 60
"""Multiple of the limit that may pass on the wall clock: ends a child that only wakes up from time to time."""


def hangs_at_start(own: OwnTime) -> str:
    """Why a child that is not ready yet is killed; empty while it makes progress."""
    if own.cpu > START_CPU_SECONDS:
        return f"it was not ready after {own.cpu:.0f} s of processor time"
    if own.idle > START_IDLE_SECONDS:
        return f"it hung for {own.idle:.0f} s before it was ready"
    if own.watched > PATIENCE * START_IDLE_SECONDS:
        return f"it was not ready after {own.watched:.0f} s"
    return ""


def is_late(own: OwnTime, seconds: float) -> bool:
    """Whether a request has exceeded its limit of `seconds`."""
    return own.spent > seconds or own.watched > PATIENCE * max(1.0, seconds)
