"""The process behind `warm_python`: imports modules once, then forks for each program that `warm_start.py` asks for.

It has one thread, because a fork copies only the thread that calls it. It exits when its standard input closes.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import runpy
import selectors
import signal
import socket
import struct
import sys
from pathlib import Path
from typing import NamedTuple


class Program(NamedTuple):
    """A module to run as a program of its own."""

    arguments: list[str]
    environment: dict[str, str]
    folder: str

    def run(self, streams: list[int]) -> None:
        """Become that program. Returns or raises as it does."""
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        os.environ.clear()
        os.environ.update(self.environment)
        os.chdir(self.folder)
        sys.argv, sys.path[0] = list(self.arguments), self.folder
        runpy.run_module(self.arguments[0], run_name="__main__", alter_sys=True)


class ForkServer:
    """Forks a process for each request, and sends its exit status to the client when the process ends."""

    def __init__(self, address: str) -> None:
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(address)
        self._listener.listen(64)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._selector.register(0, selectors.EVENT_READ)
        self._waiting: dict[int, socket.socket] = {}
        self._pids: dict[int, int] = {}

    def serve(self) -> tuple[Program, list[int]] | None:
        """In a forked process: the program that it is, with its streams. In the server: nothing, at its end."""
        while True:
            for key, _ in self._selector.select():
                if key.fileobj is self._listener:
                    if (found := self._start()) is not None:
                        return found
                elif key.fd in self._pids:
                    self._report(key.fd)
                elif key.fd == 0:
                    self._abandon(list(self._pids))
                    return None
                else:  # the client was killed
                    self._selector.unregister(key.fileobj)
                    self._abandon([pidfd for pidfd, waiting in self._waiting.items() if waiting is key.fileobj])

    def _start(self) -> tuple[Program, list[int]] | None:
        waiting, _ = self._listener.accept()
        length, streams, *_ = socket.recv_fds(waiting, 4, 3)
        told = waiting.recv(struct.unpack("!I", length)[0], socket.MSG_WAITALL)
        pid = os.fork()
        if pid == 0:
            waiting.close()
            self._close()
            return Program(**json.loads(told)), streams
        for stream in streams:
            os.close(stream)
        pidfd = os.pidfd_open(pid)
        self._pids[pidfd], self._waiting[pidfd] = pid, waiting
        self._selector.register(pidfd, selectors.EVENT_READ)
        self._selector.register(waiting, selectors.EVENT_READ)
        return None

    def _report(self, pidfd: int) -> None:
        _, status = os.waitpid(self._pids.pop(pidfd), 0)
        self._selector.unregister(pidfd)
        os.close(pidfd)
        waiting = self._waiting.pop(pidfd)
        if waiting in self._selector.get_map():
            self._selector.unregister(waiting)
            waiting.sendall(struct.pack("!i", status))
        waiting.close()

    def _abandon(self, pidfds: list[int]) -> None:
        for pidfd in pidfds:
            signal.pidfd_send_signal(pidfd, signal.SIGTERM)

    def _close(self) -> None:
        """A program has no descriptors but its streams."""
        self._selector.close()
        self._listener.close()
        for pidfd, waiting in self._waiting.items():
            os.close(pidfd)
            waiting.close()


def main() -> None:
    """Serve at an address, with modules imported, and in each forked process run its program."""
    address, *modules = sys.argv[1:]
    for module in modules:
        importlib.import_module(module)
    assert len(list(Path("/proc/self/task").iterdir())) == 1, "an imported module has started a thread"
    gc.freeze()
    server = ForkServer(address)
    print("ready", flush=True)
    found = server.serve()
    if found is not None:
        program, streams = found
        program.run(streams)


if __name__ == "__main__":
    main()
