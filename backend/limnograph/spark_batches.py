"""For `job_run`: which snapshot each micro-batch of a structured stream read up to. Its plan names the one at which the
stream began; the progress of the query has the end of what the batch read, as an offset of Iceberg's source.

Spark keeps the progress of the last 100 batches of a query, also after it ended, but only for whom holds the query. A
query that began and ended between two calls of `look` is not known.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

MOST_BATCHES = 10_000
"""Batches whose progress is remembered; beyond it the oldest are forgotten."""
_BATCH = re.compile(r"runId = ([0-9a-f-]{36})\b.*\bbatch = (\d+)", re.DOTALL)


class BatchId(NamedTuple):
    """A batch of one run of a streaming query."""

    run_id: str
    number: int


class StreamBatches:
    """What the streams of a session read. Used by one thread at a time."""

    def __init__(self, spark: Any) -> None:
        self._spark = spark
        self._queries: dict[str, Any] = {}
        self._read: dict[str, int] = {}
        self._ends: dict[BatchId, int | None] = {}

    def look(self) -> None:
        """Read the progress of batches that ended since the last call."""
        for query in self._spark._jsparkSession.streams().active():  # noqa: SLF001
            self._queries.setdefault(query.runId().toString(), query)
        for run_id, query in list(self._queries.items()):
            is_over = not query.isActive()
            self._take(run_id, query.recentProgress())
            if is_over:
                del self._queries[run_id]
        for batch in list(self._ends)[:-MOST_BATCHES]:
            del self._ends[batch]

    def is_awaited(self, batch: BatchId) -> bool:
        """Whether the progress of a batch is still to come."""
        return batch.run_id in self._queries and batch not in self._ends

    def snapshot(self, batch: BatchId) -> int | None:
        """The snapshot up to which a batch read its only Iceberg source; None if it is not known."""
        return self._ends.get(batch)

    def _take(self, run_id: str, progress: Any) -> None:
        for place in reversed(range(len(progress))):
            each = progress[place]
            batch = BatchId(run_id, int(each.batchId()))
            if batch.number <= self._read.get(run_id, -1):
                break
            self._ends[batch] = end_of([source.endOffset() for source in each.sources()])
        if len(progress):
            self._read[run_id] = int(progress[len(progress) - 1].batchId())


def batch_of(description: str) -> BatchId | None:
    """The batch that an execution of this description belongs to."""
    found = _BATCH.search(description)
    return BatchId(found[1], int(found[2])) if found else None


def end_of(offsets: list[str | None]) -> int | None:
    """The snapshot of the only offset that is one of Iceberg's source; None if there are none or several."""
    found = []
    for text in offsets:
        try:
            offset = json.loads(text or "null")
        except ValueError:
            continue
        if isinstance(offset, dict) and isinstance(offset.get("snapshot_id"), int) and "scan_all_files" in offset:
            found.append(offset["snapshot_id"])
    return found[0] if len(found) == 1 and found[0] >= 0 else None
