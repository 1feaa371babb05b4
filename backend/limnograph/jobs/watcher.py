"""The watcher process: probes in rounds and writes one JSON message per line to stdout. `serve` starts, wakes and ends
it.

It ends with its parent: standard input closes when the parent exits, and on Linux the kernel also kills it.
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
"""Time between the starts of two rounds, and the shortest pause. The budget bounds the requests of a round."""
_log = logging.getLogger("limnograph.watcher")


class LookRequest:
    """Requests on standard input: start a round now, and probe these tables first."""

    def __init__(self) -> None:
        self.woken = threading.Event()
        self._lock, self._tables = threading.Lock(), set[TableName]()

    def read(self, line: bytes) -> None:
        """Read a line, which is empty or contains names of tables as JSON. Anything else acts like an empty line."""
        try:
            names = msgspec.json.decode(line, type=list[str]) if line.strip() else []
            tables = {TableName.parse(name) for name in names}
        except (msgspec.MsgspecError, UnicodeDecodeError, InvalidInput):
            tables = set()
        with self._lock:
            self._tables |= tables
        self.woken.set()

    def tables(self) -> set[TableName]:
        """Tables that were named since the last call."""
        with self._lock:
            found, self._tables = self._tables, set()
        return found


class WatcherOutput:
    """Writes messages to standard output, as whole lines from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def say(self, message: watch.ProbeRound | watch.StartingNotice) -> None:
        """Write one message. Raises BrokenPipeError."""
        with self._lock:
            sys.stdout.buffer.write(watch.encode(message))
            sys.stdout.buffer.flush()

    def starting(self, what: str) -> None:
        """Report that something must start before tables are read."""
        with contextlib.suppress(BrokenPipeError):  # the next round detects it
            self.say(watch.StartingNotice(what))


def main() -> None:
    """Run until the parent exits."""
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
    """Wait for the next round, or until a notification wakes the watcher. Even if notifications flood in, the pause is
    at least as long as the round `took`. Seconds.
    """
    begin, longest = time.monotonic(), max(SHORTEST_REST_S, pause - took)
    if woken.wait(longest):
        least = min(max(SHORTEST_REST_S, took), longest)
        time.sleep(max(0.0, least - (time.monotonic() - begin)))


def _die_with_parent(asked: LookRequest) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the group; the server decides
    threading.Thread(target=_follow_input, args=(asked,), daemon=True).start()


def _follow_input(asked: LookRequest) -> None:
    """Every line on standard input wakes the watcher; end of input means that the parent has exited."""
    for line in sys.stdin.buffer:
        asked.read(line)
    os._exit(0)


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:
        os._exit(0)
