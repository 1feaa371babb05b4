"""Deep history: rows whose commits were only read to their manifest lists are read again to their entries.

The first sight of a table with more new commits than `ENTRIES_AT_ONCE` reads only its head to the entries. The other
rows get their file sizes, partitions and shape here, newest day first and a limited number per step. What is left is
known from the rows themselves, so that a restart resumes where the last process stopped.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable

import msgspec
import polars as pl

from limnograph.domain.facts.meta_tables import HOURLY, SNAPSHOTS
from limnograph.domain.time import EPOCH, Micros
from limnograph.ports.meta_upkeep import MetaUpkeep, PartitionFiles, Where
from limnograph.services.pipeline.repair import Repairs
from limnograph.services.rollups.marks import raw_floor

ROWS = 500
"""Most rows of a step: ten rounds of one table."""
LOOK_SECONDS = 5
"""A step looks for shallow rows no longer than this; the next step continues with older days."""
_SHALLOW = {"tier": "manifest_list", "status": "ok"}
_COLUMNS = ("table_uuid", "snapshot_id", "committed_at")


class DeepeningReport(msgspec.Struct, frozen=True):
    """The result of a step. `rows`: rows that now have entries; `failed`: rows that could not be read; `deep_since`:
    start of the oldest day since which no row is left to read (microseconds), None if rows of the newest day are left.
    """

    rows: int
    failed: int
    deep_since: Micros | None


class Deepening:
    """Deepens one store. Rows that could not be read to their entries are tried once per process."""

    def __init__(
        self, upkeep: MetaUpkeep, repairs: Repairs, *, rows: int = ROWS, elapsed: Callable[[], float] = time.monotonic
    ) -> None:
        self._upkeep, self._repairs, self._rows, self._elapsed = upkeep, repairs, rows, elapsed
        self._done = set[PartitionFiles]()
        self._tried = set[tuple[str, int]]()

    def behind(self) -> bool:
        """Whether a day changed since it was found to have no shallow rows, or was not looked at yet."""
        return any(part not in self._done for part in self._days())

    def run(self) -> DeepeningReport:
        """Read the newest shallow rows to their entries. Raises SourceError, and Conflict if another commit came
        first.
        """
        started = self._elapsed()
        for day in self._days():
            if day in self._done:
                continue
            shallow = self._shallow(day)
            if shallow.is_empty():
                self._done.add(day)
            else:
                return self._deepen(shallow.head(self._rows))
            if self._elapsed() - started >= LOOK_SECONDS:
                break
        return DeepeningReport(0, 0, self.deep_since())

    def deep_since(self) -> Micros | None:
        """Start of the oldest day since which no shallow row is left."""
        since = None
        for day in self._days():
            if day not in self._done:
                break
            since = day.start
        return since

    def _days(self) -> list[PartitionFiles]:
        """Days with rows, newest first, that the roll-ups still follow. Rows without a commit time are in none."""
        floor = raw_floor(self._upkeep.standing(HOURLY).properties) or EPOCH
        days = [part for part in self._upkeep.standing(SNAPSHOTS).parts if (part.start or Micros(-1)) >= floor]
        return sorted(days, key=lambda day: -(day.start or 0))

    def _shallow(self, day: PartitionFiles) -> pl.DataFrame:
        """Rows of a day that have no entries and were not tried, newest first."""
        position = self._upkeep.standing(SNAPSHOTS).position
        where = Where(start=day.start, end=day.end, equal=_SHALLOW)
        rows = self._upkeep.rows(SNAPSHOTS, position, _COLUMNS, where)
        untried = [key not in self._tried for key in zip(rows["table_uuid"], rows["snapshot_id"], strict=True)]
        return rows.filter(pl.Series(untried, dtype=pl.Boolean)).sort("committed_at", descending=True)

    def _deepen(self, rows: pl.DataFrame) -> DeepeningReport:
        wanted: dict[str, set[int]] = defaultdict(set)
        for series, snapshot_id, _ in rows.iter_rows():
            wanted[series].add(snapshot_id)
        done = self._repairs.deepen(wanted)
        if done.snapshots_replaced < rows.height:
            self._tried |= {(series, snapshot_id) for series, ids in wanted.items() for snapshot_id in ids}
        return DeepeningReport(done.snapshots_replaced, rows.height - done.snapshots_replaced, self.deep_since())
