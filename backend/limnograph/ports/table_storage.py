"""Reads on request what a table stores."""

from __future__ import annotations

from typing import Protocol

from limnograph.domain.answers.storage import StorageReading
from limnograph.domain.metadata.due import DueTable
from limnograph.domain.time import Millis


class TableStorageReader(Protocol):
    """Thread-safe. The production implementation reads in a killable child process with a deadline."""

    def storage(self, due: DueTable, snapshot_id: int | None, now: Millis) -> StorageReading:
        """Bytes of a table at `now` (for ages), and files of a snapshot; None: of main's current one. Blocks for
        seconds. Raises MetadataError, SourceError.
        """
        ...
