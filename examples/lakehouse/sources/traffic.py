"""Traffic of now: orders in the shop and clicks in the log, at a steady rate, until it is stopped."""

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from lakehouse.sources.clicks import append_clicks
from lakehouse.sources.shop import Shop

TURN_S = 0.2
CLICKS_A_TURN = 4
"""Twenty clicks and five operations of the shop a second."""


class Traffic:
    """A thread that buys and clicks while the block lasts. The shop and the log belong to that thread meanwhile."""

    def __init__(self, shop: Shop, log: Path, customers: int, users: int) -> None:
        self._shop, self._log = shop, log
        self._customers, self._users = customers, users
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._work, name="traffic")
        self._failed: Any = None
        self.operations = 0
        """Operations of the shop so far."""
        self.clicks = 0
        """Lines of the log so far."""

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        if kind is None and self._failed is not None:
            raise self._failed

    def _work(self) -> None:
        try:
            while not self._ended.wait(TURN_S):
                self._shop.trade(1, self._customers)
                now = datetime.now(UTC)
                self.clicks = append_clicks(
                    self._log, CLICKS_A_TURN, self._users, now, seed=time.time_ns() // 1_000_000, step_s=0
                )
                self.operations += 1
        except Exception as error:  # noqa: BLE001 - raised where the block ends
            self._failed = error
