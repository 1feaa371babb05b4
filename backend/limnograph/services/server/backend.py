"""The services behind the HTTP routes. `wiring/server.py` builds the real ones; a test may replace single fields."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from limnograph.domain.ids import TableName
from limnograph.ports.clock import Clock
from limnograph.services.advice.pages import MaintenancePages
from limnograph.services.advice.plan_pages import PlanPages
from limnograph.services.alerts.pages import AlertPages
from limnograph.services.effects.ledger import EffectLedger
from limnograph.services.events.intake import EventIntake
from limnograph.services.explain.page import ExplainPages
from limnograph.services.find.finder import Finder
from limnograph.services.findings.pages import FindingPages
from limnograph.services.fleet.page import FleetService
from limnograph.services.forecasts.pages import ForecastPages
from limnograph.services.jobs.runs import RunRegistry
from limnograph.services.notes.pages import NotePages
from limnograph.services.server.live import Live
from limnograph.services.server.status import StatusService
from limnograph.services.server.versions import LakeVersions
from limnograph.services.table.columns.page import ColumnPages
from limnograph.services.table.commit import CommitDetails
from limnograph.services.table.commit_list import CommitLists
from limnograph.services.table.overview import TableService
from limnograph.services.table.partitions.page import PartitionPages
from limnograph.services.table.reads.page import ReadPages
from limnograph.services.table.refs.page import RefPages
from limnograph.services.table.runbook import TableRunbooks
from limnograph.services.table.schema.page import SchemaPages
from limnograph.services.table.storage.page import StoragePages
from limnograph.services.timeline.timeline import TimelineService


class Backend(NamedTuple):
    """All services that the routes need."""

    fleet: FleetService
    """Rows of all tables."""
    tables: TableService
    """The current state of one table."""
    timelines: TimelineService
    """Lanes of one table on one time axis."""
    commits: CommitLists
    """Lists of commits, of one table or of all."""
    commit_details: CommitDetails
    """One commit."""
    runbooks: TableRunbooks
    """Runbooks for one table."""
    partitions: PartitionPages
    """Partitions of one table."""
    schemas: SchemaPages
    """Schema history of one table."""
    refs: RefPages
    """Branches and tags of one table."""
    reads: ReadPages
    """Reads of one table."""
    columns: ColumnPages
    """Statistics of one table's columns."""
    storage: StoragePages
    """What one table stores."""
    explanations: ExplainPages
    """Why a job of a table changed, and users' labels on commits."""
    effects: EffectLedger
    """What maintenance operations did to jobs."""
    findings: FindingPages
    """What is wrong with tables."""
    forecasts: ForecastPages
    """Which tables are at risk."""
    finder: Finder
    """Finds what a text names."""
    notes: NotePages
    """What the team wrote."""
    runs: RunRegistry
    """Accepts job runs."""
    events: EventIntake
    """Accepts events of other programs."""
    alerts: AlertPages
    """Accepts, lists and finds alerts."""
    status: StatusService
    """Status of the server and its sources."""
    clock: Clock
    """The clock that responses are based on."""
    versions: LakeVersions
    """Versions of pages."""
    live: Live
    """The hub of the live streams."""
    named: Callable[[str], TableName | None] = lambda _text: None
    """The known table of a text such as `catalog.namespace.table`."""
    resolved: Callable[[TableName], TableName] = lambda name: name
    """The known name for a name in a path, which may be spelled without escapes."""
    maintenance: MaintenancePages | None = None
    """Recommended maintenance; None: the server cannot read tables."""
    plans: PlanPages | None = None
    """Plans and decisions on them; None: the server keeps no plans."""
