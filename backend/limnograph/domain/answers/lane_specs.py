"""Every lane of the timeline, declared once: its id, drawing, unit, source, place and whether it is shown by default.

To add a lane: a row here; its drawing, unless it is a column of `snapshots`; its style in the dashboard. What the
server accepts, the API's documents and the dashboard's ids derive from this table, the rest is checked against it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple, TypedDict

from limnograph.domain.answers.timeline import (
    BandLane,
    BarsLane,
    EventsLane,
    Lane,
    LaneProblem,
    LaneStatus,
    LineLane,
    Source,
    StepLane,
)

LaneKind = Literal["step", "line", "band", "events", "bars"]


class LaneSpec(NamedTuple):
    """What is the same in every answer of a lane."""

    id: str
    kind: LaneKind
    unit: str
    source: Source
    """Where it usually comes from: runs of a job may also have been pushed."""
    shown: bool = False
    """Whether an answer has it when no lanes are chosen."""
    column: str = ""
    """The column of `snapshots` that the lane is, along main; empty: it has a drawing of its own."""
    optional: bool = False
    """Computed for some tables only: without any value the lane is absent."""


LANE_SPECS = (
    LaneSpec("alerts", "bars", "alerts", "alertmanager", shown=True),
    LaneSpec("job_duration", "band", "seconds", "prometheus", shown=True),
    LaneSpec("job_runs", "bars", "runs", "prometheus", shown=True),
    LaneSpec("maintenance", "bars", "actions", "meta", shown=True),
    LaneSpec("commits", "events", "files", "meta", shown=True),
    LaneSpec("schema", "bars", "versions", "meta", shown=True),
    LaneSpec("data_files", "step", "files", "meta", shown=True, column="total_data_files"),
    LaneSpec("file_size", "band", "bytes", "meta", shown=True),
    LaneSpec("delete_files", "step", "files", "meta", shown=True, column="total_delete_files"),
    LaneSpec("freshness", "line", "seconds", "meta", shown=True),
    LaneSpec("bytes", "step", "bytes", "meta", column="total_bytes"),
    LaneSpec("records", "step", "rows", "meta", column="total_records"),
    LaneSpec("manifests", "step", "manifests", "meta", column="manifests"),
    LaneSpec("skew", "step", "ratio", "meta", column="skew_max_over_median", optional=True),
    LaneSpec("debt", "step", "files", "meta", column="debt_files", optional=True),
    LaneSpec("overlap", "step", "files", "meta", column="overlap_depth_max", optional=True),
    LaneSpec("planning", "line", "seconds", "meta"),
    LaneSpec("query_p95", "line", "seconds", "meta"),
    LaneSpec("skipped_share", "line", "share", "meta"),
    LaneSpec("read_amplification", "line", "ratio", "meta"),
    LaneSpec("attempts", "line", "attempts", "meta"),
    LaneSpec("stream_lag", "line", "seconds", "prometheus"),
    LaneSpec("slot_lag", "line", "bytes", "prometheus"),
    LaneSpec("cpu", "line", "cores", "prometheus"),
    LaneSpec("spill", "line", "bytes", "prometheus"),
    LaneSpec("executors", "line", "executors", "prometheus"),
    LaneSpec("job_memory", "line", "bytes", "prometheus"),
)
"""In order of display: effect, change, state."""

LANES = tuple(spec.id for spec in LANE_SPECS)
DEFAULT_LANES = tuple(spec.id for spec in LANE_SPECS if spec.shown)
SPEC_OF: Mapping[str, LaneSpec] = {spec.id: spec for spec in LANE_SPECS}


class LaneHead(TypedDict):
    """What an answer takes from the spec."""

    id: str
    source: Source
    unit: str


def head_of(lane: str) -> LaneHead:
    """The first fields of a lane's answer."""
    spec = SPEC_OF[lane]
    return {"id": spec.id, "source": spec.source, "unit": spec.unit}


def empty_lane(lane: str, points: int, status: LaneStatus, problem: LaneProblem | None = None) -> Lane:
    """A lane without any value: its source failed, or knows nothing."""
    head, nothing = head_of(lane), [None] * points
    match SPEC_OF[lane].kind:
        case "events":
            return EventsLane(**head, status=status, problem=problem, events=[])
        case "bars":
            return BarsLane(**head, status=status, problem=problem, bars=[])
        case "band":
            return BandLane(**head, status=status, problem=problem, lo=[*nothing], mid=[*nothing], hi=[*nothing])
        case "line":
            return LineLane(**head, status=status, problem=problem, v=[*nothing])
        case "step":
            return StepLane(**head, status=status, problem=problem, v=[*nothing])
