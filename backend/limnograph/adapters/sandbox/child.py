"""The parent's side of one child process: started once, reused, killed if it hangs, grows or misbehaves."""

from __future__ import annotations

import contextlib
import logging
import os
import selectors
import subprocess
import time
from collections.abc import Callable, Sequence

import msgspec

from limnograph.adapters.avro.turns import WAITING
from limnograph.adapters.processor_time import OwnTime, resident_bytes
from limnograph.adapters.sandbox.board import ProgressBoard, shared_page
from limnograph.adapters.sandbox.confine import LATE
from limnograph.adapters.sandbox.frames import FrameReader, framed
from limnograph.adapters.sandbox.limits import (
    ANSWER_BYTES,
    FRAME_BYTES,
    RESIDENT_BYTES,
    STORAGE_SECONDS,
    hangs_at_start,
    is_late,
)
from limnograph.adapters.sandbox.messages import (
    AnswerPart,
    Ask,
    FailedAnswer,
    ParserMessage,
    Question,
    Ready,
    Setup,
    StorageAccess,
    decode_told,
    encode,
    raised,
)
from limnograph.adapters.sandbox.pipes import open_pipes, signal_name
from limnograph.adapters.sandbox.spawn import start, store_environment
from limnograph.adapters.sandbox.starting import StartProgress, ignore_progress
from limnograph.domain.errors import MetadataError, SourceTimeout, SourceUnavailable

_LOOK_SECONDS = 0.05
_PIECE = 1 << 16
_SAID_BYTES = 4096
"""Maximum bytes of a child's standard error to log per request."""
_log = logging.getLogger("limnograph.sandbox")


