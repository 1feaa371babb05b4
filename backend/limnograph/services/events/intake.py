"""Events that other programs push: parsed, stored durably in the inbox; then the watcher is woken."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import msgspec

from limnograph.domain.errors import InvalidInput
from limnograph.domain.inbound.client_reports import ReportIn
from limnograph.domain.inbound.notices import Notice
from limnograph.domain.inbound.openlineage import RunEvent, Static
from limnograph.domain.inbound.spark_reports import SparkReports
from limnograph.domain.inbound.trino_events import TrinoQueryEvent
from limnograph.domain.time import Micros
from limnograph.ports.clock import Clock
from limnograph.ports.inbox import InboxItem, item_key
from limnograph.services.events import notifications
from limnograph.services.events.bodies import apart, parse
from limnograph.services.events.event_rate import EventRate
from limnograph.services.events.lineage import read_lineage_event
from limnograph.services.events.naming import TableResolver
from limnograph.services.events.received import Acknowledgement, ReceivedEvents
from limnograph.services.events.reported_commits import ReportedCommits
from limnograph.services.events.reports import read_metrics_report
from limnograph.services.events.spark_reports import read_spark_reports
from limnograph.services.events.trino_events import TrinoQueries
from limnograph.services.jobs.runs import RunRegistry, items_of


class EventIntake:
    """Every method is durable before it returns. Raises SourceError, and InvalidInput with the invalid field. Immutable
    after construction.
    """

    def __init__(
        self,
        runs: RunRegistry,
        naming: TableResolver,
        clock: Clock,
        wake: Callable[[], None],
        reported: ReportedCommits | None = None,
        *,
        trino_catalogs: Mapping[str, str] | None = None,
        trino_rate: EventRate | None = None,
    ) -> None:
        self._runs, self._naming, self._clock, self._wake = runs, naming, clock, wake
        self._reported = reported or ReportedCommits()
        self._queries = TrinoQueries(naming, trino_catalogs or {})
        self.trino_rate = trino_rate or EventRate()

    async def lineage(self, body: bytes) -> Acknowledgement:
        """An OpenLineage event. Events of only a job or a dataset are valid and contain no run."""
        return await self._take(body, self._lineage)

    def _lineage(self, body: bytes) -> ReceivedEvents:
        try:
            event = parse(body, RunEvent)
        except InvalidInput as error:
            if not _is_static(body):
                raise error from None
            return ReceivedEvents()
        return read_lineage_event(event, self._naming, self._clock.now())

    async def report(self, body: bytes) -> Acknowledgement:
        """An Iceberg metrics report; the report names its table."""
        return await self._take(body, self._report)

    def _report(self, body: bytes) -> ReceivedEvents:
        report = parse(body, ReportIn)
        name = self._naming.by_levels(report.table_name.split("."))
        return read_metrics_report(report, name, self._clock.now(), "iceberg-report")

    async def rest_report(self, body: bytes, prefix: str | None, levels: Sequence[str]) -> Acknowledgement:
        """An Iceberg metrics report sent to a REST catalog; the URL names its table."""
        return await self._take(body, partial(self._rest_report, prefix, levels))

    def _rest_report(self, prefix: str | None, levels: Sequence[str], body: bytes) -> ReceivedEvents:
        report = parse(body, ReportIn)
        name = self._naming.by_rest(prefix, levels)
        return read_metrics_report(report, name, self._clock.now(), "iceberg-rest", (prefix or "", *levels))

    async def spark(self, body: bytes) -> Acknowledgement:
        """Scans, queries and commits that a PySpark job read from Spark."""
        return await self._take(body, self._spark)

    def _spark(self, body: bytes) -> ReceivedEvents:
        return read_spark_reports(parse(body, SparkReports), self._naming, self._clock.now())

    async def trino(self, body: bytes) -> Acknowledgement:
        """An event of Trino's HTTP event listener."""
        return await self._take(body, self._trino)

    def _trino(self, body: bytes) -> ReceivedEvents:
        return self._queries.read(parse(body, TrinoQueryEvent), self._clock.now())

    async def cloudevents(self, body: bytes, headers: Mapping[str, str]) -> Acknowledgement:
        """CloudEvents in any mode."""
        return await self._take(body, lambda given: notifications.parse_cloudevents(given, headers, self._naming))

    async def s3(self, body: bytes) -> Acknowledgement:
        """Events of an object store."""
        return await self._take(body, lambda given: notifications.parse_s3_events(given, self._naming))

    async def debezium(self, body: bytes) -> Acknowledgement:
        """Changes of a JDBC catalog's rows."""
        return await self._take(body, notifications.parse_debezium_changes)

    async def _take(self, body: bytes, understand: Callable[[bytes], ReceivedEvents]) -> Acknowledgement:
        """Store everything in one transaction: a request is accepted as a whole or not at all."""
        told, items = await apart(len(body), self._understood, body, understand)
        if not items:
            return Acknowledgement(0, 0)
        new = await self._runs.store(items, told.runs)
        if new:
            self._reported.add(told.reports)
        if new and told.notices:
            self._wake()
        messages = min(told.messages, len(items))
        return Acknowledgement(min(new, messages), messages - min(new, messages))

    def _understood(
        self, body: bytes, understand: Callable[[bytes], ReceivedEvents]
    ) -> tuple[ReceivedEvents, list[InboxItem]]:
        told = understand(body)
        return told, self._items(told)

    def _items(self, told: ReceivedEvents) -> list[InboxItem]:
        now = self._clock.now()
        reports = [
            InboxItem("report", item_key(fact.event_id), msgspec.json.encode(fact), now) for fact in told.reports
        ]
        return [*items_of(told.runs), *reports, *(_notice_item(notice, now) for notice in told.notices)]


def _notice_item(notice: Notice, now: Micros) -> InboxItem:
    """A notice needs no row: it is committed on arrival and deleted an hour later."""
    key = item_key(notice.source, *notice.identity)
    return InboxItem("notification", key, msgspec.json.encode(notice), now, now)


def _is_static(body: bytes) -> bool:
    try:
        parse(body, Static)
    except InvalidInput:
        return False
    return True
