"""Counters of the page cache, which any thread may increment."""

from __future__ import annotations

import threading


class PageCounts:
    """Counters of the page cache. Thread-safe: `hits` is guarded by `_lock`; the other numbers are changed on the event
    loop only.
    """

    def __init__(self) -> None:
        self.kept = self.bytes = self.hits = self.stale = self.shared = self.computed = 0
        self._lock = threading.Lock()

    def hit(self) -> None:
        """Count a cached page that was sent. Callable from any thread."""
        with self._lock:
            self.hits += 1

    def told(self) -> dict[str, float]:
        """The counters by their names in SERVER_METRICS."""
        return {
            "limnograph_pages_kept": self.kept,
            "limnograph_pages_bytes": self.bytes,
            "limnograph_page_hits_total": self.hits,
            "limnograph_page_stale_total": self.stale,
            "limnograph_page_shared_total": self.shared,
            "limnograph_page_computed_total": self.computed,
        }
