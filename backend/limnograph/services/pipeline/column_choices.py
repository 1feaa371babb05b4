"""Which columns have statistics: first those that scans filter, from the roll-up of reads, read once an hour."""

from __future__ import annotations

import logging
from collections import Counter, defaultdict

from limnograph.domain.errors import SourceError
from limnograph.domain.facts.meta_tables import READS_HOURLY
from limnograph.domain.metadata.due import ColumnChoice, DueTable
from limnograph.domain.time import Micros
from limnograph.ports.clock import Clock
from limnograph.ports.meta_upkeep import MetaUpkeep, Where
from limnograph.services.rollups.fold import DAY, HOUR

DAYS = 7
_log = logging.getLogger("limnograph.columns")


class ColumnChoices:
    """Choices by table. `bounds`: patterns of text columns whose bounds may be stored."""

    def __init__(self, upkeep: MetaUpkeep, clock: Clock, bounds: tuple[str, ...]) -> None:
        self._upkeep, self._clock, self._bounds = upkeep, clock, bounds
        self._filtered: dict[str, tuple[str, ...]] = {}
        self._read_at: Micros | None = None

    def of(self, due: DueTable) -> ColumnChoice:
        """The choice for one table. What cannot be read now is as it was."""
        now = self._clock.now()
        if self._read_at is None or now >= self._read_at + HOUR:
            self._read_at = now
            try:
                self._filtered = self._read(now)
            except SourceError as error:
                _log.info("filtered columns could not be read: %s", error)
        return ColumnChoice(filtered=self._filtered.get(due.table_uuid, ()), bounds=self._bounds)

    def _read(self, now: Micros) -> dict[str, tuple[str, ...]]:
        """Columns by table, most often filtered first; names decide between equals."""
        where = Where(start=Micros(now - DAYS * DAY))
        position = self._upkeep.standing(READS_HOURLY).position
        rows = self._upkeep.rows(READS_HOURLY, position, ("table_uuid", "filter_columns"), where)
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        for uuid, columns in rows.iter_rows():
            for column in columns or ():
                counts[uuid][column["name"]] += column["count"]
        return {
            uuid: tuple(sorted(found, key=lambda name: (-found[name], name)))
            for uuid, found in ((uuid, dict(each)) for uuid, each in counts.items())
        }
