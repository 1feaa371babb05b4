"""Lets the real pipeline watch the history grow: the catalog's pointers go forward a stage at a time.

A pass reads at most fifty new snapshots of a table down to their files; a pipeline that meets the whole history at
once would know sizes and partitions of the newest snapshot only.
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
"""Snapshots of a table in one stage: below the pipeline's fifty."""
STAGE_SECONDS = 600


def _seen(folder: Folder, snapshots: int) -> Callable[[], bool]:
    return lambda: meta_rows(folder) >= snapshots


def replay(folder: Folder, stages: Mapping[str, Sequence[Stage]], progress: Progress) -> None:
    """Go through all stages; afterwards the catalog points at the newest metadata and the meta table knows it all."""
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
