"""The maintenance log: reads from `maintenance` when a step was last attempted, and appends new rows.

Attempts without a row (a step that found nothing to do, a row that could not be written) are remembered only in this
process.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import pyarrow as pa

from limnograph.domain.errors import Conflict, SourceError
from limnograph.domain.facts.housekeeping import MaintenanceFact
from limnograph.domain.facts.meta_tables import MAINTENANCE
from limnograph.domain.failpoints import Failpoints
from limnograph.domain.time import MICROS_PER_SECOND, Micros
from limnograph.ports.meta_store import MetaStore
from limnograph.ports.meta_upkeep import MetaUpkeep, Position, Where
from limnograph.services.pipeline.appending import WriteAttempts

READ_SECONDS = 40 * 86_400
"""Older runs no longer affect any decision."""
_COLUMNS = ("run_id", "kind", "table", "subject", "started_at")


class StepKey(NamedTuple):
    """A unit that is scheduled separately."""

    kind: str
    table: str
    subject: str | None = None


class Journal:
    """Runs of one store."""

    def __init__(
        self,
        store: MetaStore,
        upkeep: MetaUpkeep,
        to_arrow: Callable[[Sequence[MaintenanceFact]], pa.Table],
        failpoints: Failpoints,
    ) -> None:
        self._store, self._upkeep, self._to_arrow, self._failpoints = store, upkeep, to_arrow, failpoints
        self._position: Position | None = None
        self._last: dict[StepKey, Micros] = {}
        self._tried: dict[StepKey, Micros] = {}
        self.oldest: Micros | None = None
        """Start of the oldest run that was read."""

    def refresh(self, now: Micros) -> None:
        """Read the rows that this process and others wrote since."""
        position = self._upkeep.standing(MAINTENANCE).position
        if position == self._position:
            return
        where = Where(start=now - READ_SECONDS * MICROS_PER_SECOND)
        rows = self._upkeep.rows(MAINTENANCE, position, _COLUMNS, where).drop_nulls("started_at")
        for _, kind, table, subject, started_at in rows.iter_rows():
            key = StepKey(kind, table, subject)
            self._last[key] = max(started_at, self._last.get(key, started_at))
            self.oldest = min(started_at, self.oldest or started_at)
        self._position = position

    def last(self, key: StepKey) -> Micros | None:
        """When the step was last attempted, in microseconds; None: never, as far as known."""
        found = [at for at in (self._last.get(key), self._tried.get(key)) if at is not None]
        return max(found, default=None)

    def tried(self, key: StepKey, now: Micros) -> None:
        """Remember an attempt in this process."""
        self._tried[key] = now

    def record(self, fact: MaintenanceFact) -> None:
        """Append a run, once. Raises SourceUnavailable if its attempts failed (`WriteAttempts`)."""
        self._failpoints.reach("before_append_maintenance")
        attempts = WriteAttempts("append to maintenance", lambda _line: None)
        for attempt in attempts:
            head = self._store.head(MAINTENANCE)
            if attempt and self._holds(fact.run_id):
                break
            try:
                self._store.append(MAINTENANCE, self._to_arrow([fact]), head, fact.run_id)
            except (Conflict, SourceError) as error:
                attempts.failed(error)
            else:
                break
        else:
            raise attempts.gave_up()
        self._failpoints.reach("after_append_maintenance")

    def _holds(self, run_id: str) -> bool:
        position = self._upkeep.standing(MAINTENANCE).position
        return not self._upkeep.rows(MAINTENANCE, position, ("run_id",), Where(equal={"run_id": run_id})).is_empty()
