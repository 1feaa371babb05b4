"""Runs `extract`: in Spark's workers, or in this process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

import pyarrow as pa

from limnograph.domain.metadata.due import DueTable


class ExtractedRows(NamedTuple):
    """`rows` of `snapshots`, `columns` of `column_stats`. The other fields are by index among the requested tables.

    missed     could not be read now; with the reason if known
    unreached  not tried, because the others used up the time or memory of this round
    """

    rows: pa.Table
    missed: Mapping[int, str] = {}
    unreached: frozenset[int] = frozenset()
    columns: pa.Table | None = None


class Extraction(Protocol):
    """Rows of `snapshots` for the tables that are due."""

    def run(self, due: Sequence[DueTable]) -> ExtractedRows:
        """One row per requested snapshot. A table whose storage does not respond now yields no rows and remains due. A
        table may be requested several times, for different snapshots. At least one request is tried; each that is tried
        is completed.
        """
        ...
