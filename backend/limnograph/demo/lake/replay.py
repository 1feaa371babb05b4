"""Replays the history to the real pipeline by moving the catalog's pointers forward, one stage at a time.

A pass reads at most fifty new snapshots of a table down to their files. With the whole history at once, the pipeline
would record sizes and partitions of the newest snapshot only.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence

from limnograph.demo.folder import Folder
from limnograph.demo.lake.meta import meta_rows
from limnograph.demo.lake.timeshift import CatalogFile, Stage
from limnograph.demo.processes.children import ChildProcesses, Program
from limnograph.demo.progress import Progress

EVERY = 48
"""Snapshots per table and stage, below the pipeline's limit of fifty."""
STAGE_SECONDS = 600


def _seen(folder: Folder, snapshots: int) -> Callable[[], bool]:
    return lambda: meta_rows(folder) >= snapshots


def replay(folder: Folder, stages: Mapping[str, Sequence[Stage]], progress: Progress) -> None:
    """Replay all stages. Then the catalog points at the newest metadata and the meta table has all snapshots."""
    catalog = CatalogFile(folder.database)
    config = str(folder.config)
    command = [sys.executable, "-m", "limnograph", "pipeline", "--config", config, "--trigger", "1s"]
    with ChildProcesses(folder.logs, progress) as children:
        child = None
        for number in range(max(map(len, stages.values()))):
            now = {name: of_table[min(number, len(of_table) - 1)] for name, of_table in stages.items()}
            for name, stage in now.items():
                if catalog.location(name) != stage.location:
                    catalog.point(name, stage.location)
            expected = sum(stage.snapshots for stage in now.values())
            child = child or children.start(Program("replay", command))
            children.wait_until(child, _seen(folder, expected), STAGE_SECONDS)
            progress.say(f"the pipeline has seen {expected:,} snapshots")
