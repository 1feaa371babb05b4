"""Reads a table for advice, or what it stores, on behalf of a program that does not parse."""

from __future__ import annotations

from typing import Protocol

from limnograph.domain.advice.reading import AdviceReading
from limnograph.domain.answers.storage import StorageReading
from limnograph.domain.metadata.due import DueTable
from limnograph.domain.time import Millis


class AdviceSource(Protocol):
    """Thread-safe. The production implementation reads in a killable child process with a deadline."""

    def read(self, due: DueTable, now: Millis) -> AdviceReading:
        """The table at its metadata location, judged at `now`. Blocks. Raises MetadataError, SourceError."""
        ...


class TableStorageReader(Protocol):
    """Thread-safe. The production implementation reads in a killable child process with a deadline."""

    def storage(self, due: DueTable, snapshot_id: int | None, now: Millis) -> StorageReading:
        """Bytes of a table at `now` (for ages), and files of a snapshot; None: of main's current one. Blocks for
        seconds. Raises MetadataError, SourceError.
        """
        ...
