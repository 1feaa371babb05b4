"""What the settings promise of tables by pattern: how old the last commit may get."""

from __future__ import annotations

from collections.abc import Sequence

from limnograph.domain.ids import TableName, matches


class FreshnessObjectives:
    """Pairs of a pattern over `catalog.namespace.table` and seconds; the first pattern that matches counts. Immutable
    after construction.
    """

    def __init__(self, promised: Sequence[tuple[str, float]] = ()) -> None:
        self._promised = tuple(promised)

    def __call__(self, name: TableName) -> float | None:
        """Seconds that the last commit of a table may be old; None where nothing is promised."""
        text = str(name)
        return next((seconds for pattern, seconds in self._promised if matches(pattern, text)), None)
