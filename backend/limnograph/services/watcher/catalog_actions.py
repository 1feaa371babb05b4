"""What a thread of a catalog may do next, and when tables are probed: the words of `catalog_watch.py`."""

from __future__ import annotations

import enum
from typing import NamedTuple

from limnograph.domain.ids import TableName


class WatchMode(enum.Enum):
    """When tables are probed."""

    NOW = "now"
    """All of them at each request."""
    ONCE = "once"
    """All of them at the first request, then those that are due."""
    STANDING = "standing"
    """Those that are due, within a budget, also between requests."""


class ListNames(NamedTuple):
    """Open the catalog unless it is open, and list its tables."""


class ProbeTable(NamedTuple):
    """Probe one table."""

    name: TableName


class EndThread(NamedTuple):
    """Nothing is to be done: the thread ends."""


class Wait(NamedTuple):
    """Nothing is due: look again after so long, or when something changed."""

    seconds: float


Work = ListNames | ProbeTable
"""What queries the catalog."""
Action = ListNames | ProbeTable | EndThread
"""What a thread does next, after any wait."""
