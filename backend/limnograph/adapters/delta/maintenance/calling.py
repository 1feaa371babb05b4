"""Calls of deltalake, each in a process of its own that is killed when the call is cancelled."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable

import msgspec

from limnograph.adapters.delta.maintenance.worker import UNSAFE, DeltaCall, DeltaResult
from limnograph.domain.errors import (
    ActionCancelled,
    ActionConflict,
    InvalidInput,
    NotFound,
    SourceRejected,
    SourceUnavailable,
)

SOURCE = "delta"
LOOK_S = 0.5
"""Interval between two looks at whether a call was cancelled, seconds."""
_COMMAND = (sys.executable, "-m", "limnograph.adapters.delta.maintenance.worker")
_LONGEST = 400


def call_library(call: DeltaCall, cancelled: Callable[[], bool]) -> DeltaResult:
    """Perform a call. Raises ActionCancelled, ActionConflict, NotFound, InvalidInput, SourceError."""
    environment = {name: value for name, value in os.environ.items() if name not in UNSAFE}
    process = subprocess.Popen(
        _COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
    )
    try:
        assert process.stdin is not None  # noqa: S101 - for the type checker
        _write(process, msgspec.json.encode(call) + b"\n")
        while True:
            try:
                process.wait(LOOK_S)
                break
            except subprocess.TimeoutExpired:
                if cancelled():
                    raise ActionCancelled(f"{call.do} of a Delta table was cancelled") from None
        assert process.stdout is not None  # noqa: S101
        return _checked(process.stdout.read(), process.returncode)
    finally:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()


def _write(process: subprocess.Popen[bytes], line: bytes) -> None:
    """The pipe stays open: its end would tell the process that this one is gone."""
    try:
        assert process.stdin is not None  # noqa: S101
        process.stdin.write(line)
        process.stdin.flush()
    except BrokenPipeError:
        return  # its exit code tells


def _checked(answer: bytes, code: int | None) -> DeltaResult:
    try:
        result = msgspec.json.decode(answer, type=DeltaResult)
    except msgspec.DecodeError:
        raise SourceUnavailable(SOURCE, f"deltalake's process ended with code {code}") from None
    text = " ".join(result.text.split())[:_LONGEST]
    match result.problem:
        case None:
            return result
        case "conflict":
            raise ActionConflict(f"another writer committed first: {text}")
        case "missing":
            raise NotFound(text)
        case "protocol":
            raise InvalidInput("table", f"is not supported by deltalake: {text}")
        case "store":
            raise SourceUnavailable(SOURCE, text)
        case _:
            raise SourceRejected(SOURCE, text)
