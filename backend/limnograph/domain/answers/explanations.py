"""A question to explain (a job's runs, other jobs, load, commits) and its answer, as JSON lines carry them.

Times are epoch milliseconds. Any number may be null: it is not known. The format is a contract (docs/explain.md).
"""

from __future__ import annotations

from typing import Literal

import msgspec

from limnograph.domain.answers.commits import CommitRow
from limnograph.domain.answers.timeline import LaneQuery
from limnograph.domain.time import Millis

Confidence = Literal["strong", "possible", "weak", "none"]
ChangeKind = Literal["step", "ramp", "pulse", "drop"]
Grade = Literal["exact", "declared", "temporal"]
"""What links a commit to the job: which run read it first is known; the job is known to read the table; time alone."""
LabelKind = Literal["confirmed", "rejected", "expected", "withdrawn"]
"""`withdrawn` takes back the word before it."""
BaselineKind = Literal["before", "yesterday", "week", "custom"]
DifferencePart = Literal["file_size", "files", "delete_files", "records", "partitions", "commits", "table", "writer"]
HypothesisKind = Literal["commit", "none", "infrastructure", "load"]


class RunSeries(msgspec.Struct, gc=False):
    """Runs of a job in any order: `times` is when each started, `duration_seconds` how long it took."""

    id: str | None = None
    times: list[float | None] = []
    duration_seconds: list[float | None] = []


class LoadSeries(msgspec.Struct, gc=False):
    """How much the job had to do, in any unit above 0."""

    times: list[float | None] = []
    values: list[float | None] = []


class CaseCommit(msgspec.Struct, gc=False):
    """A commit of a table that the job reads. `first_read_at`: start of the first run known to have read it."""

    id: str
    table: str | None = None
    committed_at: float | None = None
    operation: str | None = None
    app_id: str | None = None
    added_data_files: float | None = None
    added_bytes: float | None = None
    removed_data_files: float | None = None
    added_delete_files: float | None = None
    added_records: float | None = None
    manifests: float | None = None
    changed_partitions: float | None = None
    schema_changed: bool | None = None
    spec_changed: bool | None = None
    first_read_at: float | None = None


class Selection(msgspec.Struct, rename={"start": "from", "end": "to"}):
    """Only changes that set in between `from` and `to` are asked about."""

    start: float | None = None
    end: float | None = None


class Case(msgspec.Struct):
    """One question. Commits are those of all tables the job reads."""

    id: str
    job: RunSeries
    controls: list[RunSeries] | None = None
    load: LoadSeries | None = None
    commits: list[CaseCommit] | None = None
    selection: Selection | None = None


class Evidence(msgspec.Struct):
    """One thing that speaks for or against a hypothesis. `value` and `typical` are in the unit that the name says."""

    part: str
    speaks: Literal["for", "against"]
    text: str
    value: float | None = None
    typical: float | None = None


class LevelChange(msgspec.Struct):
    """A change of the job's level. `onset` is the first run affected; `effect_ratio` level after over level before.

    `probability`: that it is one at all. `onset_from` and `onset_to` enclose the onset with 90 %. `runs`: how many it
    lasts, until a change takes it back or to the last known run.
    """

    onset: Millis
    kind: ChangeKind
    effect_ratio: float
    effect_seconds: float
    probability: float
    onset_from: Millis
    onset_to: Millis
    before_seconds: float
    after_seconds: float
    runs: int


class Similar(msgspec.Struct, omit_defaults=True):
    """Past commits of the same table, operation and writer, how many of them a change of the job followed, and of how
    many a person said that they did it or did not.
    """

    commits: int
    followed: int
    confirmed: int = 0
    rejected: int = 0


class Hypothesis(msgspec.Struct, omit_defaults=True):
    """One explanation of the change at index `change` of the answer; posteriors of a change add up to 1.

    `unlabelled`: the posterior before what a person said of this very change's suspects; absent where nobody did.
    """

    kind: HypothesisKind
    posterior: float
    change: int | None = None
    commit_id: str | None = None
    table: str | None = None
    lag_seconds: float | None = None
    scores: dict[str, float] | None = None
    evidence: list[Evidence] | None = None
    similar: Similar | None = None
    grade: Grade | None = None
    unlabelled: float | None = None


