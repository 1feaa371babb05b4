"""Programs held to a share of one processor by SIGSTOP and SIGCONT, and the processor time that they took together."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

PERIOD_S, LOOK_S = 0.1, 0.004
_TICKS = os.sysconf("SC_CLK_TCK")


@contextmanager
def starved(group: int, share: float) -> Iterator[None]:
    """Inside, the processes of the group together use at most this share of a processor, as under the quota of a
    container: once it is used up, they stand still until the next period. At the end they run on.

    What counts is time on a processor, not time in which others kept it busy: else a busy machine would make the share
    smaller than it is called.
    """
    ended = threading.Event()

    def cycle() -> None:
        clock, left = GroupClock(group), 0.0
        with contextlib.suppress(ProcessLookupError):
            while not ended.is_set():
                until, used = time.monotonic() + PERIOD_S, clock.seconds()
                left = min(left, 0.0) + PERIOD_S * share  # too much use is paid back; too little is not made up for
                if left > 0:
                    os.killpg(group, signal.SIGCONT)
                    while time.monotonic() < until and clock.seconds() - used < left:
                        time.sleep(LOOK_S)
                    os.killpg(group, signal.SIGSTOP)
                ended.wait(max(0.0, until - time.monotonic()))
                left -= clock.seconds() - used
            os.killpg(group, signal.SIGCONT)

    thread = threading.Thread(target=cycle, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


class GroupClock:
    """Processor time of a process group since its start, in nanoseconds' resolution; `stat` counts in ticks of 10 ms.
    Of a process that has ended, what was last seen.
    """

    def __init__(self, group: int) -> None:
        self._group, self._seconds = group, dict[int, float]()

    def seconds(self) -> float:
        for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):  # noqa: PTH208 - a path each takes thrice as long
            with contextlib.suppress(OSError):
                if os.getpgid(pid) == self._group:
                    self._seconds[pid] = time.clock_gettime(~pid << 3 | 2)  # Linux's clock of that process
        return sum(self._seconds.values())


def cpu_seconds(group: int) -> dict[int, float]:
    """Processor time of each process of the group that is alive, with that of its children that ended."""
    found = {}
    for process in Path("/proc").iterdir():
        if not process.name.isdigit():
            continue
        with contextlib.suppress(OSError, ValueError, IndexError):
            fields = (process / "stat").read_text().rpartition(")")[2].split()
            if int(fields[2]) == group:
                found[int(process.name)] = sum(map(int, fields[11:15])) / _TICKS
    return found


class FirstStart(NamedTuple):
    """Of a server over a lake: seconds and processor seconds until the fleet shows tables, by process and in sum, what
    the status said meanwhile, if the server responded already, and the log.
    """

    seconds: float
    cpu: dict[int, float]
    said: list[str]
    log: str

    @property
    def cpu_s(self) -> float:
        return sum(self.cpu.values())


def first_start(folder: Path, tables: int, share: float, within_s: float) -> FirstStart:
    """`limnograph serve` on one processor, of which it has this share, over the lake in a folder, with nothing compiled
    and nothing cached, until the fleet shows so many tables. Raises TimeoutError.
    """
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "compiled")}
    command = [sys.executable, "-m", "limnograph", "serve", "--port", "0", "--config", str(folder / "limnograph.toml")]
    with (folder / "log").open("w") as log:
        began = time.monotonic()
        server = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=log, text=True, env=environment, start_new_session=True
        )
    with contextlib.suppress(AttributeError):  # Linux alone says which processors a process may use
        os.sched_setaffinity(server.pid, {min(os.sched_getaffinity(0))})
    said: list[str] = []
    try:
        with starved(server.pid, share) if share < 1 else contextlib.nullcontext():
            url = server.stdout.readline().rsplit(" ", 1)[-1].strip()
            while time.monotonic() - began < within_s:
                if _asked(url, "/api/v1/tables")["total"] >= tables:
                    seconds, cpu = time.monotonic() - began, cpu_seconds(server.pid)
                    return FirstStart(seconds, cpu, said, (folder / "log").read_text())
                sources = _asked(url, "/api/v1/status")["sources"]
                said += [source["detail"] or "" for source in sources if source["kind"] == "watcher"]
                time.sleep(0.5)
        raise TimeoutError(f"no tables within {within_s:.0f} s: {said[-1:]} {(folder / 'log').read_text()[-2000:]}")
    finally:
        server.terminate()
        server.wait(60)
        server.stdout.close()


def _asked(url: str, path: str) -> Any:
    with urllib.request.urlopen(url + path, timeout=60) as answer:
        return json.load(answer)
