"""Configured objectives for tables by pattern: the highest acceptable age of the last commit."""

from __future__ import annotations

from collections.abc import Sequence

from limnograph.domain.ids import TableName, matches


class FreshnessObjectives:
    """Pairs of a pattern over `catalog.namespace.table` and seconds; the first matching pattern counts. Immutable after
    construction.
    """

    def __init__(self, promised: Sequence[tuple[str, float]] = ()) -> None:
        self._promised = tuple(promised)

    def __call__(self, name: TableName) -> float | None:
        """The highest acceptable age of a table's last commit, in seconds; None without an objective."""
        text = str(name)
        return next((seconds for pattern, seconds in self._promised if matches(pattern, text)), None)
