"""A timeline as the API returns it: lanes that share one time axis. Values as on the wire (epoch ms, ids as text)."""

from __future__ import annotations

from typing import Literal

import msgspec

from limnograph.domain.answers.tables import TableDetail
from limnograph.domain.time import Millis

LaneStatus = Literal["ok", "partial", "stale", "error", "absent"]
Source = Literal["meta", "prometheus", "alertmanager", "runs"]


class LaneProblem(msgspec.Struct, frozen=True, kw_only=True):
    """Why a lane is not ok: `type` as in problem details, `detail` for users."""

    type: str
    title: str
    detail: str


class LaneQuery(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The upstream query, as text to copy. `prometheus`: address, for browsers, of the server that was queried."""

    promql: str | None = None
    sql: str | None = None
    prometheus: str | None = None


class _Lane(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind"):
    id: str
    source: Source
    unit: str
    status: LaneStatus
    label: str | None = None
    age_s: float | None = None
    resolution: str | None = None
    problem: LaneProblem | None = None
    query: LaneQuery | None = None


class StepLane(_Lane, frozen=True, kw_only=True, tag="step"):
    """A state between commits: `v[i]` is the value at `t[i]`, null if unknown. `unread`: spans in which it is unknown
    because the pipeline read only the manifest lists of the commits; it reads their manifests when it is idle, newest
    first.
    """

    v: list[float | None]
    min: list[float | None] | None = None
    max: list[float | None] | None = None
    unread: list[tuple[Millis, Millis]] = []


class LineLane(_Lane, frozen=True, kw_only=True, tag="line"):
    """A sampled value: null breaks the line. `target` is a rule line: the table's objective for freshness
    (`objective`), otherwise the age at which it counts as stale.
    """

    v: list[float | None]
    min: list[float | None] | None = None
    max: list[float | None] | None = None
    target: float | None = None
    objective: bool = False


class BandLane(_Lane, frozen=True, kw_only=True, tag="band"):
    """A middle line in a band: duration min/last/max per step, or file sizes p10/p50/p90.

    `target` is a rule line (target file size); null when there is none. `median`: the median run of a job, by the
    settings' query or from the runs around each instant; null if there is none. `unread`: as in a step lane.
    """

    lo: list[float | None]
    mid: list[float | None]
    hi: list[float | None]
    target: float | None = None
    median: list[float | None] | None = None
    unread: list[tuple[Millis, Millis]] = []


class CommitEvent(msgspec.Struct, frozen=True, kw_only=True):
    """One commit mark. `on_main`: ancestor of main's head now. `provisional`: seen by the watcher, not yet durable.

    `commits`: the number of commits it represents; with more than one the numbers are sums, and `snapshot_id` is one of
    them (empty if none is known). `expired`: snapshot expiry removed it from the table's metadata; null if unknown.
    """

    snapshot_id: str
    t: Millis
    operation: str | None
    added_data_files: int | None
    removed_data_files: int | None
    added_delete_files: int | None
    added_bytes: int | None
    on_main: bool
    app_id: str | None
    engine: str | None
    status: str
    provisional: bool = False
    commits: int = 1
    expired: bool | None = None


class RefFlag(msgspec.Struct, frozen=True, kw_only=True):
    """A ref that was created, removed (`snapshot_id` null) or set to an older commit."""

    t: Millis
    ref: str
    type: Literal["branch", "tag"]
    snapshot_id: str | None


class EventsLane(_Lane, frozen=True, kw_only=True, tag="events"):
    """Commits in time order. `off_ref`: ids of the commits that are not ancestors of the requested ref; null if none
    was requested or it is unknown.
    """

    events: list[CommitEvent]
    flags: list[RefFlag] = []
    off_ref: list[str] | None = None


class Bar(msgspec.Struct, frozen=True, kw_only=True):
    """A span of a state: a schema version, a job run, an alert. `end` null = ongoing. `start` null: only the end of a
    job run was reported. `state` selects the style. `severity`: label of an alert; null if it has none.
    """

    start: Millis | None
    end: Millis | None
    label: str
    state: str = "ok"
    detail: str | None = None
    severity: str | None = None

    @property
    def begins(self) -> Millis:
        """Its start, else its end."""
        return self.start if self.start is not None else self.end or Millis(0)


class BarsLane(_Lane, frozen=True, kw_only=True, tag="bars"):
    """Spans in time order."""

    bars: list[Bar]


Lane = StepLane | LineLane | BandLane | EventsLane | BarsLane


class Range(msgspec.Struct, frozen=True):
    """Epoch ms; `from` on the wire. `step` in seconds."""

    start: Millis = msgspec.field(name="from")
    end: Millis = msgspec.field(name="to")
    step: int


class ComparedPeriod(msgspec.Struct, frozen=True, kw_only=True):
    """The same lanes for the period `seconds` earlier (a multiple of the step): their value `i` belongs to `t[i]` minus
    `seconds`; events and bars carry their own instants. With `table` (`catalog.namespace.table`), the lanes of that
    table for the same period, and `seconds` is 0.
    """

    seconds: int
    lanes: list[Lane]
    table: str | None = None


class Timeline(msgspec.Struct, frozen=True, kw_only=True):
    """`t[i]` = from + i * step. `watermark`: metadata is known up to this instant; null before the first pass. `cmp`:
    the earlier period, if requested. `detail`: the table now, if requested; also null if it is unavailable, in which
    case the table's own route returns the reason.
    """

    range: Range
    watermark: Millis | None
    t: list[Millis]
    lanes: list[Lane]
    cmp: ComparedPeriod | None = None
    detail: TableDetail | None = None

    @property
    def failed(self) -> bool:
        """Whether a source failed to provide the data of a lane. A lane that is only stale shows everything known, with
        its age.
        """
        lanes = [*self.lanes, *(self.cmp.lanes if self.cmp else ())]
        return any(lane.status == "error" or (lane.problem and lane.status != "stale") for lane in lanes)
