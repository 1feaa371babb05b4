"""What a vacuum would delete, and what recorded vacuums have deleted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from limnograph.adapters.delta.tombstones import Tombstone
from limnograph.analysis.advice.files_digest import files_digest
from limnograph.domain.advice.reading import RemovableFiles
from limnograph.domain.metadata.table import TableMetadata
from limnograph.domain.time import Millis

HOUR_MS = 3_600_000
LEAST_HOURS = 168
"""Delta's safety check: a shorter retention may delete files that a running reader or writer needs."""
RETENTION = "delta.deletedFileRetentionDuration"
_INTERVAL = re.compile(r"(?:interval\s+)?(\d{1,6})\s+(second|minute|hour|day|week)s?", re.IGNORECASE)
_SECONDS = {"second": 1, "minute": 60, "hour": 3_600, "day": 86_400, "week": 604_800}


class RecordedVacuum(NamedTuple):
    """The last completed vacuum. `before`: it deleted files that were removed earlier than that; None: none."""

    before: int | None

    def deleted(self, tombstone: Tombstone) -> bool:
        """Whether it deleted the file."""
        return self.before is not None and (tombstone.removed_at or 0) < self.before


def last_vacuum(metadata: TableMetadata) -> RecordedVacuum:
    """From `VACUUM START` and `VACUUM END` in the log; a vacuum without an end was interrupted."""
    started: int | None = None
    before: int | None = None
    for snapshot in metadata.ordered:
        summary = snapshot.summary or {}
        name = summary.get("delta.operation")
        if name == "VACUUM START":
            kept = summary.get("operationParameters.specifiedRetentionMillis") or summary.get(
                "operationParameters.defaultRetentionMillis"
            )
            at = snapshot.timestamp_ms
            started = at - int(kept) if at is not None and kept is not None and kept.isdecimal() else None
        elif (
            name == "VACUUM END"
            and started is not None
            and "FAILED" not in summary.get("operationParameters.status", "")
        ):
            before, started = max(before or 0, started), None
    return RecordedVacuum(before)


def retention_ms(metadata: TableMetadata) -> int:
    """Age of a removal from which a plan deletes its file: the table's own, but at least a week."""
    found = _INTERVAL.fullmatch(metadata.properties.get(RETENTION, "").strip())
    own = int(found[1]) * _SECONDS[found[2].lower()] * 1_000 if found else 0
    return max(own, LEAST_HOURS * HOUR_MS)


def removable(tombstones: Sequence[Tombstone], metadata: TableMetadata, now: Millis) -> RemovableFiles | None:
    """Files that a vacuum at `now` would delete. None: none, or a size is unknown."""
    hours = -(-retention_ms(metadata) // HOUR_MS)
    found = [each for each in tombstones if (each.removed_at or 0) < now - hours * HOUR_MS]
    if not found or any(each.size is None for each in found):
        return None
    sizes = np.array([each.size for each in found], np.int64)
    paths = np.array([int.from_bytes(each.path[:8], "little") for each in found], np.uint64)
    return RemovableFiles(files=len(found), bytes=int(sizes.sum()), hours=hours, sha256=files_digest(paths, sizes))
