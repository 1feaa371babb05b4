"""Commits as the API returns them: rows of a list, and one in detail. Wire structs, as `domain/answers/tables.py`."""

from __future__ import annotations

from typing import Literal

from limnograph.domain.answers.contention import AttemptsOfCommit
from limnograph.domain.answers.effects import Verdict
from limnograph.domain.answers.findings import Finding
from limnograph.domain.answers.view import View
from limnograph.domain.time import Millis


class CommitRow(View, frozen=True, kw_only=True):
    """A commit in a list. `user`: as its summary names it, else as a report of the commit does; null: neither does."""

    snapshot_id: str
    parent_id: str | None
    catalog: str
    namespace: str
    table: str
    t: Millis
    operation: str | None
    on_main: bool
    engine: str | None
    app_id: str | None
    app_name: str | None
    user: str | None
    added_data_files: int | None
    removed_data_files: int | None
    added_delete_files: int | None
    removed_delete_files: int | None
    added_records: int | None
    added_bytes: int | None
    total_data_files: int | None
    schema_changed: bool
    status: str
    provisional: bool


class CommitsPage(View, frozen=True, kw_only=True):
    """Commits, newest first."""

    rows: list[CommitRow]
    next_cursor: str | None
    watermark: Millis | None


class Diff(View, frozen=True, kw_only=True):
    """One number before (parent) and after the commit. `delta` is null if either side is unknown."""

    metric: str
    unit: Literal["files", "bytes", "rows", "manifests", "bytes_per_file"]
    before: float | None
    after: float | None
    delta: float | None


class PartitionChange(View, frozen=True, kw_only=True):
    """A partition that the commit touched."""

    partition: str
    data_files: int | None
    added_data_files: int | None
    removed_data_files: int | None
    bytes: int | None


class RunEffect(View, frozen=True, kw_only=True):
    """The effect of the commit on a job (docs/effects.md). `ratio`: duration after / without the commit at equal work,
    and `change_s` the same in seconds, both with bounds at 95 %; null: no estimate, or unbounded. `median_before_s`,
    `median_after_s`: durations of the nearest 30 runs on either side. `because`: the reason for the verdict.
    `more_runs`: further runs after which a verdict is more likely than not. `last_run`: start of the latest run, epoch
    ms.
    """

    job: str
    role: Literal["reads", "writes"]
    verdict: Verdict
    because: str
    runs_before: int
    runs_after: int
    median_before_s: float | None
    median_after_s: float | None
    ratio: float | None
    ratio_low: float | None
    ratio_high: float | None
    change_s: float | None
    change_low_s: float | None
    change_high_s: float | None
    more_runs: int | None
    controls: int
    last_run: Millis | None


class SizeShape(View, frozen=True, kw_only=True):
    """Live file sizes before and after the commit: counts per bin; `edges` bytes (bins = edges + 1)."""

    edges: list[int]
    before: list[int] | None
    after: list[int] | None


class ColumnOrigin(View, frozen=True, kw_only=True):
    """A column that a written column comes from. `transformation` as OpenLineage names it, `DIRECT/IDENTITY`; `masked`:
    whether the value is fully masked, null if not reported. `from_table`: its name in the event; `table`: the table
    that this is, `catalog.namespace.table`, null if the run does not name one.
    """

    column: str
    from_table: str
    table: str | None
    from_column: str
    transformation: str | None
    masked: bool | None


class WritingRun(View, frozen=True, kw_only=True):
    """The run that reported writing the commit. Times epoch ms; `started_at` is null if only its end is known.
    `ref`: branch that it wrote to; null: main. `read_bytes`: bytes that it read from all its inputs, as its engine
    counted them; null: unknown. `columns`: at most 500 of `columns_total`; empty: not reported.
    """

    run_id: str
    job: str | None
    status: str
    started_at: Millis | None
    ended_at: Millis | None
    parent_run_id: str | None
    ref: str | None
    read_bytes: int | None
    columns: list[ColumnOrigin]
    columns_total: int
    masked_columns: int


EpochOrder = Literal["next", "first", "gap", "repeated", "new_query", "not_judged"]


class EarlierEpoch(View, frozen=True, kw_only=True):
    """An earlier commit of a stream."""

    snapshot_id: str
    query_id: str
    number: int | None


class StreamEpoch(View, frozen=True, kw_only=True):
    """The stream that made the commit, as its summary names it: `query_id` and epoch `number` of a Spark query, job id
    and checkpoint of a Flink job. `order`, among at most 100 commits on main before it: `next` follows the last epoch
    of the query, `gap`: epochs `missing_first` to `missing_last` have no commit there, `repeated`: the number is not
    above the last one, `new_query`: it is epoch 0, and another query wrote before, perhaps the same stream with an
    older checkpoint, `first`: no earlier commit of the query is known, `not_judged`: a Flink job, whose numbers may
    skip, or earlier commits or the number are not known. `earlier`: the last commit of the query; `new_query`: of the
    other one.
    """

    engine: Literal["spark", "flink"]
    query_id: str
    number: int | None
    order: EpochOrder
    missing_first: int | None
    missing_last: int | None
    earlier: EarlierEpoch | None


class TouchedRows(View, frozen=True, kw_only=True):
    """The rows of the partitions that the commit wrote. `spark_sql`: a predicate for Spark, built from the partition
    specs and current column names; null if none can be built. `note`: the reason, or what the predicate omits; null: it
    is exact.
    """

    spark_sql: str | None
    note: str | None


class CommitDetail(View, frozen=True, kw_only=True, omit_defaults=True):
    """One commit: its effect on its parent's state, its writer, the partitions it touched, and the runs around it.
    `expired`: snapshot expiry removed it from the table's metadata, so that time travel to it is impossible; null if
    unknown. `written_by_run`: absent if no run reported the commit; `written_by_job` may still be known. `findings`:
    those that the commit caused or ended. `attempts`: absent if no report is about it. `stream`: absent if the summary
    names none.
    """

    commit: CommitRow
    parent: CommitRow | None
    diff: list[Diff]
    partitions: list[PartitionChange]
    partitions_changed: int | None
    shape: SizeShape
    target_file_bytes: int | None
    refs: list[str]
    schema_id: int | None
    summary: dict[str, str]
    summary_mismatch: list[str]
    problems: list[str]
    manifest_list: str | None
    metadata_location: str | None
    writer_user: str | None
    writer_engine_version: str | None
    written_by_job: str | None
    effects: list[RunEffect]
    previous_id: str | None
    next_id: str | None
    expired: bool | None
    touched: TouchedRows
    findings: list[Finding]
    written_by_run: WritingRun | None = None
    attempts: AttemptsOfCommit | None = None
    stream: StreamEpoch | None = None
