"""Bounds of columns as numbers, and statistics of several commits as one. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from limnograph.domain.facts.column_stats import ColumnStat

_INSTANTS = ("date", "timestamp")


def bound_number(kind: str | None, text: str | None) -> float | None:
    """A bound as a number; of dates and timestamps, seconds since the epoch. None for text and for no bound."""
    if text is None or kind is None:
        return None
    try:
        if kind.startswith(_INSTANTS):
            found = datetime.fromisoformat(text)
            return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
        return None if kind in {"string", "binary", "uuid", "boolean"} or kind.startswith("fixed") else float(text)
    except (ValueError, OverflowError):
        return None


def is_instant(kind: str | None) -> bool:
    """Whether bounds of the type are days or instants."""
    return kind is not None and kind.startswith(_INSTANTS)


def summed(stats: Iterable[ColumnStat]) -> list[ColumnStat]:
    """Statistics of several commits as one per column, with the newest name and type of each. `stats`: oldest first."""
    by_id: dict[int, list[ColumnStat]] = {}
    for stat in stats:
        by_id.setdefault(stat.id, []).append(stat)
    return [_sum(parts) for parts in by_id.values()]


def stats_of(rows: Sequence[Mapping[str, Any]] | None) -> list[ColumnStat]:
    """Elements of the column `columns` of a meta table."""
    return [ColumnStat(**row) for row in rows or ()]


def _sum(parts: Sequence[ColumnStat]) -> ColumnStat:
    newest = parts[-1]
    return ColumnStat(
        id=newest.id,
        name=newest.name,
        type=newest.type,
        values=_total([part.values for part in parts]),
        nulls=_total([part.nulls for part in parts]),
        nans=_total([part.nans for part in parts]),
        lower=_end([(part.type, part.lower) for part in parts], greatest=False),
        upper=_end([(part.type, part.upper) for part in parts], greatest=True),
        ndv=next((part.ndv for part in reversed(parts) if part.ndv is not None), None),
    )


def _total(numbers: Sequence[int | None]) -> int | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if len(known) == len(numbers) else None


def _end(bounds: Sequence[tuple[str | None, str | None]], *, greatest: bool) -> str | None:
    """The least or greatest bound; None if one is unknown."""
    texts = [text for _, text in bounds if text is not None]
    if len(texts) < len(bounds):
        return None
    numbers = [bound_number(kind, text) for kind, text in bounds]
    known = [number for number in numbers if number is not None]
    pick = max if greatest else min
    if len(known) == len(texts):
        return texts[numbers.index(pick(known))]
    return None if known else pick(texts)
