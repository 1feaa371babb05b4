"""The parent's side of one child: started once, asked many times, killed when it hangs, grows or talks nonsense."""

from __future__ import annotations

import contextlib
import logging
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO

import msgspec

from limnograph.adapters.sandbox.board import Board, shared_page
from limnograph.adapters.sandbox.frames import Incoming, framed
from limnograph.adapters.sandbox.messages import (
    Access,
    Ask,
    Failed,
    Part,
    Question,
    Ready,
    Setup,
    Told,
    decode_told,
    encode,
    raised,
)
from limnograph.adapters.sandbox.spawn import start, store_environment
from limnograph.domain.errors import LimnographError, MetadataError, SourceTimeout, SourceUnavailable

RESIDENT_BYTES = 512 << 20
FRAME_BYTES = 128 << 20
ANSWER_BYTES = 256 << 20
START_SECONDS = 60.0
STORAGE_SECONDS = 30.0
"""For one file or listing, whatever the deadline of the question."""
_LOOK_SECONDS = 0.05
_PIECE = 1 << 16
_SAID_BYTES = 4096
"""What a child says on standard error reaches our log up to here, for each question."""
_log = logging.getLogger("limnograph.sandbox")


class Child:
    """One process, for one thread at a time. `served`: questions it answered; `spent`: it is not to be asked again.
    `cache_dir`: for what can be rebuilt; empty: none.

    Raises SourceUnavailable when it does not start.
    """

    def __init__(self, command: Sequence[str] = (), cache_dir: str = "") -> None:
        self.served, self.spent = 0, False
        self._access: Access | None = None
        self._said, self._last_words = bytearray(), "it says nothing"
        self._incoming = Incoming(FRAME_BYTES)
        self._seconds, self._deadline = START_SECONDS, time.monotonic() + START_SECONDS
        self._looked = 0.0
        with shared_page() as page:
            self._board = Board(page)
            self._process = start(command, page, cache_dir)
        self._in, self._out, self._err = _pipes(self._process)
        self._selector = selectors.DefaultSelector()
        for pipe in (self._out, self._err):
            self._selector.register(pipe, selectors.EVENT_READ)
        self._start()

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def ask(self, access: Access, question: Question, seconds: float) -> list[msgspec.Raw]:
        """Parts of the answer. Raises what the child tells; where it fails itself MetadataError (`parser_crashed`,
        `memory_exceeded`, `deadline_exceeded`) or, while it waits for storage, SourceTimeout, and it is `spent`.
        """
        request = framed(encode(Ask(seconds, question)))
        if access != self._access:
            request = framed(encode(Setup(access, store_environment()))) + request
            self._access = access
        self._seconds, self._deadline = seconds, time.monotonic() + seconds
        parts: list[msgspec.Raw] = []
        told = self._exchange(request)
        while isinstance(told, Part):
            parts.append(told.body)
            if sum(len(memoryview(part)) for part in parts) > ANSWER_BYTES:
                raise self._ended("parser_crashed", f"an answer of more than {ANSWER_BYTES} bytes")
            told = self._exchange(b"")
        self.served += 1
        self._tell()
        if isinstance(told, Ready):
            raise self._ended("parser_crashed", "an answer that is none")
        self.spent = told.spent
        if isinstance(told, Failed):
            raise raised(told)
        return parts

    def resident_bytes(self) -> int:
        """Memory it holds now; 0 where the system does not say."""
        try:
            pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        except (OSError, ValueError, IndexError):
            return 0
        return pages * os.sysconf("SC_PAGE_SIZE")

    def close(self) -> None:
        """End it, whatever it is doing."""
        self.spent = True
        self._process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(5)
        self._selector.close()
        for pipe in (self._in, self._out, self._err):
            with contextlib.suppress(OSError):
                pipe.close()

    def _start(self) -> None:
        try:
            ready = isinstance(self._exchange(b""), Ready)
        except LimnographError:
            ready = False
        if not ready:
            self.close()
            raise SourceUnavailable("parser", f"the child process does not start: {self._last_words}")

    def _exchange(self, frame: bytes) -> Told:
        """Send all of `frame`, wait for the next message."""
        left = memoryview(frame)
        while left or (body := self._incoming.next()) is None:
            self._watch()
            left = self._move(left)
        try:
            return decode_told(body)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise self._ended("parser_crashed", "an answer that is none") from error

    def _watch(self) -> None:
        """Raises when the deadline has passed or the child has grown too large."""
        now = time.monotonic()
        if now > self._deadline:
            raise self._late(self._seconds)
        if now - self._looked > _LOOK_SECONDS:
            self._looked = now
            if self.resident_bytes() > RESIDENT_BYTES:
                raise self._ended("memory_exceeded", f"more than {RESIDENT_BYTES >> 20} MB of memory")
            if (self._board.waits_for_storage() or 0.0) > STORAGE_SECONDS:
                raise self._late(STORAGE_SECONDS)

    def _move(self, left: memoryview) -> memoryview:
        """Wait a little for any pipe and move what it takes or gives; what is left to send."""
        if left:
            self._selector.register(self._in, selectors.EVENT_WRITE)
        try:
            events = self._selector.select(min(_LOOK_SECONDS, max(0.0, self._deadline - time.monotonic())))
        finally:
            if left:
                self._selector.unregister(self._in)
        for key, _ in events:
            if key.fileobj is self._in:
                left = self._write(left)
            elif key.fileobj is self._err:
                self._hear()
            else:
                self._read()
        return left

    def _write(self, left: memoryview) -> memoryview:
        try:
            return left[os.write(self._in.fileno(), left[:_PIECE]) :]
        except BlockingIOError:
            return left
        except OSError as error:
            raise self._crashed() from error

    def _read(self) -> None:
        try:
            piece = os.read(self._out.fileno(), _PIECE)
        except BlockingIOError:
            return
        if not piece:
            raise self._crashed()
        try:
            self._incoming.feed(piece)
        except ValueError as error:
            raise self._ended("parser_crashed", str(error)) from error

    def _hear(self) -> None:
        """Keep the beginning of what it says, throw the rest away: a full pipe would hold it up."""
        with contextlib.suppress(BlockingIOError):
            heard = os.read(self._err.fileno(), _PIECE)
            self._said += heard[: _SAID_BYTES - len(self._said)]
            if not heard:
                self._selector.unregister(self._err)

    def _tell(self) -> None:
        for line in filter(None, self._said.decode("utf-8", "replace").splitlines()):
            self._last_words = line
            _log.info("parser %d: %s", self.pid, line)
        self._said.clear()

    def _late(self, seconds: float) -> MetadataError | SourceTimeout:
        waited, location = self._board.waits_for_storage(), self._board.location()
        late = self._ended("deadline_exceeded", f"no answer within {seconds:.3g} seconds")
        if waited is None:
            return late
        return SourceTimeout("storage", f"{location} was not read within {waited:.3g} seconds")

    def _crashed(self) -> MetadataError:
        """Standard output closed: the process is gone, or will be."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(0.5)
        with contextlib.suppress(KeyError, OSError):
            self._hear()  # its last words may have come after its end was seen
        code = self._process.returncode
        how = f"ended with status {code}" if code is None or code >= 0 else f"ended by {_signal(-code)}"
        return self._ended("parser_crashed", f"the parser {how}")

    def _ended(self, code: str, reason: str) -> MetadataError:
        """End the child; the error that says why."""
        location = self._board.location()
        self._tell()
        self.close()
        return MetadataError(code, f"{reason}, at {location}" if location else reason)


def _pipes(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes], IO[bytes]]:
    stdin, stdout, stderr = process.stdin, process.stdout, process.stderr
    if stdin is None or stdout is None or stderr is None:
        raise SourceUnavailable("parser", "the child process has no pipes")
    for pipe in (stdin, stdout, stderr):
        os.set_blocking(pipe.fileno(), False)
    return stdin, stdout, stderr


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
