"""What all scenarios share."""

from __future__ import annotations

from typing import NamedTuple

from lakehouse.check.observer import Observer
from lakehouse.medallion import Medallion
from lakehouse.parts.lake import Lake
from lakehouse.parts.streaming import StreamKeeper
from limnograph.demo.processes.children import ChildProcesses


class ScenarioWorld(NamedTuple):
    """The running lakehouse, its jobs, its observer, and its processes. `stream`: None where batches are read."""

    lake: Lake
    medallion: Medallion
    observer: Observer
    children: ChildProcesses
    stream: StreamKeeper | None = None
