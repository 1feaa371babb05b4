"""What others push to the server: understood, durable in the inbox, then whoever looks at tables is woken."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from limnograph.domain.client_reports import ReportIn
from limnograph.domain.errors import InvalidInput
from limnograph.domain.notices import Notice
from limnograph.domain.openlineage import RunEvent, Static
from limnograph.ports.clock import Clock
from limnograph.ports.inbox import InboxItem, item_key
from limnograph.services import notifications
from limnograph.services.bodies import parse
from limnograph.services.lineage import told_by_event
from limnograph.services.naming import Naming
from limnograph.services.reported_commits import ReportedCommits
from limnograph.services.reports import told_by_report
from limnograph.services.runs import Runs, items_of
from limnograph.services.told import Taken, Told


class Inflow:
    """Every method is durable before it returns. Raises InvalidInput naming the field, SourceError."""

    def __init__(
        self,
        runs: Runs,
        naming: Naming,
        clock: Clock,
        wake: Callable[[], None],
        reported: ReportedCommits | None = None,
    ) -> None:
        self._runs, self._naming, self._clock, self._wake = runs, naming, clock, wake
        self._reported = reported or ReportedCommits()

    async def lineage(self, body: bytes) -> Taken:
        """An OpenLineage event. Those of jobs and datasets alone are valid and say nothing about runs."""
        try:
            event = parse(body, RunEvent)
        except InvalidInput as error:
            if not _is_static(body):
                raise error from None
            return Taken(0, 0)
        return await self._take(told_by_event(event, self._naming, self._clock.now()))

    async def report(self, body: bytes) -> Taken:
        """An Iceberg metrics report whose table is the one that it names."""
        report = parse(body, ReportIn)
        levels = report.table_name.split(".")
        name = self._naming.by_levels(levels)
        return await self._take(told_by_report(report, name, self._clock.now(), "iceberg-report"))

    async def rest_report(self, body: bytes, prefix: str | None, levels: Sequence[str]) -> Taken:
        """An Iceberg metrics report as a REST catalog gets it: the table is that of the URL."""
        report = parse(body, ReportIn)
        name = self._naming.by_rest(prefix, levels)
        spoken = (prefix or "", *levels)
        return await self._take(told_by_report(report, name, self._clock.now(), "iceberg-rest", spoken))

    async def cloudevents(self, body: bytes, headers: Mapping[str, str]) -> Taken:
        """CloudEvents in any mode."""
        return await self._take(notifications.told_by_cloudevents(body, headers, self._naming))

    async def s3(self, body: bytes) -> Taken:
        """Events of an object store."""
        return await self._take(notifications.told_by_s3(body, self._naming))

    async def debezium(self, body: bytes) -> Taken:
        """Changes of a JDBC catalog's rows."""
        return await self._take(notifications.told_by_debezium(body))

    async def _take(self, told: Told) -> Taken:
        """In one transaction: a request is taken as a whole or not at all."""
        items = self._items(told)
        if not items:
            return Taken(0, 0)
        new = await self._runs.store(items, told.runs)
        if new:
            self._reported.add(told.reports)
        if new and told.notices:
            self._wake()
        messages = min(told.messages, len(items))
        return Taken(min(new, messages), messages - min(new, messages))

    def _items(self, told: Told) -> list[InboxItem]:
        now = self._clock.now()
        reports = [
            InboxItem("report", item_key(fact.event_id), msgspec.json.encode(fact), now) for fact in told.reports
        ]
        return [*items_of(told.runs), *reports, *(_notice_item(notice, now) for notice in told.notices)]


def _notice_item(notice: Notice, now: int) -> InboxItem:
    """A notice needs no row: it is committed as soon as it is there, and goes an hour later."""
    key = item_key(notice.source, *notice.identity)
    return InboxItem("notification", key, msgspec.json.encode(notice), now, now)


def _is_static(body: bytes) -> bool:
    try:
        parse(body, Static)
    except InvalidInput:
        return False
    return True
