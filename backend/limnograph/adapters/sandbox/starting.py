"""Reports the phases of a slow start of a child process: `parser: compiling, 12 CPU s`."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

QUIET_S = 1.0
"""A warm start is faster and is not reported."""
EVERY_S, LOG_EVERY_S = 5.0, 20.0
_log = logging.getLogger("limnograph.sandbox")


def ignore_progress(_sentence: str) -> None:
    """Discard the reports."""


class StartProgress:
    """One start. `tell` is called with a sentence at every new phase and every five seconds; logs are less frequent."""

    def __init__(self, tell: Callable[[str], None] = ignore_progress) -> None:
        self._tell = tell
        self._next = self._next_log = time.monotonic() + QUIET_S
        self._phase, self._told = "", False

    def look(self, phase: str, cpu_s: float) -> None:
        """Report the phase and the processor seconds used so far."""
        now = time.monotonic()
        if now < self._next and not (self._told and phase != self._phase):
            return
        self._say(f"parser: {phase}, {cpu_s:.0f} CPU s", log=now >= self._next_log or phase != self._phase)
        self._next, self._phase = now + EVERY_S, phase

    def ready(self, cpu_s: float) -> None:
        """Report that the child is ready."""
        if self._told:
            self._say(f"parser: ready, {cpu_s:.1f} CPU s", log=True)

    def _say(self, sentence: str, *, log: bool) -> None:
        self._told = True
        if log:
            self._next_log = time.monotonic() + LOG_EVERY_S
            _log.info("%s", sentence)
        self._tell(sentence)