class ParserChild:
    """One process, for one thread at a time.

    served     requests it responded to
    spent      it must not be used again
    cache_dir  for rebuildable data; empty: none
    starting   called with the phases of a slow start

    Raises SourceUnavailable if it does not start.
    """

    def __init__(
        self, command: Sequence[str] = (), cache_dir: str = "", starting: Callable[[str], None] = ignore_progress
    ) -> None:
        self.served, self.spent = 0, False
        self._access: StorageAccess | None = None
        self._said, self._last_words = bytearray(), "no output"
        self._incoming = FrameReader(FRAME_BYTES)
        self._starting: StartProgress | None = StartProgress(starting)
        self._seconds = self._looked = 0.0
        self._reading: tuple[float | None, float] = (None, 0.0)
        with shared_page() as page:
            self._board = ProgressBoard(page)
            self._process = start(command, page, cache_dir)
        self._own = OwnTime(self._process.pid)
        self._in, self._out, self._err = open_pipes(self._process)
        self._selector = selectors.DefaultSelector()
        for pipe in (self._out, self._err):
            self._selector.register(pipe, selectors.EVENT_READ)
        self._start()

    @property
    def pid(self) -> int:
        """Process id."""
        return self._process.pid

    @property
    def own_seconds(self) -> float:
        """Own time of the last request."""
        return self._own.spent

    @property
    def cpu_seconds(self) -> float:
        """Processor time since its start."""
        self._own.look()
        return self._own.cpu

    def ask(self, access: StorageAccess, question: Question, seconds: float) -> list[msgspec.Raw]:
        """Parts of the response. Raises the child's error. If the child itself fails, it is `spent`, and this raises
        MetadataError (`parser_crashed`, `memory_exceeded`, `deadline_exceeded`) or, if it was waiting for storage,
        SourceTimeout. `seconds`: limit on its own time, see OwnTime.
        """
        request = framed(encode(Ask(seconds, question)))
        if access != self._access:
            request = framed(encode(Setup(access, store_environment()))) + request
            self._access = access
        self._seconds = seconds
        self._own.begin()
        parts: list[msgspec.Raw] = []
        told = self._exchange(request)
        while isinstance(told, AnswerPart):
            parts.append(told.body)
            if sum(len(memoryview(part)) for part in parts) > ANSWER_BYTES:
                raise self._ended("parser_crashed", f"a response of more than {ANSWER_BYTES} bytes")
            told = self._exchange(b"")
        self.served += 1
        self._tell()
        if isinstance(told, Ready):
            raise self._ended("parser_crashed", "an answer that is none")
        self.spent = told.spent
        if isinstance(told, FailedAnswer):
            raise raised(told)
        return parts

    def resident_bytes(self) -> int:
        """Resident memory; 0 if the system does not report it."""
        return resident_bytes(self.pid)

    def close(self) -> None:
        """Kill the process, whatever it is doing."""
        self.spent = True
        self._process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(5)
        self._selector.close()
        for pipe in (self._in, self._out, self._err):
            with contextlib.suppress(OSError):
                pipe.close()

    def _start(self) -> None:
        why = ""
        try:
            ready = isinstance(self._exchange(b""), Ready)
        except MetadataError as error:
            ready, why = False, f" ({error.detail})"
        if not ready:
            self.close()
            raise SourceUnavailable("parser", f"the child process did not start{why}: {self._last_words}")
        self._own.look()
        if self._starting:
            self._starting.ready(self._own.cpu)
        self._starting = None

    def _exchange(self, frame: bytes) -> ParserMessage:
        """Send all of `frame` and wait for the next message."""
        left = memoryview(frame)
        while left or (body := self._incoming.next()) is None:
            self._watch()
            left = self._move(left)
        try:
            return decode_told(body)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise self._ended("parser_crashed", "an answer that is none") from error

    def _watch(self) -> None:
        """Raise if the child has taken too long or grown too large."""
        now = time.monotonic()
        if now - self._looked <= _LOOK_SECONDS:
            return
        self._looked = now
        self._own.look()
        if self._starting:
            self._watch_start(self._starting)
        elif is_late(self._own, self._seconds):
            raise self._late(self._seconds)
        elif self._read_for() > STORAGE_SECONDS:
            raise self._late(STORAGE_SECONDS)
        if self.resident_bytes() > RESIDENT_BYTES:
            raise self._ended("memory_exceeded", f"more than {RESIDENT_BYTES >> 20} MB of memory")

    def _watch_start(self, starting: StartProgress) -> None:
        phase = self._board.phase() or "loading"
        starting.look(phase, self._own.cpu)
        if phase == WAITING:
            self._own.wait()
        if why := hangs_at_start(self._own):
            raise self._ended("parser_crashed", why)

    def _read_for(self) -> float:
        """Own time since it began to wait for a response from storage; 0 if it does not wait."""
        since = self._board.read_since()
        if since is None or since != self._reading[0]:
            self._reading = (since, self._own.spent)
        return self._own.spent - self._reading[1]

    def _move(self, left: memoryview) -> memoryview:
        """Wait briefly for any pipe and transfer data; returns the data left to send."""
        if left:
            self._selector.register(self._in, selectors.EVENT_WRITE)
        try:
            events = self._selector.select(_LOOK_SECONDS)
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
        """Keep the beginning of its standard error and discard the rest: a full pipe would block it."""
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
        reads, location = self._board.read_since() is not None, self._board.location()
        late = self._ended("deadline_exceeded", f"no answer within {seconds:.3g} seconds of its own")
        if not reads:
            return late
        return SourceTimeout("storage", f"{location} could not be read within {self._read_for():.3g} seconds")

    def _crashed(self) -> MetadataError:
        """Standard output is closed: the process has exited, or will."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(0.5)
        with contextlib.suppress(KeyError, OSError):
            self._hear()  # its last output may arrive after its exit was noticed
        code = self._process.returncode
        if code == -LATE:
            return self._ended("deadline_exceeded", f"no answer within {self._seconds:.3g} seconds of its own")
        how = f"ended with status {code}" if code is None or code >= 0 else f"ended by {signal_name(-code)}"
        return self._ended("parser_crashed", f"the parser {how}")

    def _ended(self, code: str, reason: str) -> MetadataError:
        """Kill the child and return the error with the reason."""
        location = self._board.location()
        self._tell()
        self.close()
        return MetadataError(code, f"{reason}, at {location}" if location else reason)
