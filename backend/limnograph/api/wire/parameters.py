"""Parameters of the routes: their wire names and documentation. `values.py` parses them."""

from __future__ import annotations

from typing import Annotated, Any

from litestar.params import PathParameter, QueryParameter

from limnograph.domain.answers.explanations import BaselineKind
from limnograph.domain.answers.findings import AcknowledgedFilter
from limnograph.domain.answers.lane_specs import DEFAULT_LANES, LANES
from limnograph.domain.answers.partitions import PartitionSort
from limnograph.domain.finding_codes import FindingCode, FindingSeverity
from limnograph.domain.queries import (
    DEFAULT_WITHIN_S,
    MAX_GREW,
    MAX_LIMIT,
    MAX_PARTITIONS,
    MAX_PLANNING_S,
    MAX_WITHIN_S,
    CommitSort,
    Direction,
    FleetSort,
    TableFormat,
)
from limnograph.domain.time import LATEST_MS, MAX_POINTS, MAX_STEP_S, Millis
from limnograph.services.timeline.timeline import MAX_COMPARE_S

MAX_CONDITIONS_CHARS = 2_000


def _within(least: float, most: float) -> dict[str, Any]:
    """Bounds for the OpenAPI document only. `values.py` checks them, with its own messages."""
    return {"minimum": least, "maximum": most}


