"""What a failed read of the meta tables is called, and the line of an engine's long story that a person reads."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from limnograph.domain.errors import LimnographError, SourceUnavailable

_T = TypeVar("_T")


def guarded(read: Callable[[], _T]) -> _T:
    """Reads of the meta tables that fail mean "not now": who knows nothing must write nothing."""
    try:
        return read()
    except LimnographError:
        raise
    except Exception as error:
        raise SourceUnavailable("meta store", first_line(str(error) or type(error).__name__)) from error


def first_line(text: str) -> str:
    """At most 300 letters of it."""
    return (text.strip() or "no reason given").splitlines()[0][:300]
