"""Where `extract` runs: in Spark's workers, or in this process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

import pyarrow as pa

from limnograph.domain.metadata.due import DueTable


class ExtractedRows(NamedTuple):
    """`rows` of `snapshots`. The others by their index among the requested ones: `missed`, why one could not be read
    now, if known; `unreached`: not tried, because the others took the time or the memory of this round.
    """

    rows: pa.Table
    missed: Mapping[int, str] = {}
    unreached: frozenset[int] = frozenset()


class Extraction(Protocol):
    """Rows of `snapshots` for the tables that are due."""

    def run(self, due: Sequence[DueTable]) -> ExtractedRows:
        """One row per requested snapshot. A table whose storage does not respond now yields no row and remains due. A
        table may be requested several times, for other snapshots. At least one is tried, and of each that is tried all.
        """
        ...
