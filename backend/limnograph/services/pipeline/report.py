"""What one pass of the pipeline has done so far, and its final report."""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping

import msgspec

from limnograph.domain.ids import TableName
from limnograph.ports.lake import LakeListing
from limnograph.services.pipeline.backoff import Failure
from limnograph.services.pipeline.portions import Unit


class PassReport(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a pass.

    `pending`: something is left for the next pass
    `more`: rows of responding tables are left
    `failed`: what did not respond, as sentences `name: reason`
    `waiting`: the number of failed tables that this pass did not retry yet
    `changed`: series with a new row
    """

    run_id: str
    tables_seen: int
    tables_changed: int
    snapshots_appended: int
    gaps: int
    unreadable: int
    seconds: float
    pending: bool = False
    more: bool = False
    failed: tuple[str, ...] = ()
    waiting: int = 0
    changed: frozenset[str | None] = frozenset()


class PassWork:
    """What one pass has done so far."""

    def __init__(self, listing: LakeListing) -> None:
        self.listing, self.run_id, self.started = listing, str(uuid.uuid4()), time.monotonic()
        self.appended = self.total = self.gaps = self.unreadable = self.change_rows = 0
        self.changed: set[str | None] = set()
        self.failed: dict[TableName, str] = {}
        self.left: set[TableName] = set()
        self.later: list[Unit] = []

    def report(self, waiting: Mapping[TableName, Failure]) -> PassReport:
        """The report of the pass. `waiting`: tables that failed before and were not retried yet."""
        failed = {name: failure.reason for name, failure in waiting.items()} | self.failed
        return PassReport(
            run_id=self.run_id,
            tables_seen=len(self.listing.pointers),
            tables_changed=len(self.changed),
            snapshots_appended=self.appended,
            gaps=self.gaps,
            unreadable=self.unreadable,
            seconds=round(time.monotonic() - self.started, 3),
            failed=(*self.listing.failed, *(f"{name}: {reason}" for name, reason in sorted(failed.items()))),
            waiting=len(waiting),
            pending=bool(self.left or self.failed or waiting),
            more=bool(self.left - self.failed.keys()),
            changed=frozenset(self.changed),
        )
