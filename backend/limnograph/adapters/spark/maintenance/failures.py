"""What an exception of Spark or Iceberg means for an action."""

from __future__ import annotations

from typing import Any

from limnograph.adapters.spark.failures import first_line
from limnograph.domain.errors import (
    ActionConflict,
    LimnographError,
    MetadataError,
    NotFound,
    SourceError,
    SourceRejected,
    SourceUnavailable,
)

_CONFLICTS = {"CommitFailedException", "ValidationException"}
_ABSENT = {"NoSuchTableException", "NoSuchNamespaceException", "NoSuchIcebergTableException"}
_DEEPEST = 30


def causes(error: BaseException) -> list[tuple[str, str]]:
    """Class names and messages of a Java exception and its causes, outermost first; empty: it is none of Java."""
    origin: Any = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    found: list[tuple[str, str]] = []
    while origin is not None and len(found) < _DEEPEST:
        found.append((origin.getClass().getSimpleName(), origin.getMessage() or ""))
        origin = origin.getCause()
    return found


def action_error(error: Exception) -> LimnographError:
    """The error of a failed action."""
    if isinstance(error, LimnographError):
        return error
    found = causes(error)
    for kind, message in found:
        if kind in _CONFLICTS:
            return ActionConflict(f"another writer committed first: {first_line(message)}")
        if "Table UUID does not match" in message:
            return ActionConflict("the table was dropped and another one has its name")
        if kind == "OutOfMemoryError" or "java.lang.OutOfMemoryError" in message:
            return SourceError("spark", "out of memory; set a larger spark.driver.memory or spark.executor.memory")
    kinds = {kind for kind, _ in found}
    if kinds & {"IllegalArgumentException", "UnsupportedOperationException"}:
        return SourceRejected("spark", first_line(str(error)))
    return SourceUnavailable("spark", first_line(str(error) or type(error).__name__))


def opening_error(error: Exception, place: str) -> LimnographError:
    """The error of a table that cannot be loaded. `place`: its name."""
    if isinstance(error, LimnographError):
        return error
    found = causes(error)
    for kind, message in found:
        if kind in _ABSENT:
            return NotFound(f"there is no table {place}")
        if kind == "NotFoundException":
            return MetadataError("metadata_unreadable", first_line(message))
        if kind in {"JsonParseException", "RuntimeIOException", "JsonProcessingException"}:
            return MetadataError("metadata_unreadable", first_line(message))
    return SourceUnavailable("catalog", first_line(str(error) or type(error).__name__))