_INSTANT = _within(0, LATEST_MS)
Catalog = Annotated[str, PathParameter(description="Catalog name.")]
Namespace = Annotated[str, PathParameter(description="Namespace; levels joined with `.`, `/` written `~s`.")]
Table = Annotated[str, PathParameter(description="Table name; `.` written `~d`, `/` written `~s`, `~` written `~~`.")]
From = Annotated[
    Millis | None, QueryParameter(name="from", description="Start, epoch ms, inclusive.", schema_extra=_INSTANT)
]
To = Annotated[
    Millis | None,
    QueryParameter(name="to", description="End, epoch ms, exclusive; default now.", schema_extra=_INSTANT),
]
Step = Annotated[
    int | None,
    QueryParameter(
        name="step",
        description=f"Step in whole seconds; default: about 720 points. At most {MAX_POINTS} points.",
        schema_extra=_within(1, MAX_STEP_S),
    ),
]
_A_LANE = f"\\s*({'|'.join(LANES)})?\\s*"
Lanes = Annotated[
    str | None,
    QueryParameter(
        name="lanes",
        description=f"Comma-separated lanes: {', '.join(LANES)}. Default: {', '.join(DEFAULT_LANES)}.",
        schema_extra={"pattern": f"^{_A_LANE}(,{_A_LANE})*$"},
    ),
]
Job = Annotated[str | None, QueryParameter(name="job", description="Job name; default: the reader with the most runs.")]
BaselineChoice = Annotated[
    BaselineKind,
    QueryParameter(
        name="baseline",
        description="What the range is compared with: `before` (four times as long, just before it), the same time "
        "`yesterday` or last `week`, or `custom`: from `baseline_from` to `baseline_to`.",
    ),
]
BaselineFrom = Annotated[
    Millis | None,
    QueryParameter(name="baseline_from", description="Start of a custom baseline, epoch ms.", schema_extra=_INSTANT),
]
BaselineTo = Annotated[
    Millis | None,
    QueryParameter(
        name="baseline_to", description="End of a custom baseline, epoch ms; at most `from`.", schema_extra=_INSTANT
    ),
]
Compare = Annotated[
    int | None,
    QueryParameter(
        name="cmp",
        description="Also return the period this many seconds earlier.",
        schema_extra=_within(1, MAX_COMPARE_S),
    ),
]
CompareTables = Annotated[
    int | None,
    QueryParameter(
        name="cmp",
        description="Take differences against the state this many seconds before the end; default the range's start.",
        schema_extra=_within(1, MAX_COMPARE_S),
    ),
]
CompareTable = Annotated[
    str,
    QueryParameter(
        name="cmp_table",
        description="Also return the lanes of another table for the same range: `catalog.namespace.table`. Not with "
        "`cmp`.",
    ),
]
RefName = Annotated[
    str | None,
    QueryParameter(
        name="ref",
        description="Branch or tag; `off_ref` of the lane of commits lists the commits that are not its ancestors.",
    ),
]
WithDetail = Annotated[
    bool,
    QueryParameter(name="detail", description="Also return the table's details, which saves one request."),
]
_CURSOR = (
    "`next_cursor` of the previous page. Sufficient alone: it carries the other parameters, with `from` and `to` as "
    "resolved; a parameter that contradicts it is rejected."
)
Cursor = Annotated[str | None, QueryParameter(name="cursor", description=_CURSOR)]
Limit = Annotated[int, QueryParameter(name="limit", description="Rows per page.", schema_extra=_within(1, MAX_LIMIT))]
Text = Annotated[str, QueryParameter(name="q", description="Part of the name, case-insensitive.")]
NamespaceFilter = Annotated[str, QueryParameter(name="ns", description="`catalog.namespace` or a namespace.")]
Sort = Annotated[
    FleetSort,
    QueryParameter(
        name="sort",
        description="`attention`: by rank of reason, then magnitude. `growth`: by the largest increase in data files "
        "within `within` seconds, as a share.",
    ),
]
Dir = Annotated[Direction, QueryParameter(name="dir", description="Unknown values are last in both orders.")]
SnapshotId = Annotated[
    str, PathParameter(description="Snapshot id as text, with all digits.", schema_extra={"pattern": "^-?[0-9]{1,19}$"})
]
RunbookName = Annotated[
    str, PathParameter(description="Name of a runbook.", schema_extra={"pattern": "^[a-z0-9-]{1,80}$"})
]
WrittenBy = Annotated[
    str | None,
    QueryParameter(
        name="snapshot_id",
        description="The commit whose rows the statements select, as text.",
        schema_extra={"pattern": "^-?[0-9]{1,19}$"},
    ),
]
Grew = Annotated[
    float | None,
    QueryParameter(
        name="grew",
        description="Only tables whose data files grew by more than this share (0.2: 20 %) within `within` seconds.",
        schema_extra=_within(0, MAX_GREW),
    ),
]
Planning = Annotated[
    float | None,
    QueryParameter(
        name="planning",
        description="Only tables whose scans of the last 24 hours have a 95th percentile of planning times above so "
        "many seconds.",
        schema_extra=_within(0, MAX_PLANNING_S),
    ),
]
Missed = Annotated[
    float | None,
    QueryParameter(
        name="missed",
        description="Only tables of whose scans in the last 24 hours more than this share filters no partition column "
        "(0.5: half of those whose filter columns are known).",
        schema_extra=_within(0, 1),
    ),
]
Within = Annotated[
    int | None,
    QueryParameter(
        name="within",
        description=f"Seconds of growth, for `grew`, `sort=growth` and the field `growth`; default {DEFAULT_WITHIN_S}.",
        schema_extra=_within(1, MAX_WITHIN_S),
    ),
]
OfSeverity = Annotated[
    FindingSeverity | None,
    QueryParameter(name="severity", description="Only tables with an open finding of this severity."),
]
OfCode = Annotated[
    FindingCode | None, QueryParameter(name="code", description="Only tables with an open finding of this code.")
]
IsAcknowledged = Annotated[
    AcknowledgedFilter | None,
    QueryParameter(
        name="acknowledged",
        description="Whether the open finding that `severity` and `code` describe is acknowledged: `true`, `false`, "
        "`any`. Default `false` with `severity` or `code`, otherwise no filter.",
    ),
]
OfOwner = Annotated[str, QueryParameter(name="owner", description="Only tables of this owner.")]
OfFormat = Annotated[TableFormat | None, QueryParameter(name="format", description="Only tables of this format.")]
HasJob = Annotated[
    bool | None,
    QueryParameter(
        name="has_job",
        description="Only tables that a job reads or writes, or that none does: jobs that ran in the last 14 days, and "
        "those of the settings.",
    ),
]
Operation = Annotated[
    str | None, QueryParameter(name="operation", description="`append`, `overwrite`, `delete` or `replace`.")
]
MinAdded = Annotated[
    int | None, QueryParameter(name="min_added_data_files", description="Only commits that added at least this many.")
]
CommitWriter = Annotated[
    str | None,
    QueryParameter(name="writer", description="Only commits whose application has this in its name or id."),
]
CommitOrder = Annotated[
    CommitSort, QueryParameter(name="sort", description="`files`: most data files added or removed first.")
]
SchemaChanged = Annotated[
    bool | None,
    QueryParameter(name="schema_changed", description="Only commits whose schema differs from the previous one."),
]

At = Annotated[
    Millis | None, QueryParameter(name="at", description="Instant, epoch ms; default `to`.", schema_extra=_INSTANT)
]
CompareAt = Annotated[
    int | None,
    QueryParameter(
        name="cmp",
        description="Also return the instant this many seconds before `at`.",
        schema_extra=_within(1, MAX_COMPARE_S),
    ),
]
CONDITION = "[^=/]+=[^/]*"
Partition = Annotated[
    str | None,
    QueryParameter(
        name="partition",
        description="Only partitions with these values: `day=2026-11-20`, several joined with `/`; a trailing `*` "
        "matches a prefix.",
        schema_extra={"pattern": f"^{CONDITION}(/{CONDITION})*$", "maxLength": MAX_CONDITIONS_CHARS},
    ),
]
PartitionSorted = Annotated[
    PartitionSort, QueryParameter(name="sort", description="Sort order; deltas sort by absolute value.")
]
Partitions = Annotated[int, QueryParameter(name="limit", description="Rows.", schema_extra=_within(1, MAX_PARTITIONS))]
