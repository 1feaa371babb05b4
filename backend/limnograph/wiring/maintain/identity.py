"""Who this executor is: a name that outlives its process, held by a lock that ends with it.

A process that was killed leaves leases. The next one in the same state folder takes its name, because only then the
lock is free, and waits until the JVM of its predecessor has ended, which might still commit. If that does not end, it
takes a new name, and waits for the leases like any other executor.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import time
from pathlib import Path
from types import TracebackType
from typing import Self
from uuid import uuid4

import msgspec

from limnograph.adapters import private_files

LONGEST_S = 60.0
"""How long the JVM of a predecessor is waited for, seconds."""
_POLL_S = 0.2


class ExecutorRecord(msgspec.Struct, frozen=True):
    """Content of the lock file. `jvm`: process id; `jvm_started`: its start, in ticks since the machine's."""

    executor_id: str
    jvm: int | None = None
    jvm_started: int | None = None


class ExecutorIdentity:
    """Used by one thread. A context manager: holds the lock of the state folder, if no other executor has it; then this
    one has a name for its own process only.
    """

    def __init__(self, folder: Path, longest_s: float = LONGEST_S) -> None:
        self._longest_s = longest_s
        self._file = folder / "maintain.lock"
        self._folder = folder
        self._handle: int | None = None
        self._record = ExecutorRecord(_fresh())

    @property
    def executor_id(self) -> str:
        """The name."""
        return self._record.executor_id

    def __enter__(self) -> Self:
        private_files.make_folder(self._folder)
        handle = os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(handle)
            return self
        self._handle = handle
        found = _decoded(os.pread(handle, 4_096, 0))
        if found is not None and _has_ended(found, self._longest_s):
            self._record = ExecutorRecord(found.executor_id)
        self._write()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def has_jvm(self, process: int | None) -> None:
        """Note the JVM that acts for this executor. None: one that others started, such as that of spark-submit."""
        self._record = ExecutorRecord(self.executor_id, process, _started(process))
        self._write()

    def _write(self) -> None:
        if self._handle is not None:
            content = msgspec.json.encode(self._record)
            os.pwrite(self._handle, content, 0)
            os.ftruncate(self._handle, len(content))
            os.fsync(self._handle)


def _fresh() -> str:
    return f"{socket.gethostname()[:64]}-{uuid4().hex[:12]}"


def _decoded(content: bytes) -> ExecutorRecord | None:
    with contextlib.suppress(msgspec.MsgspecError):
        return msgspec.json.decode(content, type=ExecutorRecord)
    return None


def _started(process: int | None) -> int | None:
    """Start of a process; None: it has ended, or the system does not say."""
    if process is None:
        return None
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        return None if fields[0] in {"Z", "X"} else int(fields[19])
    except (OSError, IndexError, ValueError):
        return None


def _has_ended(record: ExecutorRecord, longest_s: float) -> bool:
    """Whether the JVM of a predecessor ends in time. It ends by itself when its driver does."""
    end_at = time.monotonic() + longest_s
    while record.jvm_started is not None and _started(record.jvm) == record.jvm_started:
        if time.monotonic() >= end_at:
            return False
        time.sleep(_POLL_S)
    return True
