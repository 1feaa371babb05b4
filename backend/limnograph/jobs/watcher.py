"""The watcher's process: continuous rounds, one JSON message per line on stdout. `serve` starts, wakes and ends it.

It dies with its parent: standard input closes when the parent is gone, and on Linux the kernel kills it too.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import logging
import os
import signal
import sys
import threading
import time

import msgspec

from limnograph.domain import watch
from limnograph.domain.errors import InvalidInput
from limnograph.domain.ids import TableName
from limnograph.jobs.logs import configure
from limnograph.services.lake.store import WINDOW
from limnograph.settings import load
from limnograph.wiring.observe import parsers_cpu_seconds
from limnograph.wiring.watching import watcher

_PR_SET_PDEATHSIG = 1
PAUSE_S, SHORTEST_REST_S = 1.0, 0.05
"""Time between the starts of two rounds. The number of requests in a round depends on its budget, not on this."""
_log = logging.getLogger("limnograph.watcher")


class LookRequest:
    """Requests on standard input: check immediately, and which tables first."""

    def __init__(self) -> None:
        self.woken = threading.Event()
        self._lock, self._tables = threading.Lock(), set[TableName]()

    def read(self, line: bytes) -> None:
        """A line: empty, or names of tables as JSON. What is neither wakes like an empty one."""
        try:
            names = msgspec.json.decode(line, type=list[str]) if line.strip() else []
            tables = {TableName.parse(name) for name in names}
        except (msgspec.MsgspecError, UnicodeDecodeError, InvalidInput):
            tables = set()
        with self._lock:
            self._tables |= tables
        self.woken.set()

    def tables(self) -> set[TableName]:
        """Those that were named since the last call."""
        with self._lock:
            found, self._tables = self._tables, set()
        return found


class WatcherOutput:
    """Messages on standard output, whole lines from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def say(self, message: watch.ProbeRound | watch.StartingNotice) -> None:
        """One line. Raises BrokenPipeError."""
        with self._lock:
            sys.stdout.buffer.write(watch.encode(message))
            sys.stdout.buffer.flush()

    def starting(self, what: str) -> None:
        """Something has to start before tables are read."""
        with contextlib.suppress(BrokenPipeError):  # the rounds notice it
            self.say(watch.StartingNotice(what))


def main() -> None:
    """Run until the parent goes."""
    parser = argparse.ArgumentParser(prog="limnograph-watcher")
    parser.add_argument("--config", required=True)
    arguments = parser.parse_args()
    configure("plain")
    asked = LookRequest()
    _die_with_parent(asked)
    said = WatcherOutput()
    rounds = watcher(load(arguments.config), WINDOW, asked.tables, said.starting)
    while True:
        started = time.monotonic()
        asked.woken.clear()
        for message in rounds.round():
            said.say(msgspec.structs.replace(message, cpu_s=round(time.process_time() + parsers_cpu_seconds(), 2)))
        rest(PAUSE_S, time.monotonic() - started, asked.woken)


def rest(pause: float, took: float, woken: threading.Event) -> None:
    """Wait for the next round, or until a notification that a table changed. Seconds. Even with a flood of those, the
    pause is as long as the round.
    """
    begin, longest = time.monotonic(), max(SHORTEST_REST_S, pause - took)
    if woken.wait(longest):
        least = min(max(SHORTEST_REST_S, took), longest)
        time.sleep(max(0.0, least - (time.monotonic() - begin)))


def _die_with_parent(asked: LookRequest) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the group: the server decides
    threading.Thread(target=_follow_input, args=(asked,), daemon=True).start()


def _follow_input(asked: LookRequest) -> None:
    """Every line on standard input wakes; its end is that of the parent."""
    for line in sys.stdin.buffer:
        asked.read(line)
    os._exit(0)


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:
        os._exit(0)
