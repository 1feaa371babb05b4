"""The effect of a maintenance operation on a job, as measured: rows of the meta table `effects`. The server measures
them and stores them in the inbox; the pipeline appends them.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from limnograph.domain.facts.columns import DOUBLE, LONG, STRING, TIMESTAMPTZ, Col, ListOf
from limnograph.domain.time import Micros

MARKS = (8, 16, 48)
"""Numbers of runs after an operation at which its effect is measured: values of `EffectFact.runs_after`."""


class EffectFact(msgspec.Struct, frozen=True, kw_only=True):
    """One measurement; key `(table_uuid, operation_id, job_name, measure, runs_after)`."""

    table_uuid: Annotated[str, Col(1, STRING, "identity of the table's history", True)]
    operation_id: Annotated[
        str,
        Col(
            2, STRING, "snapshot id of a `replace`; `expired:` and the first metadata file without the snapshots", True
        ),
    ]
    job_name: Annotated[str, Col(3, STRING, "job that was measured; empty: all scans of the table", True)]
    measure: Annotated[
        str,
        Col(4, STRING, "`duration` of runs, `planning` time of scans, or data `files` that scans opened", True),
    ]
    runs_after: Annotated[
        int, Col(5, LONG, "runs (or scans) after the operation that the measurement uses: 8, 16 or 48", True)
    ]
    catalog: Annotated[str | None, Col(6, STRING, "catalog of the table when it was measured")] = None
    namespace: Annotated[str | None, Col(7, STRING, "namespace levels joined with `.`")] = None
    table: Annotated[str | None, Col(8, STRING, "table name")] = None
    action: Annotated[
        str | None,
        Col(
            9,
            STRING,
            "`rewrite_data_files`, `rewrite_position_delete_files`, `rewrite_manifests` or `expire_snapshots`, as far "
            "as the commit shows it",
        ),
    ] = None
    writer: Annotated[str | None, Col(10, STRING, "application that committed the operation")] = None
    started_at: Annotated[
        Micros | None, Col(11, TIMESTAMPTZ, "earliest possible start of the operation, as far as known")
    ] = None
    committed_at: Annotated[Micros | None, Col(12, TIMESTAMPTZ, "when the operation was committed")] = None
    verdict: Annotated[
        str | None,
        Col(13, STRING, "`helped`, `worse`, `none`, `unknown`, `confounded` or `not_separable`; see effects.md"),
    ] = None
    because: Annotated[str | None, Col(14, STRING, "reason for the verdict")] = None
    ratio: Annotated[float | None, Col(15, DOUBLE, "value after / value without the operation, at equal work")] = None
    ratio_low: Annotated[float | None, Col(16, DOUBLE, "lower bound of `ratio`, at 95 %; null: unbounded")] = None
    ratio_high: Annotated[float | None, Col(17, DOUBLE, "upper bound of `ratio`")] = None
    change: Annotated[
        float | None, Col(18, DOUBLE, "(`ratio` - 1) x the typical value before: seconds, or files for `files`")
    ] = None
    change_low: Annotated[float | None, Col(19, DOUBLE, "lower bound of `change`")] = None
    change_high: Annotated[float | None, Col(20, DOUBLE, "upper bound of `change`")] = None
    runs_before: Annotated[int | None, Col(21, LONG, "runs before the operation")] = None
    more_runs: Annotated[
        int | None, Col(22, LONG, "further runs after which a verdict is more likely than not; null: unknown, or none")
    ] = None
    controls: Annotated[int | None, Col(23, LONG, "jobs that read none of the table's data and were compared")] = None
    others: Annotated[
        list[str] | None,
        Col(
            24, ListOf(25, STRING), "snapshot ids of other commits that can change durations, within the compared runs"
        ),
    ] = None
    placebo_cuts: Annotated[
        int | None, Col(26, LONG, "cuts before the operation, where nothing was done, at which bounds were calculated")
    ] = None
    placebo_covered: Annotated[int | None, Col(27, LONG, "those of them whose bounds contained no change")] = None
    measured_at: Annotated[Micros | None, Col(28, TIMESTAMPTZ, "when it was measured")] = None
