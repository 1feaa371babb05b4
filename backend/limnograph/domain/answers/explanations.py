"""A case for Explain (a job's runs, other jobs, load, commits) and its answer, as JSON lines.

Times are epoch milliseconds. Any number may be null: unknown. The format is a contract (docs/explain.md).
"""

from __future__ import annotations

from typing import Literal

import msgspec

from limnograph.domain.answers.commits import CommitRow
from limnograph.domain.answers.findings import Finding
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
    """The load of the job, in any unit, above 0."""

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
    """Only changes that begin between `from` and `to` are explained."""

    start: float | None = None
    end: float | None = None


class Case(msgspec.Struct):
    """One case. Commits are those of all tables the job reads."""

    id: str
    job: RunSeries
    controls: list[RunSeries] | None = None
    load: LoadSeries | None = None
    commits: list[CaseCommit] | None = None
    selection: Selection | None = None


class Evidence(msgspec.Struct):
    """One piece of evidence for or against a hypothesis. `value` and `typical` are in the unit in the name."""

    part: str
    speaks: Literal["for", "against"]
    text: str
    value: float | None = None
    typical: float | None = None


class LevelChange(msgspec.Struct):
    """A change in the level of a job's duration. `onset` is the first affected run; `effect_ratio` is the level after
    divided by the level before.

    `probability`: that the change is real. `onset_from` to `onset_to`: 90 % credible interval of the onset. `runs`: its
    length in runs, until a later change reverts it or to the last known run.
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
    """Past commits of the same table, operation and writer; how many were followed by a change of the job, and how many
    users confirmed or rejected.
    """

    commits: int
    followed: int
    confirmed: int = 0
    rejected: int = 0


class Hypothesis(msgspec.Struct, omit_defaults=True):
    """One explanation of the change at index `change` of the answer; posteriors of a change add up to 1.

    `unlabelled`: the posterior without users' labels on the suspects of this change; absent if there are none.
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
    """The answer. `hypotheses` in rank order over the whole case; `blamed` are the ones worth naming."""

    id: str
    changes: list[LevelChange]
    hypotheses: list[Hypothesis]
    blamed: list[str]
    verdict: str
    confidence: Confidence


class Label(msgspec.Struct):
    """A user's label on a commit as the explanation of a job's change. Instants epoch ms."""

    kind: LabelKind
    snapshot_id: str
    t: Millis
    job_name: str | None = None
    author: str | None = None
    comment: str | None = None


class Level(msgspec.Struct, kw_only=True):
    """Runs of the job in a window: successful runs that began in it, and their median, null if there are none."""

    start: Millis = msgspec.field(name="from")
    end: Millis = msgspec.field(name="to")
    runs: int
    median_seconds: float | None


class Baseline(Level, kw_only=True):
    """What a range is compared with: `before` is four times as long and ends where the range begins; `yesterday` and
    `week` are the same time one day or one week earlier, or, for a longer range, the last such time before it.
    """

    kind: BaselineKind


class Difference(msgspec.Struct, kw_only=True):
    """How commits of the range differ: one of their numbers compared with that of the baseline's commits.

    `value`: the table or the writer (operation and application) that a share is of. `unit`: `share` is 0 to 1.
    `weight`: 0 identical, 1 nothing in common. Null: no commit has the number.
    """

    part: DifferencePart
    value: str | None
    unit: Literal["share", "bytes", "files", "rows", "partitions", "per_hour"]
    selected: float | None
    baseline: float | None
    weight: float


class CompetingChange(msgspec.Struct, kw_only=True):
    """What else changed at the same time: other jobs, the load of the job, or the resources it used (`cpu` ...).

    `ratio`: level after divided by level before, the median of `series` jobs; `moved` of them changed in that direction
    by 10 % or more. For resources, `before` and `after` are levels in `unit`, and `at` is when the level changed in
    either direction; null: it did not. With 0 `series` there is no data: `problem` is the reason, null: there is no
    source for it.
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
    """Bounds at 95 % of the size of a change in seconds, measured as an effect (docs/effects.md), and what else changed
    then. `unbounded_because`: why a bound is null; null if both are known.
    """

    runs_before: int
    runs_after: int
    low_seconds: float | None
    high_seconds: float | None
    unbounded_because: str | None
    competing: list[CompetingChange]


class Pending(msgspec.Struct, kw_only=True):
    """What cannot be explained before another run ends. `last_run`: start of the latest successful run, null: none is
    known since `since` of the answer. `running_since`: start of a later run that has not ended, null: none is known.
    `commits`: of the range, after `last_run`; `commit_id` and `committed_at`: the commit that a run is awaited for,
    null: the range has no run.
    """

    last_run: Millis | None
    running_since: Millis | None
    commits: int
    commit_id: str | None
    committed_at: Millis | None


class ExplainPage(msgspec.Struct, kw_only=True):
    """The answer for one job of a table in a range. Instants epoch ms.

    `baseline`: what the range is compared with. `since`: runs from this instant onward were examined for changes.
    `runs` and `controls`: the number of runs of the job, and of other jobs, that were compared; `tables`: those that
    the job reads. `around`: one for each change of the explanation. `differences`: largest first. `watermark`: commits
    are known up to this instant. `pending`: what cannot be explained before another run ends, null: nothing. `queries`:
    the queries for runs and commits, as text to copy. `finding`: what the findings say of the job in the range, in its
    state of now; null: none is about it. `sure_from`: the least posterior of a commit for each word of
    confidence; commits are named at `possible` or above.
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
    finding: Finding | None
    queries: LaneQuery
    sure_from: dict[str, float]
