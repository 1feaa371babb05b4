"""How far main was ahead of a snapshot when it was read."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from limnograph.domain.time import MICROS_PER_SECOND, Micros

BEHIND_COMMITS = 10
BEHIND_SECONDS = 600


class Behind(NamedTuple):
    """Moves of main since it left the snapshot, and the seconds since then."""

    commits: int
    seconds: float

    @property
    def is_stale(self) -> bool:
        """Whether it is more than a reader lags that plans a query just before a commit."""
        return self.commits > BEHIND_COMMITS or self.seconds > BEHIND_SECONDS


class MainMoves:
    """Moves of main by snapshot. `times`: ascending, microseconds. Immutable after construction."""

    def __init__(self, times: Sequence[Micros], ids: Sequence[int]) -> None:
        self._times = times
        self._places: dict[int, list[int]] = {}
        for place, snapshot_id in enumerate(ids):
            self._places.setdefault(snapshot_id, []).append(place)

    def behind(self, snapshot_id: int, at: Micros) -> Behind | None:
        """How far a read of a snapshot at an instant was behind; None if the snapshot was main's head then, or was
        never on main as far as is known.
        """
        now = bisect_right(self._times, at) - 1
        places = self._places.get(snapshot_id, ())
        before = bisect_right(places, now) - 1
        if before < 0 or places[before] == now:
            return None
        place = places[before]
        return Behind(now - place, (at - self._times[place + 1]) / MICROS_PER_SECOND)
