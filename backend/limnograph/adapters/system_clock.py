"""The machine's clock as port Clock."""

from __future__ import annotations

import time


class SystemClock:
    """Wall-clock time, UTC."""

    def now(self) -> int:
        """Epoch microseconds."""
        return time.time_ns() // 1000
