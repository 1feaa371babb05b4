"""Port Clock on the system clock."""

from __future__ import annotations

import time

from limnograph.domain.time import Micros


class SystemClock:
    """Wall-clock time, UTC."""

    def now(self) -> Micros:
        return Micros(time.time_ns() // 1000)
