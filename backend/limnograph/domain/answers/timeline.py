"""The answer of a timeline: lanes that share one time axis. Values as they cross the wire (epoch ms, ids as text)."""

from __future__ import annotations

from typing import Literal

import msgspec

from limnograph.domain.answers.tables import TableDetail
from limnograph.domain.time import Millis

LaneStatus = Literal["ok", "partial", "stale", "error", "absent"]
Source = Literal["meta", "prometheus", "alertmanager", "runs"]


class LaneProblem(msgspec.Struct, frozen=True, kw_only=True):
    """Why a lane is not ok: `type` as in problem details, `detail` for a person."""

    type: str
    title: str
    detail: str


class LaneQuery(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was asked upstream, as text to copy. `prometheus`: where browsers find the server that was asked."""

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
    """A state that holds between commits: `v[i]` is the value at `t[i]`, null where not known."""

    v: list[float | None]
    min: list[float | None] | None = None
    max: list[float | None] | None = None


class LineLane(_Lane, frozen=True, kw_only=True, tag="line"):
    """A sampled value: null breaks the line. `target` is a rule line: the age that the settings promise of the table
    (`objective`), else the one from which on it counts as stale.
    """

    v: list[float | None]
    min: list[float | None] | None = None
    max: list[float | None] | None = None
    target: float | None = None
    objective: bool = False


class BandLane(_Lane, frozen=True, kw_only=True, tag="band"):
    """A middle line in a band: duration min/last/max per step, or file sizes p10/p50/p90.

    `target` is a rule line (target file size); null when there is none. `median`: the median run of a job, by the
    settings' query or by the newest runs that are known; null when none is.
    """

    lo: list[float | None]
    mid: list[float | None]
    hi: list[float | None]
    target: float | None = None
    median: list[float | None] | None = None


class CommitEvent(msgspec.Struct, frozen=True, kw_only=True):
    """One commit mark. `on_main`: ancestor of main's head now. `provisional`: seen by the watcher, not yet durable.

    `commits`: how many it stands for; with more than one the numbers are sums, and `snapshot_id` is one of them (empty
    where none is known). `expired`: the table's own expiry took it out of its metadata; null where that is not known.
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
    """A ref that was made, removed (`snapshot_id` null) or set to an older commit."""

    t: Millis
    ref: str
    type: Literal["branch", "tag"]
    snapshot_id: str | None


class EventsLane(_Lane, frozen=True, kw_only=True, tag="events"):
    """Commits in time order. `off_ref`: ids of those that the asked ref does not lead to; null where none was asked for
    or it is not known.
    """

    events: list[CommitEvent]
    flags: list[RefFlag] = []
    off_ref: list[str] | None = None


class Bar(msgspec.Struct, frozen=True, kw_only=True):
    """A span of a state: a schema version, a job run, an alert. `end` null = still so. `start` null: only the end of a
    job run was reported. `state` picks the drawing.
    """

    start: Millis | None
    end: Millis | None
    label: str
    state: str = "ok"
    detail: str | None = None

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
    """The same lanes of the period `seconds` earlier (a multiple of the step): their value `i` is of `t[i]` minus
    `seconds`; events and bars carry their own instants.
    """

    seconds: int
    lanes: list[Lane]


class Timeline(msgspec.Struct, frozen=True, kw_only=True):
    """`t[i]` = from + i * step. `watermark`: metadata is known up to there; null when no pass has run yet. `cmp`: the
    period before, when it was asked for. `detail`: the table now, when it was asked for; null also when it could not be
    told, which the route of the table alone explains.
    """

    range: Range
    watermark: Millis | None
    t: list[Millis]
    lanes: list[Lane]
    cmp: ComparedPeriod | None = None
    detail: TableDetail | None = None

    @property
    def failed(self) -> bool:
        """Whether a source did not give what a lane was to show. A lane that is only stale shows all that is known, and
        says how old it is.
        """
        lanes = [*self.lanes, *(self.cmp.lanes if self.cmp else ())]
        return any(lane.status == "error" or (lane.problem and lane.status != "stale") for lane in lanes)
