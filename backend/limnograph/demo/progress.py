"""Progress of long steps: lines on stderr with the time since the start."""

from __future__ import annotations

import sys
import threading
import time


class Progress:
    """Prints `[ 12.3 s] sentence`; safe to use from several threads."""

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._lock = threading.Lock()

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._start

    def say(self, sentence: str) -> None:
        """Print one line immediately."""
        with self._lock:
            sys.stderr.write(f"[{self.seconds:6.1f} s] {sentence}\n")
            sys.stderr.flush()
