"""Measures how long a process really worked: its processor time and sleep, without the time it waited for a processor.

On an overloaded machine a process may get one minute of processor time in an hour. Time limits count that minute.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

LONGEST_LOOK_S = 0.25
"""Longest sleep counted between two measurements: if the measurement itself was late, the process may have been
delayed as well.
"""
PS_EVERY_S = 1.0
"""Minimum interval between runs of `ps`, which is used where there is no /proc."""
_ASLEEP = frozenset("SDI")


class Sample(NamedTuple):
    """Current state of a process: processor seconds since its start, and whether all of its threads wait for something
    other than a processor. A process that is runnable, stopped or throttled is not asleep.
    """

    cpu_s: float
    asleep: bool


def sample(pid: int) -> Sample | None:
    """A sample; None if the system does not report one, and for a process that is gone."""
    return from_proc(pid) if sys.platform == "linux" else from_ps(pid)


def from_proc(pid: int) -> Sample | None:
    """Sample from /proc/<pid>/stat and, if the main thread sleeps, from those of the other threads."""
    try:
        state, cpu_s = _stat(Path(f"/proc/{pid}/stat"))
        asleep = state in _ASLEEP and all(
            _stat(thread / "stat")[0] in _ASLEEP for thread in Path(f"/proc/{pid}/task").iterdir()
        )
    except (OSError, ValueError, IndexError):
        return None
    return Sample(cpu_s, asleep)


def from_group(leader: int) -> Sample | None:
    """A process group sampled as one process: it sleeps if all of its processes do. Without /proc, as in `sample`."""
    if sys.platform != "linux":
        return from_ps(leader)
    found = [sample(int(each.name)) for each in Path("/proc").iterdir() if each.name.isdigit() and _is_in(each, leader)]
    there = [one for one in found if one]
    return Sample(sum(one.cpu_s for one in there), all(one.asleep for one in there)) if there else None


def _is_in(process: Path, leader: int) -> bool:
    try:
        return int((process / "stat").read_text().rpartition(")")[2].split()[2]) == leader
    except (OSError, ValueError, IndexError):
        return False


def from_ps(pid: int) -> Sample | None:
    """Sample from the POSIX program `ps`."""
    command = ["ps", "-o", "state=", "-o", "time=", "-p", str(pid)]
    try:
        said = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30).stdout.split()
        return Sample(_seconds(said[1]), said[0][0] in _ASLEEP)
    except (OSError, ValueError, IndexError, subprocess.TimeoutExpired):
        return None


def resident_bytes(pid: int) -> int:
    """Resident memory of a process; 0 if the system does not report it."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def _stat(file: Path) -> tuple[str, float]:
    """State and processor seconds. The process name before them may contain any character, including brackets."""
    fields = file.read_text().rpartition(")")[2].split()
    return fields[0], (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _seconds(text: str) -> float:
    """`[[dd-]hh:]mm:ss[.cc]`."""
    days, _, clock = text.rpartition("-")
    total = 0.0
    for part in clock.split(":"):
        total = total * 60 + float(part)
    return total + int(days or 0) * 86_400


class OwnTime:
    """One process, measured repeatedly. All in seconds.

    cpu      processor time since its start
    spent    own time since `begin`
    idle     own time since it last used a processor
    watched  time that the measuring process was running
    """

    def __init__(
        self,
        pid: int,
        read: Callable[[int], Sample | None] = sample,
        now: Callable[[], float] = time.monotonic,
        every: float = 0.0 if sys.platform == "linux" else PS_EVERY_S,
        longest: float = LONGEST_LOOK_S,
    ) -> None:
        self._pid, self._read, self._now, self._every, self._longest = pid, read, now, every, longest
        self._looked = self._sampled = now()
        self.cpu = self.spent = self.idle = self.watched = 0.0

    def begin(self) -> None:
        """Start counting now."""
        self._looked = self._sampled = self._now()
        self.spent = self.idle = self.watched = 0.0

    def look(self) -> None:
        """Count the time since the last measurement. If the system reports nothing, all of it is own time."""
        now = self._now()
        self.watched += min(now - self._looked, self._longest)
        self._looked = now
        passed = now - self._sampled
        if passed < self._every:
            return
        self._sampled = now
        found = self._read(self._pid)
        slept = min(passed, max(self._longest, self._every)) if found is None or found.asleep else 0.0
        # The first measurement after `begin` may include earlier processor time: never count more than elapsed.
        used = 0.0 if found is None else min(passed, max(0.0, found.cpu_s - self.cpu))
        self.spent += max(slept, used)
        self.idle = 0.0 if used > 0 else self.idle + slept
        self.cpu = self.cpu if found is None else found.cpu_s

    def wait(self) -> None:
        """Pause counting while the process waits for another Limnograph process, which has its own limits."""
        self.look()
        self.begin()
