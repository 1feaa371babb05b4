"""What a failed read of the meta tables is called, and the line of an engine's long story that a person reads."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from limnograph.domain.errors import LimnographError, SourceUnavailable

_T = TypeVar("_T")
_FULL = ("No space left on device", "disk is full", "Disk quota exceeded")


def guarded(read: Callable[[], _T]) -> _T:
    """Reads of the meta tables that fail mean "not now": who knows nothing must write nothing."""
    try:
        return read()
    except LimnographError:
        raise
    except Exception as error:
        raise SourceUnavailable("meta store", first_line(str(error) or type(error).__name__)) from error


def is_full(reason: str) -> bool:
    """Whether something failed for want of space."""
    return any(sign in reason for sign in _FULL)


def placed(reason: str, place: Callable[[], str]) -> str:
    """The line that a person reads; where a disk is full with the place, which engines leave out."""
    if not is_full(reason):
        return first_line(reason)
    try:
        where = place()
    except Exception:  # noqa: BLE001 - the reason is told without it
        where = "the warehouse"
    return f"no space left on device, at {where}; nothing was lost, the next pass tries again"


def first_line(text: str) -> str:
    """At most 300 letters of it."""
    return (text.strip() or "no reason given").splitlines()[0][:300]
