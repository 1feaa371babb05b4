"""The use cases of the server, as the HTTP layer sees them. `wiring/server.py` puts the real ones in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

from limnograph.domain.answers.alerts import AlertsPage, AlertTarget, Incident
from limnograph.domain.answers.commits import CommitDetail, CommitsPage
from limnograph.domain.answers.explanations import ExplainPage, Label
from limnograph.domain.answers.partitions import PartitionsPage
from limnograph.domain.answers.refs import RefsPage
from limnograph.domain.answers.schemas import SchemaPage
from limnograph.domain.answers.tables import FleetHeat, Status, TableDetail, TablesPage
from limnograph.domain.answers.timeline import Timeline
from limnograph.domain.facts.events import RunFact
from limnograph.domain.ids import TableName
from limnograph.domain.queries import CommitsQuery, FleetQuery, PartitionsQuery
from limnograph.domain.time import TimeRange
from limnograph.ports.clock import Clock
from limnograph.services.alerts.pages import AlertsQuery
from limnograph.services.alerts.targets import AlertQuestion
from limnograph.services.events.received import Acknowledgement
from limnograph.services.explain.baseline import Windows
from limnograph.services.explain.labels import LabelInput
from limnograph.services.server.live import Live
from limnograph.services.server.versions import Versions


class FleetPages(Protocol):
    """Rows of all tables."""

    async def page(self, query: FleetQuery) -> TablesPage:
        """One page. Raises InvalidInput (cursor)."""
        ...

    async def heat(self, query: FleetQuery) -> FleetHeat:
        """The first tables of a page over time."""
        ...


class TablePages(Protocol):
    """One table now."""

    async def detail(self, name: TableName) -> TableDetail:
        """Raises NotFound."""
        ...


class Timelines(Protocol):
    """Lanes of one table on one time axis."""

    async def answer(
        self,
        name: TableName,
        span: TimeRange,
        lanes: tuple[str, ...],
        job: str | None,
        compare_s: int | None,
        *,
        ref: str | None = None,
    ) -> Timeline:
        """`ref`: the lane of commits lists those that are not its ancestors. Raises NotFound; SourceError if no lane is
        available.
        """
        ...


class CommitPages(Protocol):
    """Commits of one table or all, and one commit in detail."""

    async def page(self, query: CommitsQuery) -> CommitsPage:
        """Raises NotFound (table), InvalidInput (cursor)."""
        ...

    async def detail(self, name: TableName, snapshot_id: int) -> CommitDetail:
        """Raises NotFound."""
        ...


class PartitionViews(Protocol):
    """Partitions of one table."""

    async def page(self, query: PartitionsQuery) -> PartitionsPage:
        """Raises NotFound, InvalidInput (cmp), SourceError."""
        ...


class SchemaViews(Protocol):
    """Schema history of one table."""

    async def page(self, name: TableName) -> tuple[SchemaPage, bool]:
        """The page, and whether a source failed it. Raises NotFound, SourceError."""
        ...


class RefViews(Protocol):
    """Branches and tags of one table."""

    async def page(self, name: TableName) -> tuple[RefsPage, bool]:
        """The page, and whether a source failed it. Raises NotFound, SourceError."""
        ...


class Explanations(Protocol):
    """Why a job of a table changed, and users' labels on it."""

    async def page(self, name: TableName, asked: Windows, job: str | None) -> ExplainPage:
        """`start`, `end` epoch ms. Raises NotFound, SourceError."""
        ...

    async def say(self, name: TableName, said: LabelInput, author: str) -> Label:
        """Durable when it returns. Raises NotFound, SourceError."""
        ...


class RunInbox(Protocol):
    """Where job runs are accepted."""

    async def accept(self, runs: list[RunFact]) -> int:
        """Store durably; returns how many were new. Raises SourceError."""
        ...


class EventInbox(Protocol):
    """Where other programs' events are accepted: `services.events.intake.EventIntake`. All raise InvalidInput and
    SourceError.
    """

    async def lineage(self, body: bytes) -> Acknowledgement:
        """An OpenLineage event."""
        ...

    async def report(self, body: bytes) -> Acknowledgement:
        """An Iceberg metrics report that names its table."""
        ...

    async def rest_report(self, body: bytes, prefix: str | None, levels: Sequence[str]) -> Acknowledgement:
        """An Iceberg metrics report whose URL names its table."""
        ...

    async def cloudevents(self, body: bytes, headers: Mapping[str, str]) -> Acknowledgement:
        """CloudEvents."""
        ...

    async def s3(self, body: bytes) -> Acknowledgement:
        """Events of an object store."""
        ...

    async def debezium(self, body: bytes) -> Acknowledgement:
        """Changes of a JDBC catalog's rows."""
        ...


class AlertDesk(Protocol):
    """Alerts: accepted, listed, described, resolved."""

    async def take(self, body: bytes) -> Acknowledgement:
        """Alerts of a webhook, durable when it returns. Raises InvalidInput, SourceError."""
        ...

    def page(self, query: AlertsQuery) -> AlertsPage:
        """One page. Raises InvalidInput (cursor)."""
        ...

    async def incident(self, mark: str, starts_at: int | None) -> Incident:
        """One episode; `starts_at` epoch microseconds. Raises NotFound, SourceError."""
        ...

    async def target(self, question: AlertQuestion) -> AlertTarget:
        """Where a link leads."""
        ...


class StatusPages(Protocol):
    """Server status."""

    async def status(self) -> Status:
        """Never raises: a failed source is a status."""
        ...

    def waiting_for(self) -> str | None:
        """What readiness still waits for; None when the first reads of meta tables and catalogs ended."""
        ...


class Backend(NamedTuple):
    """Everything the routes need."""

    fleet: FleetPages
    tables: TablePages
    timelines: Timelines
    commits: CommitPages
    partitions: PartitionViews
    schemas: SchemaViews
    refs: RefViews
    explanations: Explanations
    runs: RunInbox
    events: EventInbox
    alerts: AlertDesk
    status: StatusPages
    clock: Clock
    versions: Versions
    live: Live
    resolved: Callable[[TableName], TableName] = lambda name: name
    """The known name that a path means, which may spell it plainly."""
