"""The watcher's process: rounds without end, one JSON message a line on stdout. `serve` starts, wakes and ends it.

It dies with its parent: standard input closes when the parent is gone, and on Linux the kernel kills it too.
"""

from __future__ import annotations

import argparse
import ctypes
import logging
import os
import signal
import sys
import threading
import time

from limnograph.domain import watch
from limnograph.jobs.logs import configure
from limnograph.services.hot import WINDOW
from limnograph.settings import Settings, load
from limnograph.wiring.server import watcher

_PR_SET_PDEATHSIG = 1
SHORTEST_REST_S = 0.05
_log = logging.getLogger("limnograph.watcher")


def interval_s(settings: Settings) -> float:
    """A second where one query probes all tables of a catalog, else 15."""
    return 1.0 if all(c.get("type") == "sql" for c in settings.catalogs.values()) else 15.0


def main() -> None:
    """Run until the parent goes."""
    parser = argparse.ArgumentParser(prog="limnograph-watcher")
    parser.add_argument("--config", required=True)
    arguments = parser.parse_args()
    configure("plain")
    woken = threading.Event()
    _die_with_parent(woken)
    settings = load(arguments.config)
    rounds, pause = watcher(settings, WINDOW), interval_s(settings)
    while True:
        started = time.monotonic()
        woken.clear()
        for message in rounds.round():
            sys.stdout.buffer.write(watch.encode(message))
            sys.stdout.buffer.flush()
        rest(pause, time.monotonic() - started, woken)


def rest(pause: float, took: float, woken: threading.Event) -> None:
    """Wait for the next round, or until somebody says that a table moved. Seconds. A flood of those still leaves as
    much rest as the round took.
    """
    begin, longest = time.monotonic(), max(SHORTEST_REST_S, pause - took)
    if woken.wait(longest):
        least = min(max(SHORTEST_REST_S, took), longest)
        time.sleep(max(0.0, least - (time.monotonic() - begin)))


def _die_with_parent(woken: threading.Event) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the group: the server decides
    threading.Thread(target=_follow_input, args=(woken,), daemon=True).start()


def _follow_input(woken: threading.Event) -> None:
    """Anything on standard input wakes; its end is that of the parent."""
    while os.read(sys.stdin.fileno(), 4096):
        woken.set()
    os._exit(0)


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:
        os._exit(0)
