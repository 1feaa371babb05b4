"""Parsed queries of callers: fleet pages, commit lists, partitions."""

from __future__ import annotations

from typing import Literal

import msgspec

from limnograph.domain.answers.effect_ledger import LedgerVerdict, Measure
from limnograph.domain.answers.findings import AcknowledgedFilter, FindingState
from limnograph.domain.answers.notes import NoteKind, NoteScope
from limnograph.domain.answers.partitions import PartitionSort
from limnograph.domain.finding_codes import FindingCode, FindingSeverity
from limnograph.domain.forecasts.cases import ForecastMetric
from limnograph.domain.forecasts.pages import RiskState
from limnograph.domain.ids import TableName
from limnograph.domain.maintenance.states import PlanState
from limnograph.domain.time import Millis

FleetSort = Literal[
    "attention",
    "name",
    "data_files",
    "delete_files",
    "records",
    "bytes",
    "small_files",
    "file_size_p50",
    "manifests",
    "live_snapshots",
    "small_share",
    "delete_share",
    "skew",
    "commits",
    "last_commit",
    "job_duration",
    "job_p95",
    "delta_data_files",
    "delta_delete_files",
    "delta_records",
    "delta_bytes",
    "delta_job_duration",
    "delta_job_p95",
    "delta_share_data_files",
    "delta_share_delete_files",
    "delta_share_records",
    "delta_share_bytes",
    "growth",
    "planning_p95",
    "missed_share",
]
Direction = Literal["asc", "desc"]
TableFormat = Literal["iceberg", "delta", "hudi"]
CommitSort = Literal["newest", "files"]
"""`files`: most data files added or removed first."""

MAX_LIMIT = 500
DEFAULT_LIMIT = 50
DEFAULT_WITHIN_S, MAX_WITHIN_S = 300, 7 * 86_400
HEAT_ROWS = 30
MAX_GREW = 1_000_000.0
MAX_PLANNING_S = 3_600


class FleetQuery(msgspec.Struct, frozen=True, kw_only=True):
    """A page of the fleet. `start` and `end` epoch ms, half-open; `ns` is `catalog.namespace` or a namespace.

    `grew`: only tables whose number of data files grew by more than this share within `within_s` seconds (None: the
    usual time). `compare_s`: differences are against the state this many seconds before the end, instead of the state
    at the start. `severity`, `code`, `acknowledged`: only tables with an open finding that matches all of them; with
    `acknowledged` None, one that is not acknowledged. `has_job`: whether a job reads or writes the table.
    `planning_s`: only tables whose scans of the last 24 hours have a 95th percentile of planning times above so many
    seconds. `missed`: only those of whose scans a larger share than this filters no partition column.
    """

    start: Millis
    end: Millis
    text: str = ""
    namespace: str = ""
    sort: FleetSort = "attention"
    direction: Direction = "desc"
    cursor: str | None = None
    limit: int = DEFAULT_LIMIT
    grew: float | None = None
    within_s: int | None = None
    compare_s: int | None = None
    severity: FindingSeverity | None = None
    code: FindingCode | None = None
    acknowledged: AcknowledgedFilter | None = None
    owner: str = ""
    format: TableFormat | None = None
    has_job: bool | None = None
    planning_s: float | None = None
    missed: float | None = None

    @property
    def growth_within_s(self) -> int | None:
        """Seconds of the growth that the page needs; None if it needs none."""
        if self.grew is None and self.within_s is None and self.sort != "growth":
            return None
        return DEFAULT_WITHIN_S if self.within_s is None else self.within_s


class CommitsQuery(msgspec.Struct, frozen=True, kw_only=True):
    """A page of commits of one table or (`table` None) of all. `start`, `end` epoch ms, half-open. `writer`: a part of
    the application's name or id, in any case; `user`: a part of the user's name.
    """

    start: Millis
    end: Millis
    table: TableName | None = None
    operation: str | None = None
    min_added_data_files: int | None = None
    schema_changed: bool | None = None
    writer: str | None = None
    user: str | None = None
    sort: CommitSort = "newest"
    cursor: str | None = None
    limit: int = DEFAULT_LIMIT


DEFAULT_PARTITIONS, MAX_PARTITIONS = 200, 1_000


class PartitionsQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Partitions at `at`, compared with `compare_s` seconds earlier, and over time in `[start, end)`; epoch ms.

    `conditions`: `field=value` pairs that a partition must match, all of them; a value that ends in `*` is a prefix.
    """

    table: TableName
    at: Millis
    start: Millis
    end: Millis
    compare_s: int | None = None
    conditions: tuple[tuple[str, str], ...] = ()
    sort: PartitionSort = "data_files"
    direction: Direction = "desc"
    limit: int = DEFAULT_PARTITIONS


class EffectsQuery(msgspec.Struct, frozen=True, kw_only=True):
    """A page of the effect ledger, newest operation first; `start`, `end` epoch ms, half-open; empty filters match all.
    `table`: `catalog.namespace.table`.
    """

    start: Millis
    end: Millis
    table: str = ""
    owner: str = ""
    action: str = ""
    writer: str = ""
    job: str = ""
    measure: Measure | None = None
    verdict: LedgerVerdict | None = None
    cursor: str | None = None
    limit: int = DEFAULT_LIMIT


class MaintenanceQuery(msgspec.Struct, frozen=True, kw_only=True):
    """A page of plans: those that are recommended, the best first, and others, the newest first. Empty filters match
    all. `text`: part of the table's name. `states`: empty: the open ones.
    """

    states: frozenset[PlanState] = frozenset()
    rule: str = ""
    action: str = ""
    owner: str = ""
    text: str = ""
    cursor: str | None = None
    limit: int = DEFAULT_LIMIT


class ForecastsQuery(msgspec.Struct, frozen=True, kw_only=True):
    """A page of forecasts; empty filters match all. `state` None: all but `not_at_risk`. `table`:
    `catalog.namespace.table`.
    """

    state: RiskState | None = None
    metric: ForecastMetric | None = None
    table: str = ""
    owner: str = ""
    cursor: str | None = None
    limit: int = DEFAULT_LIMIT


class FindingsQuery(msgspec.Struct, frozen=True, kw_only=True):
    """A page of findings; empty filters match all. Closed ones are those that closed in `[start, end)`, epoch ms.
    `table`: `catalog.namespace.table`. `acknowledged` applies to open ones.
    """

    start: Millis
    end: Millis
    state: FindingState = "open"
    severity: FindingSeverity | None = None
    code: FindingCode | None = None
    table: str = ""
    owner: str = ""
    acknowledged: AcknowledgedFilter = "false"
    cursor: str | None = None
    limit: int = DEFAULT_LIMIT


class NotesQuery(msgspec.Struct, frozen=True, kw_only=True):
    """A page of notes; empty filters match all. `start`, `end`: epoch ms; a note matches that is drawn in `[start,
    end)`. `table`: `catalog.namespace.table`.
    """

    start: Millis | None = None
    end: Millis | None = None
    scope: NoteScope | None = None
    target_id: str = ""
    kind: NoteKind | None = None
    table: str = ""
    cursor: str | None = None
    limit: int = DEFAULT_LIMIT
