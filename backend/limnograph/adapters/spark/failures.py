"""Errors of failed reads of the meta tables, and the relevant line of an engine's stack trace."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TypeVar

from limnograph.domain.errors import LimnographError, SourceUnavailable

_T = TypeVar("_T")
_CAUSED = "Caused by: "
_PACKAGE = re.compile(r"^(?:[a-z_][\w$]*\.)+([A-Z][\w$.]*)(?=:|$)")
"""Package of a Java class at the beginning of a message."""
_FULL = ("No space left on device", "disk is full", "Disk quota exceeded")


def guarded(read: Callable[[], _T]) -> _T:
    """Convert failed reads of the meta tables to "not now": without the stored rows, nothing may be written."""
    try:
        return read()
    except LimnographError:
        raise
    except Exception as error:
        raise SourceUnavailable("meta store", first_line(str(error) or type(error).__name__)) from error


def is_full(reason: str) -> bool:
    """Whether a failure was caused by a lack of space."""
    return any(sign in reason for sign in _FULL)


def placed(reason: str, place: Callable[[], str]) -> str:
    """The line for an operator; if a disk is full, with its location, which engines leave out."""
    if not is_full(reason):
        return first_line(reason)
    try:
        where = place()
    except Exception:  # noqa: BLE001 - the reason is told without it
        where = "the warehouse"
    return f"no space left on device, at {where}; nothing was lost, the next pass retries"


def first_line(text: str) -> str:
    """The relevant line of a stack trace, at most 300 characters: the innermost cause of a Java trace, or the last line
    of a Python trace inside it, else the first line.
    """
    lines = text.strip().splitlines() or ["no reason given"]
    python = _last_of_python(lines)
    causes = [line.strip().removeprefix(_CAUSED) for line in lines if line.strip().startswith(_CAUSED)]
    first = lines[0]
    if python is not None:
        first = python
    elif causes:
        first = causes[-1]
    elif first.startswith("An error occurred while calling") and len(lines) > 1:
        first = lines[1].removeprefix(": ")
    return _PACKAGE.sub(r"\1", first)[:300]


def _last_of_python(lines: Sequence[str]) -> str | None:
    """The error at the end of the last Python trace in a text."""
    begins = [place for place, line in enumerate(lines) if line.rstrip().endswith("Traceback (most recent call last):")]
    if not begins:
        return None
    for line in lines[begins[-1] + 1 :]:
        if line.strip() and not line.startswith((" ", "\t")):
            return line.strip()
    return None
