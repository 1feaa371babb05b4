"""The watcher's process: rounds without end, one JSON message a line on stdout. `serve` starts it and ends it.

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
    _die_with_parent()
    settings = load(arguments.config)
    rounds, pause = watcher(settings, WINDOW), interval_s(settings)
    while True:
        started = time.monotonic()
        for message in rounds.round():
            sys.stdout.buffer.write(watch.encode(message))
            sys.stdout.buffer.flush()
        time.sleep(max(0.05, pause - (time.monotonic() - started)))


def _die_with_parent() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the group: the server decides
    threading.Thread(target=_wait_for_end_of_input, daemon=True).start()


def _wait_for_end_of_input() -> None:
    while sys.stdin.buffer.read(4096):
        pass
    os._exit(0)


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:
        os._exit(0)
