"""Parameters of the routes: their names on the wire and their documentation. What becomes of them: `values.py`."""

from __future__ import annotations

from typing import Annotated, Any

from litestar.params import PathParameter, QueryParameter

from limnograph.domain.answers.explanations import BaselineKind
from limnograph.domain.answers.lane_specs import DEFAULT_LANES, LANES
from limnograph.domain.answers.partitions import PartitionSort
from limnograph.domain.queries import (
    DEFAULT_WITHIN_S,
    MAX_GREW,
    MAX_LIMIT,
    MAX_PARTITIONS,
    MAX_WITHIN_S,
    Direction,
    FleetSort,
)
from limnograph.domain.time import LATEST_MS, MAX_POINTS, MAX_STEP_S, Millis
from limnograph.services.timeline.timeline import MAX_COMPARE_S

MAX_CONDITIONS_CHARS = 2_000


def _within(least: float, most: float) -> dict[str, Any]:
    """Bounds for the document. The check, with a sentence of ours, stands where the value is parsed."""
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
        description=f"Whole seconds; default: about 720 points. An answer has at most {MAX_POINTS}.",
        schema_extra=_within(1, MAX_STEP_S),
    ),
]
_A_LANE = f"\\s*({'|'.join(LANES)})?\\s*"
Lanes = Annotated[
    str | None,
    QueryParameter(
        name="lanes",
        description=f"Comma-separated, of {', '.join(LANES)}. Default: {', '.join(DEFAULT_LANES)}.",
        schema_extra={"pattern": f"^{_A_LANE}(,{_A_LANE})*$"},
    ),
]
Job = Annotated[str | None, QueryParameter(name="job", description="Job name; default the reader with most runs.")]
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
        description="Also answer the period this many seconds earlier.",
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
RefName = Annotated[
    str | None,
    QueryParameter(
        name="ref",
        description="Branch or tag: the lane of commits tells in `off_ref` which of them it does not lead to.",
    ),
]
WithDetail = Annotated[
    bool,
    QueryParameter(name="detail", description="Also answer what the route of the table answers: one request less."),
]
_CURSOR = (
    "`next_cursor` of the page before. Enough alone: it carries the other parameters, `from` and `to` as they were "
    "resolved; one that is sent and says something else is refused."
)
Cursor = Annotated[str | None, QueryParameter(name="cursor", description=_CURSOR)]
Limit = Annotated[int, QueryParameter(name="limit", description="Rows of a page.", schema_extra=_within(1, MAX_LIMIT))]
Text = Annotated[str, QueryParameter(name="q", description="Part of the name, case-insensitive.")]
NamespaceFilter = Annotated[str, QueryParameter(name="ns", description="`catalog.namespace` or a namespace.")]
Sort = Annotated[FleetSort, QueryParameter(name="sort", description="`attention`: rank of reason, then magnitude.")]
Dir = Annotated[Direction, QueryParameter(name="dir", description="Unknown values are last either way.")]
SnapshotId = Annotated[
    str, PathParameter(description="Snapshot id as text, all digits.", schema_extra={"pattern": "^-?[0-9]{1,19}$"})
]
Grew = Annotated[
    float | None,
    QueryParameter(
        name="grew",
        description="Only tables whose data files grew by more than this share (0.2: 20 %) within `within` seconds.",
        schema_extra=_within(0, MAX_GREW),
    ),
]
Within = Annotated[
    int | None,
    QueryParameter(
        name="within",
        description=f"Seconds for `grew`; default {DEFAULT_WITHIN_S}.",
        schema_extra=_within(1, MAX_WITHIN_S),
    ),
]
Operation = Annotated[
    str | None, QueryParameter(name="operation", description="`append`, `overwrite`, `delete` or `replace`.")
]
MinAdded = Annotated[
    int | None, QueryParameter(name="min_added_data_files", description="Only commits that added at least this many.")
]
SchemaChanged = Annotated[
    bool | None,
    QueryParameter(name="schema_changed", description="Only commits whose schema differs from the one before."),
]

At = Annotated[
    Millis | None, QueryParameter(name="at", description="Instant, epoch ms; default `to`.", schema_extra=_INSTANT)
]
CompareAt = Annotated[
    int | None,
    QueryParameter(
        name="cmp",
        description="Also answer the instant this many seconds before `at`.",
        schema_extra=_within(1, MAX_COMPARE_S),
    ),
]
CONDITION = "[^=/]+=[^/]*"
Partition = Annotated[
    str | None,
    QueryParameter(
        name="partition",
        description="Only partitions with these values: `day=2026-11-20`, several joined with `/`; a value that ends "
        "in `*` is a beginning.",
        schema_extra={"pattern": f"^{CONDITION}(/{CONDITION})*$", "maxLength": MAX_CONDITIONS_CHARS},
    ),
]
PartitionSorted = Annotated[
    PartitionSort, QueryParameter(name="sort", description="Deltas by their size, whichever way they went.")
]
Partitions = Annotated[int, QueryParameter(name="limit", description="Rows.", schema_extra=_within(1, MAX_PARTITIONS))]
