"""One table's history for a page that is built in a thread: found by name, reaching back far enough, or its damage."""

from __future__ import annotations

from typing import Any

from limnograph.domain.answers.structure import Note
from limnograph.domain.errors import SourceUnavailable
from limnograph.domain.ids import TableName
from limnograph.domain.time import Micros, to_millis
from limnograph.ports.clock import Clock
from limnograph.services.fleet import numbers
from limnograph.services.lake.history import History, history_of
from limnograph.services.lake.store import HotStore


class TableHistories:
    """Histories from the hot index and, for older times, from the meta tables. Immutable after construction."""

    def __init__(self, store: HotStore, clock: Clock) -> None:
        self._store, self._clock = store, clock

    def now(self, name: TableName) -> History:
        """The history in memory; for a name that was never readable only its damage. Raises NotFound,
        SourceUnavailable.
        """
        reading = self._store.reading
        if reading.error is not None and not reading.lake.histories and not reading.lake.damaged:
            raise SourceUnavailable("meta", reading.error.detail)
        history = reading.lake.find(name)
        if history is None:
            return history_of("", name, [], [reading.lake.damaged[name]])
        self._store.asked(history.uuid)
        return history

    def since(self, name: TableName, start: Micros) -> History:
        """The complete history since `start` (microseconds). Blocks. Raises NotFound, SourceError."""
        history = self.now(name)
        if not history.uuid or self._store.reading.lake.reaches(start, history.uuid):
            return history
        reading = self._store.since(start, (history.uuid,))
        if reading.partial and reading.error is not None:
            raise reading.error.with_traceback(None)  # it may be cached: it must not collect traceback frames
        return reading.lake.histories.get(history.uuid, history)

    def known_until(self, name: TableName) -> Micros:
        """Facts after this instant (microseconds) are unknown: the watermark, at most now."""
        now, watermark = self._clock.now(), self._store.known_until(name)
        return now if watermark is None else min(now, watermark)

    def head(self, name: TableName, history: History, notes: list[Note]) -> dict[str, Any]:
        """Members of PageHead; current damage is the first note."""
        row, damage, watermark = history.head, history.unreadable, self._store.known_until(name)
        if damage is not None:
            said = f": {damage.detail}" if damage.detail else ""
            unreadable = Note(code="unreadable", sentence=f"The metadata is unreadable ({damage.to_value}){said}")
            notes = [unreadable, *notes]
        return {
            **name.plain._asdict(),
            "format": row.format if row else None,
            "status": numbers.health(history, row),
            "watermark": to_millis(watermark),
            "notes": notes,
        }
