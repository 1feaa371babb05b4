"""The pipes of a started child process, and the name of the signal that ended it."""

from __future__ import annotations

import os
import signal
import subprocess
from typing import IO

from limnograph.domain.errors import SourceUnavailable


def open_pipes(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes], IO[bytes]]:
    """Standard input, output and error, all non-blocking. Raises SourceUnavailable."""
    stdin, stdout, stderr = process.stdin, process.stdout, process.stderr
    if stdin is None or stdout is None or stderr is None:
        raise SourceUnavailable("parser", "the child process has no pipes")
    for pipe in (stdin, stdout, stderr):
        os.set_blocking(pipe.fileno(), False)
    return stdin, stdout, stderr


def signal_name(number: int) -> str:
    """`SIGKILL`, or the number of a signal without a name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
