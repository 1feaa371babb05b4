"""Calendar of the demo's story: the demo day and its instants. Pure; all instants are epoch ms, UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import NamedTuple

SECOND = 1_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR
STALE_AFTER = 20 * HOUR
"""Age at which a lake shows yesterday's story; starting the demo then suggests `--fresh`."""


class Calendar(NamedTuple):
    """Instants of the story, epoch ms. `midnight` is 00:00 of the demo day; `until` is the end of the history."""

    midnight: int
    until: int

    @classmethod
    def at(cls, now_ms: int) -> Calendar:
        """The calendar of the last UTC day on which 06:00 has passed at `now_ms`; the history ends at `now_ms`."""
        now = datetime.fromtimestamp(now_ms / 1000, UTC)
        day = now.replace(hour=0, minute=0, second=0, microsecond=0)
        if now.hour < 6:
            day -= timedelta(days=1)
        return cls(int(day.timestamp()) * 1000, now_ms)

    def clock(self, text: str, days: int = 0) -> int:
        """Epoch ms of `HH:MM` or `HH:MM:SS` on the demo day, or `days` later."""
        hours, minutes, seconds = (*map(int, text.split(":")), 0)[:3]
        return self.midnight + days * DAY + hours * HOUR + minutes * MINUTE + seconds * SECOND

    @property
    def day(self) -> str:
        """The demo day as `YYYY-MM-DD`."""
        return datetime.fromtimestamp(self.midnight / 1000, UTC).date().isoformat()

    @property
    def start(self) -> int:
        """Start of the history, 24 hours before 06:00 of the demo day."""
        return self.clock("06:00", -1)

    @property
    def morning(self) -> int:
        """06:00 of the demo day, the end of the story's night."""
        return self.clock("06:00")

    @property
    def burst(self) -> int:
        """The append that slows the reader down."""
        return self.clock("03:04:12")

    @property
    def slow_from(self) -> int:
        """Start of the first run that reads the many files."""
        return self.clock("03:05")

    @property
    def repair(self) -> int:
        """The compaction that repairs the table."""
        return self.clock("05:30")

    @property
    def schema_change(self) -> int:
        """Decoy: a column is added to another table."""
        return self.clock("01:42")

    @property
    def decoy_append(self) -> int:
        """Decoy: a large append to another table, which slows no job."""
        return self.clock("18:32", -1)

    @property
    def cpu_spike(self) -> int:
        """Decoy: the executors are busy for ten minutes, and no table changes."""
        return self.clock("20:11", -1)
