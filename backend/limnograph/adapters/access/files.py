"""Small private files shared by several processes: replaced as a whole under a lock, reread when they change."""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Generic, TypeVar

from limnograph.adapters import private_files
from limnograph.domain.errors import EnvironmentFault

FRESH_S = 0.25
"""Seconds between two checks for changes: well below the one second within which a revocation must apply."""
_T = TypeVar("_T")


class WatchedFile(Generic[_T]):
    """The parsed content of a file that other processes may replace; `empty` when the file does not exist.

    Thread-safe: guarded by `_lock`, which is held while a small local file is read, at most once in FRESH_S.
    """

    def __init__(self, path: Path, parse: Callable[[bytes], _T], empty: _T) -> None:
        self.path, self._parse, self._empty = path, parse, empty
        self._lock = threading.Lock()
        self._looked_at = float("-inf")
        self._stamp: tuple[int, int, int] | None = None
        self._value = empty

    def value(self) -> _T:
        """The content, at most FRESH_S old. Raises what `parse` raises."""
        if time.monotonic() - self._looked_at < FRESH_S:
            return self._value
        with self._lock:
            return self._read()

    def _read(self) -> _T:
        looked_at = time.monotonic()
        try:
            status = self.path.stat()
            stamp = (status.st_mtime_ns, status.st_ino, status.st_size)
            if stamp != self._stamp:
                self._value, self._stamp = self._parse(self.path.read_bytes()), stamp
        except FileNotFoundError:
            self._value, self._stamp = self._empty, None
        self._looked_at = looked_at
        return self._value

    def change(self, make: Callable[[_T], bytes]) -> None:
        """Replace the content with the result of `make`; one process at a time. Raises EnvironmentFault."""
        try:
            with self._lock, _locked(self.path.with_name(self.path.name + ".lock")):
                self._stamp = None
                replace(self.path, make(self._read()))
                self._stamp = None
                self._read()
        except OSError as error:
            raise EnvironmentFault(f"cannot write {self.path}: {error.strerror}") from error


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    private_files.make_folder(path.parent)
    private_files.make_file(path)
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def replace(path: Path, content: bytes) -> None:
    """Replace a private file. A crash or power cut leaves the old or the new content. Raises OSError."""
    private_files.make_folder(path.parent)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        os.fchmod(handle, private_files.FILE)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise


def session_key(path: Path) -> bytes:
    """The key that signs sessions, created at first use. Raises EnvironmentFault."""
    try:
        with _locked(path.with_name(path.name + ".lock")):
            if not path.exists():
                replace(path, secrets.token_bytes(32))
            key = path.read_bytes()
    except OSError as error:
        raise EnvironmentFault(f"cannot store the session key in {path}: {error.strerror}") from error
    if len(key) < 32:
        raise EnvironmentFault(f"{path} is not a session key: it has {len(key)} bytes; delete it to generate a new one")
    return key
