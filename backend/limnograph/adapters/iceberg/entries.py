"""Entries of one manifest as columns, one row an entry: what the kernel decodes and `sums.py` adds up."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

LIVE_EXISTING, ADDED, DELETED = 0, 1, 2
"""Values of `status`."""
DATA, POSITION_DELETES, EQUALITY_DELETES = 0, 1, 2
"""Values of `content`."""
NO_SNAPSHOT = -1
"""`snapshot` of an entry for which neither it nor the manifest list names a snapshot."""


class Bounds(NamedTuple):
    """Lower and upper bounds of one column as keys whose byte order is the values' order. `None`: no bound."""

    lower: list[bytes | None]
    upper: list[bytes | None]


class Entries(NamedTuple):
    """`partition` indexes `partitions` (texts such as `day=2026-11-20/region=eu`, empty text: unpartitioned).

    `snapshot`: the entry's own, else the one that added the manifest. `size` bytes: of a deletion vector its own part
    of the Puffin file. `bounds` only when a field id was asked for.
    """

    status: npt.NDArray[np.int8]
    content: npt.NDArray[np.int8]
    is_dv: npt.NDArray[np.bool_]
    snapshot: npt.NDArray[np.int64]
    records: npt.NDArray[np.int64]
    size: npt.NDArray[np.int64]
    partition: npt.NDArray[np.int32]
    partitions: list[str]
    bounds: Bounds | None = None
