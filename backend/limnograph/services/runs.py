"""Job runs that were pushed to us: accepted into the inbox first, then kept in memory for the pages.

A run is known by its `run_id`; its transitions (`running`, `ok`, `failed`) may come twice and in any order.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import msgspec

from limnograph.domain.errors import SourceError
from limnograph.domain.events import RunFact
from limnograph.domain.ids import TableName
from limnograph.domain.time import MICROS_PER_SECOND
from limnograph.ports.inbox import Inbox, InboxItem

KIND = "run"
_decoder = msgspec.json.Decoder(RunFact)
_log = logging.getLogger("limnograph.inbox")


class JobRun(NamedTuple):
    """One run of a job. Instants epoch microseconds; `ended_at` None while it runs."""

    job: str
    role: str
    started_at: int
    ended_at: int | None
    status: str
    application_id: str | None = None

    @property
    def seconds(self) -> float | None:
        """How long it took; None while it runs."""
        return None if self.ended_at is None else (self.ended_at - self.started_at) / MICROS_PER_SECOND


class Runs:
    """`accept` is durable before it returns. `restore` reads what an earlier process accepted."""

    def __init__(self, inbox: Inbox) -> None:
        self._inbox = inbox
        self._lock = threading.Lock()
        self._runs: dict[str, RunFact] = {}
        self.error: str | None = None
        """Why the inbox failed when it was last asked; None when it answered."""

    async def accept(self, runs: list[RunFact]) -> int:
        """Store durably, then show; returns how many were new. Raises SourceError."""
        items = [InboxItem(KIND, _key(run), msgspec.json.encode(run), run.observed_at or 0) for run in runs]
        with self._health():
            new = await asyncio.to_thread(self._inbox.put, items)
        if new:
            for run in runs:
                self._show(run)
        return new

    def restore(self) -> None:
        """Read the inbox; an item that is no run is logged and left out. Raises SourceError."""
        with self._health():
            items = self._inbox.items(KIND)
        for item in items:
            try:
                self._show(_decoder.decode(item.payload))
            except (msgspec.MsgspecError, UnicodeDecodeError) as error:
                _log.warning("inbox: item %s is no run: %s", item.key, error)

    @contextmanager
    def _health(self) -> Iterator[None]:
        try:
            yield
        except SourceError as error:
            self.error = str(error)
            raise
        self.error = None

    def _show(self, run: RunFact) -> None:
        """A finished transition replaces `running`; `running` never replaces a finished one."""
        with self._lock:
            known = self._runs.get(run.run_id)
            if known is None or known.status == "running":
                self._runs[run.run_id] = run

    def of_table(self, name: TableName, start: int, end: int) -> list[JobRun]:
        """Runs that touched the table and overlap `[start, end)` (epoch microseconds), in order of their start."""
        with self._lock:
            facts = list(self._runs.values())
        found = [
            JobRun(run.job_name or "", table.role or "", run.started_at, run.ended_at, run.status, run.application_id)
            for run in facts
            for table in run.tables or ()
            if (table.catalog, table.namespace, table.table) == name
            and run.started_at is not None
            and run.started_at < end
            and (run.ended_at is None or run.ended_at >= start)
        ]
        return sorted(found, key=lambda run: run.started_at)

    def job_of_application(self, application_id: str) -> str | None:
        """Name of a job that ran under an application id."""
        with self._lock:
            return next((r.job_name for r in self._runs.values() if r.application_id == application_id), None)


def _key(run: RunFact) -> str:
    return msgspec.json.encode([run.run_id, run.status]).decode()
