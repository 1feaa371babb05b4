"""Child processes: each has a log, is probed until it is ready, and ends with the others and with this process."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Self

from limnograph.adapters.processor_time import OwnTime, from_group
from limnograph.demo.progress import Progress
from limnograph.domain.errors import EnvironmentFault

PR_SET_PDEATHSIG = 1
STOP_SECONDS = 12.0
LOOK_SECONDS = 3.0
"""At most this much time between two measurements counts as a starting child's own; a probe may take this long."""


class Program(NamedTuple):
    """A program to start: its name in log and messages, its command, additional environment variables."""

    name: str
    command: Sequence[str]
    env: Mapping[str, str] = {}


class ChildProcess:
    """A running program, leader of its own process group; its output goes to `log`."""

    def __init__(self, program: Program, log: Path) -> None:
        self.name, self.log = program.name, log
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                program.command,
                env={**os.environ, **program.env},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=_end_with_parent,  # noqa: PLW1509 - the hook only calls prctl
            )

    @property
    def pid(self) -> int:
        """Its process id, which is also its group id."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """Its exit code; None while it is running."""
        return self._process.poll()

    def ask_to_stop(self) -> None:
        """Send SIGTERM to the leader only, which ends its own children: a JVM must not end before its driver."""
        with contextlib.suppress(ProcessLookupError):
            self._process.terminate()

    def end(self, seconds: float) -> None:
        """Wait at most `seconds`, then kill the rest of the group."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=max(0.1, seconds))
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def last_words(self) -> str:
        """The last line of its log."""
        lines = self.log.read_text(errors="replace").strip().splitlines()
        return lines[-1][:300] if lines else "no output"


class ChildProcesses:
    """The started children; leaving the block ends them, the last one first."""

    def __init__(self, logs: Path, progress: Progress, stop_seconds: float = STOP_SECONDS) -> None:
        self._logs, self._progress, self._stop_seconds = logs, progress, stop_seconds
        self._running: list[ChildProcess] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for child in reversed(self._running):
            child.ask_to_stop()
        deadline = time.monotonic() + self._stop_seconds
        for child in reversed(self._running):
            child.end(deadline - time.monotonic())
        self._running.clear()

    def start(self, program: Program) -> ChildProcess:
        """Start a program. Call it from the main thread: children receive SIGTERM when the thread that started them
        ends.
        """
        child = ChildProcess(program, self._logs / f"{program.name}.log")
        self._running.append(child)
        return child

    def named(self, name: str) -> ChildProcess:
        """The newest child of that name. Raises KeyError."""
        return {child.name: child for child in self._running}[name]

    def wait_until(self, child: ChildProcess, ready: Callable[[], bool | str], seconds: float) -> None:
        """Probe a child until `ready` returns True; a text is printed as progress. Raises EnvironmentFault if the child
        ends or takes longer than `seconds`, which count its group's own time and not the time it waits for a processor.
        """
        own, said = OwnTime(child.pid, from_group, longest=LOOK_SECONDS), ""
        while (answer := ready()) is not True:
            if child.exit_code is not None:
                raise EnvironmentFault(f"{child.name} ended ({child.exit_code}): {child.last_words()}; see {child.log}")
            own.look()
            if own.spent > seconds:
                raise EnvironmentFault(f"{child.name} was not ready after {seconds:.0f} s; see {child.log}")
            if isinstance(answer, str) and answer != said:
                said = answer
                self._progress.say(answer)
            time.sleep(0.25)

    def ended(self) -> list[ChildProcess]:
        """Children that have ended by themselves; each is returned once."""
        gone = [child for child in self._running if child.exit_code is not None]
        self._running = [child for child in self._running if child not in gone]
        return gone


def answers(url: str) -> bool:
    """Whether a GET returns 200."""
    try:
        with urllib.request.urlopen(url, timeout=2) as answer:  # noqa: S310 - our own loopback address
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def _end_with_parent() -> None:
    """On Linux, the child receives SIGTERM however this process ends. Elsewhere it is ended only by an orderly
    shutdown.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
