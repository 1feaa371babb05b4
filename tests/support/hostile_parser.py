"""A parser's process for tests whose reader does something terrible to tables that are named for it, and only those.

`odd_<fault>` suffers at its manifests, `bad_<fault>` at its metadata already; all others are read as ever.
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path

from limnograph.adapters.sandbox.board import ProgressBoard
from limnograph.adapters.sandbox.frames import framed
from limnograph.adapters.sandbox.messages import StorageAccess
from limnograph.adapters.sandbox.serving import serve
from limnograph.domain.metadata.content import Reading, Want
from limnograph.domain.metadata.table import Snapshot, TableMetadata
from limnograph.ports.storage import Storage
from limnograph.ports.table_reader import TableReader
from limnograph.wiring.formats import Format, iceberg
from limnograph.wiring.parsing import TableParser

COMMAND = (sys.executable, "-P", __file__)


class Panic(BaseException):
    """As native libraries raise it."""


def segfault() -> None:
    ctypes.string_at(0)


def loop() -> None:
    while True:
        pass


def native_loop() -> None:
    """Holds the interpreter's lock, so that no thread of the child gets a word in."""
    re.match("(a+)+$", "a" * 64 + "b")


def two_gigabytes() -> None:
    bytearray(2 << 30)


def grow() -> None:
    """Below the limit of the address space, above that of resident memory."""
    held = []
    while True:
        held.append(b"x" * (8 << 20))
        time.sleep(0 if len(held) < 90 else 0.05)


def leave() -> None:
    sys.exit(0)


def leave_at_once() -> None:
    os._exit(0)


def panic() -> None:
    raise Panic("called `Option::unwrap()` on a `None` value")


def recurse() -> None:
    recurse()


def garbage() -> None:
    """On every pipe that it has, the one for answers among them; then silence."""
    _on_all_pipes(b"\xff" * 64)
    time.sleep(3600)


def nonsense() -> None:
    """A frame that is one, and says nothing."""
    _on_all_pipes(framed(b'{"type":"Done","spent":"perhaps"}'))
    time.sleep(3600)


def flood() -> None:
    """Nobody reads so much, and it must not hold us up either."""
    for _ in range(200):
        os.write(2, b"x" * 65_536)
    sys.exit(1)


def print_much() -> None:
    """Output of a library is no answer."""
    os.write(1, b"progress: 100%\n" * 1000)


def sleep() -> None:
    time.sleep(3600)


def _on_all_pipes(what: bytes) -> None:
    for descriptor in range(3, 64):
        try:
            if "pipe" in Path(f"/proc/self/fd/{descriptor}").readlink().name:
                os.write(descriptor, what)
        except OSError:
            continue


FAULTS: dict[str, Callable[[], None]] = {
    fault.__name__: fault
    for fault in (
        *(segfault, loop, native_loop, two_gigabytes, grow, leave, leave_at_once),
        *(panic, recurse, garbage, nonsense, flood, print_much, sleep),
    )
}


class Hostile:
    """The real reader, but for tables that are named for a fault."""

    def __init__(self, real: TableReader) -> None:
        self._real = real

    def metadata(self, location: str) -> TableMetadata:
        suffer("bad", location)
        return self._real.metadata(location)

    def read(self, metadata: TableMetadata, snapshot: Snapshot, want: Want) -> Reading:
        suffer("odd", metadata.metadata_location)
        return self._real.read(metadata, snapshot, want)


def suffer(when: str, location: str) -> None:
    named = re.search(rf"/{when}_(\w+?)/", location)
    if named:
        FAULTS[named[1]]()


def hostile() -> Format:
    """Iceberg's reader with faults."""
    real = iceberg()

    def reader(storage: Storage, access: StorageAccess) -> TableReader:
        return Hostile(real.reader(storage, access))

    return Format(reader, real.newest)


def answers(access: StorageAccess, board: ProgressBoard) -> TableParser:
    return TableParser(access, board, {"iceberg": hostile})


if __name__ == "__main__":
    serve(answers, iceberg)
