"""When the pipeline last completed a successful pass: a mark in the inbox, which the server can read even after the
pipeline stopped. The meta tables do not contain it: a pass that finds nothing new writes nothing to them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from limnograph.domain.errors import SourceError
from limnograph.domain.time import MICROS_PER_SECOND, Micros
from limnograph.ports.clock import Clock
from limnograph.ports.inbox import PASS_MARK, Backlog, Inbox, InboxItem, item_key
from limnograph.services.pipeline.drain import TARGETS
from limnograph.services.pipeline.report import PassReport


class _PassRunner(Protocol):
    def run(self) -> PassReport: ...


class MarkedPasses:
    """Passes that leave a mark in the inbox on success. An inbox that does not respond fails no pass."""

    def __init__(self, passes: _PassRunner, inbox: Inbox, clock: Clock, progress: Callable[[str], None]) -> None:
        self._passes, self._inbox, self._clock, self._progress = passes, inbox, clock, progress

    def run(self) -> PassReport:
        """Run one pass; raises what it raises, and then leaves no mark."""
        report = self._passes.run()
        now = self._clock.now()
        try:
            self._inbox.put([InboxItem(PASS_MARK, item_key(now), b"{}", now, now)])
        except SourceError as error:
            self._progress(f"the end of this pass is not recorded in the inbox: {error}")
        return report


class InboxState:
    """The inbox as the server last saw it. `look` blocks; `numbers` does not. Thread-safe: one thread looks, and each
    value is replaced whole.
    """

    def __init__(self, inbox: Inbox) -> None:
        self._inbox = inbox
        self._backlog: Backlog | None = None
        self._passed: Micros | None = None

    def look(self) -> None:
        """Read the inbox. Raises SourceError; then the waiting items are unknown, and the latest pass remains known."""
        try:
            passed = self._inbox.newest(PASS_MARK)
            self._passed = self._passed if passed is None else passed
            self._backlog = self._inbox.backlog(TARGETS)
        except SourceError:
            self._backlog = None
            raise

    @property
    def last_pass(self) -> Micros | None:
        """When the newest successful pass ended, in epoch microseconds; None until a mark was seen."""
        return self._passed

    def numbers(self, observed_at: Micros | None) -> dict[str, float | None]:
        """Values of SERVER_METRICS, in seconds. `observed_at`: when a pass that wrote rows read the lake
        (microseconds), for a pipeline that leaves no marks.
        """
        passes = [at for at in (self._passed, observed_at) if at is not None]
        items, oldest = self._backlog or (None, None)
        return {
            "limnograph_last_pass_timestamp_seconds": max(passes) / MICROS_PER_SECOND if passes else None,
            "limnograph_inbox_items": items,
            "limnograph_inbox_oldest_timestamp_seconds": None if oldest is None else oldest / MICROS_PER_SECOND,
        }
