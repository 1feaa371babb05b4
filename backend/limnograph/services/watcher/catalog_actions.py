"""The actions of a catalog's threads, and when tables are probed: types of `catalog_watch.py`."""

from __future__ import annotations

import enum
from typing import NamedTuple

from limnograph.domain.ids import TableName


class WatchMode(enum.Enum):
    """When tables are probed."""

    NOW = "now"
    """All tables at each request."""
    ONCE = "once"
    """All tables at the first request, then those that are due."""
    STANDING = "standing"
    """Tables that are due, within a budget, also between requests."""


class ListNames(NamedTuple):
    """Open the catalog unless it is open, and list its tables."""


class ProbeTable(NamedTuple):
    """Probe one table."""

    name: TableName


class EndThread(NamedTuple):
    """Nothing is left to do: the thread ends."""


class Wait(NamedTuple):
    """Nothing is due: check again after this time, or when something changes."""

    seconds: float


Work = ListNames | ProbeTable
"""Actions that query the catalog."""
Action = ListNames | ProbeTable | EndThread
"""A thread's next action, after any wait."""
