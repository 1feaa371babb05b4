"""Memory of this process and all that it started, where the system has /proc."""

from __future__ import annotations

import os
import re
from pathlib import Path

PROCESSES = Path("/proc")
_SHARE = re.compile(r"^Pss:\s+(\d+) kB", re.MULTILINE)


def memory_mb(processes: Path = PROCESSES, root: int | None = None) -> int | None:
    """Memory of a process (default: this one) and its descendants, MB; None where it cannot be known. A page that
    several of them share counts once in total (PSS).
    """
    parents: dict[int, int] = {}
    for stat in processes.glob("[0-9]*/stat"):
        try:
            # The name of a program is in parentheses and may contain anything.
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue  # it ended meanwhile
    own = {root or os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in own} - own:
        own |= more
    sizes = [size for pid in own if (size := _share_kb(processes / str(pid) / "smaps_rollup")) is not None]
    return sum(sizes) * 1024 // 1_000_000 if sizes else None


def _share_kb(file: Path) -> int | None:
    try:
        found = _SHARE.search(file.read_text())
    except OSError:
        return None
    return int(found[1]) if found else None
