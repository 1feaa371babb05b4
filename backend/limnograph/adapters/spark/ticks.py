"""Streaming side of the DataSource `limnograph`: a counter that advances when a pass is due.

A pass is due after its interval, or when the inbox has a newer notification. Only the pass probes pointers, within its
budget: in Spark's planner process they would be probed twice. New snapshots are always determined from the meta table,
so a lost checkpoint loses nothing.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition

from limnograph.domain import secrecy
from limnograph.domain.errors import SettingsError, SourceError
from limnograph.ports.inbox import Inbox

_log = logging.getLogger("limnograph.ticks")
SPACING_S = 2.0
"""Minimum seconds from a pass to one triggered by a notification: many notifications must not cause many passes."""


class TicksReader(DataSourceStreamReader):
    """Offset: a counter. A pass is due every `seconds` (option), and when the inbox of option `inbox_url` has a newer
    notification.
    """

    def __init__(self, options: Mapping[str, str]) -> None:
        self._seconds = float(options.get("seconds", "60"))
        self._notices = Notices(options.get("inbox_url", ""))
        self._tick, self._last = 0, float("-inf")

    def initialOffset(self) -> dict[str, int]:  # noqa: N802 - Spark's name
        return {"tick": 0}

    def latestOffset(self) -> dict[str, int]:  # noqa: N802 - Spark's name
        now = time.monotonic()
        noticed = self._notices.newer() if now - self._last >= min(SPACING_S, self._seconds) else False
        if noticed or now - self._last >= self._seconds:
            # Wall-clock milliseconds increase across restarts, whatever the checkpoint contained.
            self._tick = max(self._tick + 1, time.time_ns() // 1_000_000)
            self._last = now
        return {"tick": self._tick}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:  # noqa: ARG002
        return [InputPartition(end["tick"])]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        yield pa.RecordBatch.from_pydict({"tick": pa.array([partition.value], pa.int64())})


class Notices:
    """Whether the inbox has a notification since the last call. If it is unavailable, probing finds the changes."""

    def __init__(self, url: str) -> None:
        secrecy.keep(secrecy.secrets_of({"url": url}))
        self._url = url
        self._inbox: Inbox | None = None
        self._seen = 0

    def newer(self) -> bool:
        """Check now."""
        if not self._url:
            return False
        try:
            newest = self._open().newest("notification")
        except (SourceError, SettingsError) as error:
            _log.warning("%s", error)
            return False
        before, self._seen = self._seen, max(newest or 0, self._seen)
        return self._seen > before

    def _open(self) -> Inbox:
        from limnograph.adapters.inbox.store import SqlInbox

        if self._inbox is None:
            self._inbox = SqlInbox(self._url)
        return self._inbox