class Explanation(msgspec.Struct):
    """The answer. `hypotheses` in rank order over the whole case; `blamed` are those worth naming."""

    id: str
    changes: list[LevelChange]
    hypotheses: list[Hypothesis]
    blamed: list[str]
    verdict: str
    confidence: Confidence


class Label(msgspec.Struct):
    """What a person said about a commit as explanation of a job's change. Instants epoch ms."""

    kind: LabelKind
    snapshot_id: str
    t: Millis
    job_name: str | None = None
    author: str | None = None
    comment: str | None = None


class Level(msgspec.Struct, kw_only=True):
    """How the job did in a window: runs that ended well and began there; their median, None without one."""

    start: Millis = msgspec.field(name="from")
    end: Millis = msgspec.field(name="to")
    runs: int
    median_seconds: float | None


class Baseline(Level, kw_only=True):
    """What a range is compared with: `before` is four times as long and ends where the range begins; `yesterday` and
    `week` are the same time then, or the last such time before a range that is longer.
    """

    kind: BaselineKind


class Difference(msgspec.Struct, kw_only=True):
    """What is different about the commits of the range: one number of theirs beside that of the baseline's commits.

    `value`: the table or the writer (operation and application) that a share is of. `unit`: `share` is 0 to 1.
    `weight`: 0 alike, 1 nothing in common. None: no commit there tells.
    """

    part: DifferencePart
    value: str | None
    unit: Literal["share", "bytes", "files", "rows", "partitions", "per_hour"]
    selected: float | None
    baseline: float | None
    weight: float


class CompetingChange(msgspec.Struct, kw_only=True):
    """What else moved around a change: other jobs, how much the job had to do, or what it used (`cpu` ...).

    `ratio`: level after over before, of `series` jobs the median; `moved` of them moved that way by a tenth or more.
    Of what the job used, `before` and `after` are levels in `unit`, and `at` is when it moved, either way; None: it did
    not. With 0 `series` nothing is known of it: `problem` says why, None: nothing tells it.
    """

    kind: Literal["jobs", "load", "cpu", "spill", "executors"]
    series: int
    moved: int
    ratio: float | None
    before: float | None = None
    after: float | None = None
    unit: str | None = None
    at: Millis | None = None
    problem: str | None = None


class ChangeBounds(msgspec.Struct, kw_only=True):
    """How well the size of a change is known: 95 % of it, in seconds, None with fewer than eight runs on a side; and
    what else moved then.
    """

    runs_before: int
    runs_after: int
    low_seconds: float | None
    high_seconds: float | None
    competing: list[CompetingChange]


class Pending(msgspec.Struct, kw_only=True):
    """What no run tells yet. `last_run`: start of the newest run that ended well, null: none is known since `since` of
    the answer. `running_since`: start of a later run that has not ended, null: none is known. `commits`: of the range,
    after `last_run`; `commit_id` and `committed_at`: the one that is waited for, null: the range has no run at all.
    """

    last_run: Millis | None
    running_since: Millis | None
    commits: int
    commit_id: str | None
    committed_at: Millis | None


class ExplainPage(msgspec.Struct, kw_only=True):
    """The answer for one job of a table in a range. Instants epoch ms.

    `baseline`: what the range is compared with. `since`: runs from there on were looked at for changes.
    `runs` and `controls`: runs of the job, and other jobs, that were compared; `tables` those that the job reads.
    `around`: one for each change of the explanation. `differences`: most telling first. `watermark`: commits are known
    up to there. `pending`: what no run tells yet, null: runs tell. `queries`: what was asked for runs and commits, as
    text to copy. `sure_from`: from which posterior of a commit on each word of confidence is said; it is named from
    `possible` on.
    """

    job: str | None
    start: Millis = msgspec.field(name="from")
    end: Millis = msgspec.field(name="to")
    since: Millis
    selected: Level
    baseline: Baseline
    runs: int
    controls: int
    tables: list[str]
    explanation: Explanation
    suspects: list[CommitRow]
    around: list[ChangeBounds]
    differences: list[Difference]
    labels: list[Label]
    notes: list[str]
    watermark: Millis | None
    pending: Pending | None
    queries: LaneQuery
    sure_from: dict[str, float]
