"""A Python that starts in milliseconds: a process that has imported already what its programs import, and that forks
for each start of one. To whoever starts it, it is an interpreter like any other: same arguments, streams, environment
and exit status, and death by a signal is death by that signal.

For programs that start again and again in a test: to import PySpark, PyArrow and PyIceberg takes each a second or two.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

SUPPORT = Path(__file__).parent


@contextmanager
def warm_python(folder: Path, modules: Sequence[str]) -> Iterator[Path]:
    """The interpreter, until the end of the block. `modules`: imported before it starts anything."""
    address, python = folder / "warm.sock", folder / "warm-python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -ISE {SUPPORT / "warm_start.py"} {address} "$@"\n')
    python.chmod(0o700)
    command = [sys.executable, str(SUPPORT / "warm_server.py"), str(address), *modules]
    # Without the threads that PyArrow's allocator and OpenBLAS start when they load: whoever forks has one thread.
    single = {"JE_ARROW_MALLOC_CONF": "background_thread:false", "OPENBLAS_NUM_THREADS": "1"}
    environment = {**os.environ, **single}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=environment) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            assert server.stdout.readline() == "ready\n", "its modules cannot be imported, or start a thread"
            yield python
        finally:
            server.stdin.close()
            server.wait(60)
