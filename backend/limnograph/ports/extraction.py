"""Where `extract` runs: in Spark's workers, or in this process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import pyarrow as pa

from limnograph.domain.due import DueTable


class Extraction(Protocol):
    """Rows of `snapshots` for the tables that are due."""

    def run(self, due: Sequence[DueTable]) -> pa.Table:
        """One row per wanted snapshot. A table whose storage does not answer now gives no row and stays due."""
        ...
