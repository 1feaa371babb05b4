"""Parsed instants by location and size, cached for the life of the process: a completed instant never changes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import TypeVar

STATS_KEPT = 300_000
"""At about half a kilobyte per stat: a third of a child process's memory."""
_V = TypeVar("_V")


class WeightedCache:
    """Least recently used cache with a budget of weight; one write stat weighs about 1."""

    def __init__(self, budget: int = STATS_KEPT) -> None:
        self._budget, self._weight = budget, 0
        self._values: OrderedDict[tuple[str, int], tuple[object, int]] = OrderedDict()

    def get(self, key: tuple[str, int], make: Callable[[], _V], weigh: Callable[[_V], int]) -> _V:
        """The cached value, else the result of `make`; errors are not cached."""
        if key in self._values:
            self._values.move_to_end(key)
            return self._values[key][0]  # type: ignore[return-value]
        value = make()
        self._values[key] = (value, weight := 1 + weigh(value))
        self._weight += weight
        while self._weight > self._budget and len(self._values) > 1:
            self._weight -= self._values.popitem(last=False)[1][1]
        return value
