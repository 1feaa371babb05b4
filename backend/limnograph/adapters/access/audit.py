"""Port AuditLog: JSON lines in a file that only its owner can read. One older generation is kept."""

from __future__ import annotations

import logging
import os
import threading
from pathlib import Path

import msgspec

from limnograph.adapters import private_files
from limnograph.domain.access import AuditEvent

LARGEST = 64 * 1024 * 1024
_log = logging.getLogger("limnograph.access")


class AuditFile:
    """Appends whole lines, so that several processes can share a file. Thread-safe."""

    def __init__(self, path: Path, largest: int = LARGEST) -> None:
        self._path, self._largest = path, largest
        self._lock, self._checked = threading.Lock(), False

    def write(self, event: AuditEvent) -> None:
        line = msgspec.json.encode(event) + b"\n"
        try:
            with self._lock:
                self._append(line)
        except OSError as error:
            _log.warning("audit log %s: %s; the event was: %s", self._path, error.strerror, line.decode().strip())

    def _append(self, line: bytes) -> None:
        if not self._checked or not self._path.exists():
            private_files.make_folder(self._path.parent)
            private_files.make_file(self._path)
            self._checked = True
        handle = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, private_files.FILE)
        try:
            os.write(handle, line)
            size = os.fstat(handle).st_size
        finally:
            os.close(handle)
        if size > self._largest:
            self._path.replace(self._path.with_name(self._path.name + ".1"))
