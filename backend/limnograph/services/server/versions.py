"""The version of a page's content: a number that changes when a commit, a job run or a failing source changes it."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

from limnograph.domain.errors import SourceTimeout, SourceUnavailable
from limnograph.domain.ids import TableName
from limnograph.services.alerts.registry import AlertRegistry
from limnograph.services.findings.board import FindingsBoard
from limnograph.services.jobs.runs import RunRegistry
from limnograph.services.lake.store import HotStore
from limnograph.services.sources.metrics import Metrics

_SILENT = (SourceUnavailable, SourceTimeout)


class _PageVersion(NamedTuple):
    parts: tuple[Any, ...]
    number: int


class LakeVersions:
    """Versions of the hot store, of accepted runs, alerts, findings, notes, recent reads and reported users of commits,
    and of which sources respond. Parts are compared by identity: a table that did not change keeps its object from one
    lake to the next.
    Thread-safe: writing is guarded by `_lock`, reading is a single look-up of an immutable value.
    """

    def __init__(
        self,
        store: HotStore,
        runs: RunRegistry,
        metrics: Metrics | None = None,
        alerts: AlertRegistry | None = None,
        *,
        findings: Callable[[], FindingsBoard] = FindingsBoard,
        team: Callable[[str | None], tuple[object, ...]] = lambda _uuid: (),
        reads: Callable[[], int] = int,
        users: Callable[[TableName | None], int] = lambda _table: 0,
    ) -> None:
        self._reads, self._users = reads, users
        self._findings, self._team = findings, team
        self._store, self._runs, self._metrics, self._alerts = store, runs, metrics, alerts
        self._numbers = itertools.count(1)
        self._seen: dict[TableName | None, _PageVersion] = {}
        self._lock = threading.Lock()

    def of(self, table: TableName | None) -> int:
        """The version of one table, or of the whole lake; costs microseconds. Equal numbers: no known change in
        between.
        """
        reading = self._store.reading
        uuid = None if table is None else reading.lake.names.get(table)
        if uuid is None:  # a name without a table depends on the whole lake
            table = None
        alerts = self._alerts.version(table) if self._alerts else 0
        reads = self._reads() if table is None else 0
        sources = (
            self._runs.version(table),
            alerts,
            self._findings().version(uuid),
            self._team(uuid),
            self._silent(),
            reads,
            self._users(table),
        )
        part = reading.lake if table is None or uuid is None else reading.lake.tables.get(uuid)
        seen = self._seen.get(table)
        failure = reading.error and (type(reading.error), str(reading.error))  # each attempt creates another object
        if seen and seen.parts[0] is part and seen.parts[1] == failure and seen.parts[2] == sources:
            return seen.number
        with self._lock:
            number = next(self._numbers)
            self._seen[table] = _PageVersion((part, failure, sources), number)
        return number

    def _silent(self) -> list[str]:
        """Metrics sources that did not respond to the last query. One that rejects a query counts as responding:
        otherwise a single bad query in the settings would invalidate all pages each time it is sent.
        """
        if self._metrics is None:
            return []
        return [source.name for source in self._metrics.sources if isinstance(source.last_error, _SILENT)]
