"""Memory of this process and all that it started, where the system has /proc."""

from __future__ import annotations

import os
from pathlib import Path

PROCESSES = Path("/proc")


def resident_mb(processes: Path = PROCESSES, root: int | None = None) -> int | None:
    """Resident memory of a process (default: this one) and its descendants, MB; None where it cannot be known."""
    parents: dict[int, int] = {}
    pages: dict[int, int] = {}
    for stat in processes.glob("[0-9]*/stat"):
        try:
            # The name of a program stands in parentheses and may contain anything.
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it ended meanwhile
        parents[int(stat.parent.name)], pages[int(stat.parent.name)] = int(fields[1]), int(fields[21])
    own = {root or os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in own} - own:
        own |= more
    return sum(pages.get(pid, 0) for pid in own) * os.sysconf("SC_PAGE_SIZE") // 1_000_000 if pages else None
