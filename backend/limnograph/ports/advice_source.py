"""Reads a table for advice on behalf of a program that does not parse."""

from __future__ import annotations

from typing import Protocol

from limnograph.domain.advice.reading import AdviceReading
from limnograph.domain.maintenance.policy import RetainedSnapshots
from limnograph.domain.metadata.due import DueTable
from limnograph.domain.time import Millis


class AdviceSource(Protocol):
    """Thread-safe. The production implementation reads in a killable child process with a deadline."""

    def read(self, due: DueTable, now: Millis, retain: RetainedSnapshots | None = None) -> AdviceReading:
        """The table at its metadata location, judged at `now`. `retain`: what a policy keeps besides the table's own
        retention. Blocks. Raises MetadataError, SourceError.
        """
        ...
