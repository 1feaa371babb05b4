"""Port Clock: the machine's."""

from __future__ import annotations

import time


class SystemClock:
    """Wall-clock time, UTC."""

    def now(self) -> int:
        return time.time_ns() // 1000
