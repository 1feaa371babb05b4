"""Memory and processor time of this process and all that it started, where the system has /proc."""

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
    own = _family(processes, root or os.getpid())
    sizes = [size for pid in own if (size := _share_kb(processes / str(pid) / "smaps_rollup")) is not None]
    return sum(sizes) * 1024 // 1_000_000 if sizes else None


def processor_s(processes: Path = PROCESSES, root: int | None = None) -> float | None:
    """Processor seconds of a process (default: this one) and its descendants, of those too that have ended and were
    waited for; None where it cannot be known.
    """
    ticks = [_ticks(processes / str(pid) / "stat") for pid in _family(processes, root or os.getpid())]
    known = [each for each in ticks if each is not None]
    return sum(known) / os.sysconf("SC_CLK_TCK") if known else None


def _family(processes: Path, root: int) -> set[int]:
    """A process and its descendants."""
    parents: dict[int, int] = {}
    for stat in processes.glob("[0-9]*/stat"):
        if fields := _fields(stat):
            parents[int(stat.parent.name)] = int(fields[1])
    own = {root}
    while more := {pid for pid, parent in parents.items() if parent in own} - own:
        own |= more
    return own


def _ticks(stat: Path) -> int | None:
    fields = _fields(stat)
    return sum(int(each) for each in fields[11:15]) if fields else None


def _fields(stat: Path) -> list[str]:
    """The fields from the state on; none if the process has ended meanwhile. The name before them is in parentheses and
    may contain anything.
    """
    try:
        return stat.read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _share_kb(file: Path) -> int | None:
    try:
        found = _SHARE.search(file.read_text())
    except OSError:
        return None
    return int(found[1]) if found else None
